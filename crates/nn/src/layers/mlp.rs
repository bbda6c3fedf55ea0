//! Multilayer perceptrons.

use crate::{Init, ParamId, Params, Tape, Var, math};
use rand::Rng;

/// What stands between two layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// Hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// The activation of a value.
    #[inline]
    pub fn value(self, x: f32) -> f32 {
        match self {
            Self::Relu => x.max(0.0),
            Self::Tanh => math::tanh(x),
        }
    }

    /// The derivative where the activation has the value `y`.
    #[inline]
    pub fn slope(self, y: f32) -> f32 {
        match self {
            Self::Relu => f32::from(u8::from(y > 0.0)),
            Self::Tanh => 1.0 - y * y,
        }
    }

    fn init(self) -> Init {
        match self {
            Self::Relu => Init::He,
            Self::Tanh => Init::Glorot,
        }
    }
}

/// Linear layers with an activation between them; none after the last.
#[derive(Clone, Debug)]
pub struct Mlp {
    /// (weights, bias) of each layer.
    layers: Vec<(ParamId, ParamId)>,
    activation: Activation,
}

impl Mlp {
    /// New parameters `NAME.0.weights`, `NAME.0.bias`, ... for layers of the given widths, the inputs first.
    pub fn new(params: &mut Params, name: &str, widths: &[usize], activation: Activation, rng: &mut impl Rng) -> Self {
        let last = widths.len().saturating_sub(2);
        let mut layers = vec![];
        for (layer, pair) in widths.windows(2).enumerate() {
            let init = if layer == last { Init::Glorot } else { activation.init() };
            let weights = params.add(&format!("{name}.{layer}.weights"), (pair[0], pair[1]), init, rng);
            let bias = params.add(&format!("{name}.{layer}.bias"), (1, pair[1]), Init::Zero, rng);
            layers.push((weights, bias));
        }
        Self { layers, activation }
    }

    /// Applies the layers to each row.
    pub fn forward(&self, tape: &mut Tape, x: Var) -> Var {
        self.forward_with(tape, x, |_, x| x)
    }

    /// As [`forward`](Self::forward), with `between` applied to the result of each layer but the last: dropout in training.
    pub fn forward_with<'a>(
        &self,
        tape: &mut Tape<'a>,
        mut x: Var,
        mut between: impl FnMut(&mut Tape<'a>, Var) -> Var,
    ) -> Var {
        for (layer, &(weights, bias)) in self.layers.iter().enumerate() {
            let (weights, bias) = (tape.param(weights), tape.param(bias));
            let is_inner = layer + 1 < self.layers.len();
            x = tape.affine(&[(x, weights)], &[bias], is_inner.then_some(self.activation));
            if is_inner {
                x = between(tape, x);
            }
        }
        x
    }

    /// Parameters of the last layer (weights, bias): a caller may start a head at zero.
    ///
    /// # Panics
    /// If there are no layers.
    pub fn last_layer(&self) -> (ParamId, ParamId) {
        self.layers[self.layers.len() - 1]
    }
}
