//! A recurrent network over sequences of nodes: the graph-as-sequence baseline of the paper.

use crate::{Init, ParamId, Params, Segments, Tape, Var};
use rand::Rng;

/// A long short-term memory with one layer.
#[derive(Clone, Debug)]
pub struct Lstm {
    input: ParamId,
    bias: ParamId,
    state: ParamId,
}

impl Lstm {
    /// New parameters under `NAME`.
    pub fn new(params: &mut Params, name: &str, inputs: usize, hidden: usize, rng: &mut impl Rng) -> Self {
        let input = params.add(&format!("{name}.input"), (inputs, 4 * hidden), Init::Glorot, rng);
        let bias = params.add(&format!("{name}.bias"), (1, 4 * hidden), Init::Zero, rng);
        let state = params.add(&format!("{name}.state"), (hidden, 4 * hidden), Init::Glorot, rng);
        // A forget gate that starts open remembers (Jozefowicz et al. 2015).
        params.get_mut(bias).data[hidden..2 * hidden].fill(1.0);
        Self { input, bias, state }
    }

    /// The state after each row, over the rows of each segment in order.
    pub fn forward<'a>(&self, tape: &mut Tape<'a>, x: Var, segments: &'a Segments) -> Var {
        let (input, bias, state) = (tape.param(self.input), tape.param(self.bias), tape.param(self.state));
        let gates = tape.linear(x, input, bias);
        tape.lstm(gates, state, segments)
    }
}
