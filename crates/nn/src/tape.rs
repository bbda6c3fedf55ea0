//! Reverse-mode differentiation: operations run as they are written down, and are walked back once for the gradients.
//!
//! Every operation is a function that computes a value and [records](Tape::record) a closure that hands the gradient of
//! its result on to its inputs; new ones can be written outside of this crate in the same way.

mod edges;
mod elementwise;
mod linear;
mod loss;
mod recurrent;
mod reduce;
mod shape;
mod typed_messages;

use crate::matrix::Matrix;
use crate::params::{Gradients, ParamId, Params};
use std::borrow::Cow;

/// A value on a [`Tape`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Var(u32);

impl Var {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Hands the gradient of a result on to the inputs it was computed from.
pub trait Backward {
    /// `value` is the result, `gradient` the derivative of the loss by it.
    fn backward(&self, value: &Matrix, gradient: &Matrix, flow: &mut Flow);
}

impl<F: Fn(&Matrix, &Matrix, &mut Flow)> Backward for F {
    fn backward(&self, value: &Matrix, gradient: &Matrix, flow: &mut Flow) {
        self(value, gradient, flow);
    }
}

/// Where a value came from.
enum Origin<'a> {
    /// No gradient passes.
    Constant,
    Param(ParamId),
    Operation(Box<dyn Backward + 'a>),
}

struct Node<'a> {
    value: Cow<'a, Matrix>,
    origin: Origin<'a>,
}

/// A computation over parameters, written down so that it can be walked back.
pub struct Tape<'a> {
    params: &'a Params,
    recording: bool,
    nodes: Vec<Node<'a>>,
    /// The value of each parameter that was asked for.
    leaves: Vec<Option<Var>>,
}

impl<'a> Tape<'a> {
    /// A tape that records, for training.
    pub fn new(params: &'a Params) -> Self {
        Self { params, recording: true, nodes: vec![], leaves: vec![None; params.len()] }
    }

    /// A tape that only computes: no gradients, and values can be [released](Self::release).
    pub fn inference(params: &'a Params) -> Self {
        Self { recording: false, ..Self::new(params) }
    }

    /// The value of a variable.
    pub fn value(&self, var: Var) -> &Matrix {
        &self.nodes[var.index()].value
    }

    /// Takes a value out; it must not be used on this tape any more.
    pub fn take(&mut self, var: Var) -> Matrix {
        std::mem::take(&mut self.nodes[var.index()].value).into_owned()
    }

    /// A parameter.
    pub fn param(&mut self, id: ParamId) -> Var {
        if let Some(var) = self.leaves[id.0 as usize] {
            return var;
        }
        let var = self.push(Cow::Borrowed(self.params.get(id)), Origin::Param(id));
        self.leaves[id.0 as usize] = Some(var);
        var
    }

    /// A value from outside that is lent; no gradient.
    pub fn input(&mut self, value: &'a Matrix) -> Var {
        self.push(Cow::Borrowed(value), Origin::Constant)
    }

    /// A value from outside; no gradient.
    pub fn constant(&mut self, value: Matrix) -> Var {
        self.push(Cow::Owned(value), Origin::Constant)
    }

    /// The result of an operation on `inputs`, with the way back. An input that no parameter leads to needs no gradient,
    /// and [`Flow::gradient`] says so.
    pub fn record(&mut self, value: Matrix, inputs: &[Var], operation: impl Backward + 'a) -> Var {
        let leads_back = |var: &Var| !matches!(self.nodes[var.index()].origin, Origin::Constant);
        let origin = match self.recording && inputs.iter().any(leads_back) {
            true => Origin::Operation(Box::new(operation)),
            false => Origin::Constant,
        };
        self.push(Cow::Owned(value), origin)
    }

    /// Frees a value that no later operation reads. On a tape that records, the value is kept, as its gradient may need it.
    pub fn release(&mut self, var: Var) {
        if !self.recording {
            self.nodes[var.index()].value = Cow::Owned(Matrix::default());
        }
    }

    fn push(&mut self, value: Cow<'a, Matrix>, origin: Origin<'a>) -> Var {
        self.nodes.push(Node { value, origin });
        Var(self.nodes.len() as u32 - 1)
    }

    /// The gradients of a scalar by all parameters; ends the tape.
    ///
    /// # Panics
    /// If the loss is not 1 x 1.
    pub fn backward(self, loss: Var) -> Gradients {
        assert_eq!(self.value(loss).shape(), (1, 1), "a loss is a scalar");
        self.backward_from(vec![(loss, Matrix::new(1, 1, vec![1.0]))])
    }

    /// The gradients of a loss that is known by its derivatives by some values; ends the tape.
    ///
    /// # Panics
    /// If a derivative has another shape than its value.
    pub fn backward_from(self, seeds: Vec<(Var, Matrix)>) -> Gradients {
        let mut flow = Flow { nodes: &self.nodes, gradients: vec![None; self.nodes.len()] };
        for (var, seed) in seeds {
            assert_eq!(self.value(var).shape(), seed.shape(), "a seed has the shape of its value");
            if let Some(gradient) = flow.gradient(var) {
                gradient.add(&seed);
            }
        }
        let mut gradients = Gradients::zeros(self.params);
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let Some(gradient) = flow.gradients[index].take() else { continue };
            match &node.origin {
                Origin::Operation(operation) => operation.backward(&node.value, &gradient, &mut flow),
                Origin::Param(id) => gradients.values[id.0 as usize] = gradient,
                Origin::Constant => {}
            }
        }
        gradients
    }
}

/// Gradients on their way back through a tape.
pub struct Flow<'t> {
    nodes: &'t [Node<'t>],
    gradients: Vec<Option<Matrix>>,
}

impl<'t> Flow<'t> {
    /// The value of a variable.
    pub fn value(&self, var: Var) -> &'t Matrix {
        &self.nodes[var.index()].value
    }

    /// The derivative of the loss by a variable as far as it is summed up, to add to; none if no parameter leads to it.
    pub fn gradient(&mut self, var: Var) -> Option<&mut Matrix> {
        let node = &self.nodes[var.index()];
        if matches!(node.origin, Origin::Constant) {
            return None;
        }
        Some(self.gradients[var.index()].get_or_insert_with(|| Matrix::zeros(node.value.rows, node.value.cols)))
    }

    /// Takes such a sum away, for an operation that writes several at once; [`put_back`](Self::put_back) must follow.
    pub fn take(&mut self, var: Var) -> Option<Matrix> {
        self.gradient(var).map(std::mem::take)
    }

    /// Puts back what [`take`](Self::take) gave.
    pub fn put_back(&mut self, var: Var, gradient: Option<Matrix>) {
        self.gradients[var.index()] = gradient;
    }
}
