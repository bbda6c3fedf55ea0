//! What each step costs, whatever the model that adds the steps up.

use crate::ir::Prim;

/// Costs of steps. Those of the table are pure numbers; measured ones are nanoseconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Weights {
    /// Binding a variable.
    pub bind: f64,
    /// Each field of a tuple that is made.
    pub field: f64,
    /// Choosing between two.
    pub branch: f64,
    /// The arm that is not the dearer one counts for this share, so that making it cheaper is not for nothing.
    pub other_arm: f64,
    /// Checking an assertion.
    pub assert: f64,
    /// Calling a function, beside what it does.
    pub call: f64,
    /// What an external function costs, if the program does not say.
    pub external: f64,
    /// Making a tensor, beside its elements.
    pub tensor: f64,
    /// Each element of a tensor that is stored.
    pub element: f64,
    /// Each time that a loop goes round.
    pub iteration: f64,
    /// How many times faster the terms of a sum in 4 and in 8 lanes go by, where a C++ compiler computes several at once.
    pub lanes: [f64; 2],
    /// Starting and ending a sum in lanes.
    pub gather: f64,
    /// Functions of scalars and simple questions, by [`Prim`].
    prims: Vec<f64>,
}

impl Weights {
    /// The cost table of the language.
    pub fn table() -> Self {
        let mut weights = Self {
            bind: 0.1,
            field: 0.1,
            branch: 1.0,
            other_arm: 0.0001,
            assert: 1.0,
            call: 2.0,
            external: 7.0,
            tensor: 2.0,
            element: 0.0,
            iteration: 0.0,
            lanes: [2.0, 5.0],
            gather: 40.0,
            prims: vec![0.0; Prim::ALL.len()],
        };
        for prim in Prim::ALL {
            weights.set(*prim, by_table(*prim));
        }
        weights
    }

    /// What a function of scalars costs, without its arguments.
    #[inline]
    pub fn prim(&self, prim: Prim) -> f64 {
        self.prims[prim as usize]
    }

    /// Says what a function of scalars costs.
    pub fn set(&mut self, prim: Prim, cost: f64) {
        self.prims[prim as usize] = cost;
    }

    /// The weights that have a name of their own, with those names: what a file of weights holds beside primitives.
    pub fn named(&mut self) -> [(&'static str, &mut f64); 13] {
        let [four, eight] = &mut self.lanes;
        [
            ("bind", &mut self.bind),
            ("field", &mut self.field),
            ("branch", &mut self.branch),
            ("other_arm", &mut self.other_arm),
            ("assert", &mut self.assert),
            ("call", &mut self.call),
            ("external", &mut self.external),
            ("tensor", &mut self.tensor),
            ("element", &mut self.element),
            ("iteration", &mut self.iteration),
            ("lanes_4", four),
            ("lanes_8", eight),
            ("gather", &mut self.gather),
        ]
    }
}

/// What steps of each kind cost, without what their inputs do.
impl Weights {
    /// A choice between arms of these costs.
    pub fn choice(&self, arms: &[f64]) -> f64 {
        let most = arms.iter().copied().fold(0.0, f64::max);
        let rest = arms.iter().sum::<f64>() - most;
        self.branch + most + self.other_arm * rest
    }

    /// A tensor of so many numbers.
    pub fn made(&self, out: f64) -> f64 {
        self.tensor + self.element * out
    }

    /// A loop.
    pub fn rounds(&self, rounds: f64, body: f64) -> f64 {
        rounds * (body + self.iteration)
    }

    /// The sum of so many values of `out` numbers each.
    pub fn sum(&self, terms: f64, out: f64) -> f64 {
        (terms - 1.0).max(0.0) * out * self.prim(Prim::Add)
    }

    /// A sum in lanes of so many numbers, whole rounds; `is_wide` says whether several are computed at once.
    pub fn sum_in_lanes(&self, lanes: usize, terms: f64, body: f64, is_wide: bool) -> f64 {
        let speed = if is_wide { self.lanes[usize::from(lanes > 4)].max(1.0) } else { 1.0 };
        self.gather + terms * (body + self.iteration + self.prim(Prim::Add)) / speed
    }

    /// An operation on each of so many numbers: so many times what it costs, and a tensor if it is one.
    pub fn elementwise(&self, prim: Prim, out: f64, is_tensor: bool) -> f64 {
        let each = match prim {
            Prim::TsScale => self.prim(Prim::Mul),
            Prim::Zero => self.element,
            _ => self.prim(Prim::Add),
        };
        out * each + if is_tensor { self.made(out) } else { 0.0 }
    }

    /// The inner product of so many pairs.
    pub fn dot(&self, pairs: f64) -> f64 {
        pairs * self.prim(Prim::Mul) + self.sum(pairs, 1.0)
    }
}

/// Beyond the table of the language, functions of one number cost what `exp` does, and negation what addition does.
fn by_table(prim: Prim) -> f64 {
    match prim {
        Prim::Mul | Prim::Div => 2.0,
        Prim::Exp | Prim::Log | Prim::Sin | Prim::Cos | Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Sqrt => 4.0,
        Prim::Pow | Prim::Erf | Prim::Lgamma | Prim::Polygamma => 4.0,
        Prim::Inline | Prim::Copydown | Prim::LmVariant => 0.0,
        _ => 1.0,
    }
}
