//! Gated recurrent units.

use crate::{Init, ParamId, Params, Tape, Var};
use rand::Rng;

/// A gated recurrent unit (Cho et al. 2014): each row of the state takes up its row of input.
#[derive(Clone, Debug)]
pub struct Gru {
    input: ParamId,
    bias: ParamId,
    state: ParamId,
}

impl Gru {
    /// New parameters under `NAME`.
    pub fn new(params: &mut Params, name: &str, inputs: usize, hidden: usize, rng: &mut impl Rng) -> Self {
        let input = params.add(&format!("{name}.input"), (inputs, 3 * hidden), Init::Glorot, rng);
        let bias = params.add(&format!("{name}.bias"), (1, 3 * hidden), Init::Zero, rng);
        let state = params.add(&format!("{name}.state"), (hidden, 3 * hidden), Init::Glorot, rng);
        Self { input, bias, state }
    }

    /// The state after one step.
    pub fn forward(&self, tape: &mut Tape, x: Var, h: Var) -> Var {
        let (input, bias, state) = (tape.param(self.input), tape.param(self.bias), tape.param(self.state));
        let from_input = tape.linear(x, input, bias);
        let from_state = tape.matmul(h, state);
        let next = tape.gru_cell(from_input, from_state, h);
        [from_input, from_state].into_iter().for_each(|var| tape.release(var));
        next
    }
}
