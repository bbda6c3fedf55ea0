//! What a learned guide says of expressions.

use crate::ir::{ExprId, Program};

/// A value function V_t(s): the reduction of cost by each of the next t rewrites, on average, on the best way that is known.
pub trait Value {
    /// Appends V_t(s) for t = 0..=[`horizon`](Self::horizon), row by row, for a batch of states.
    fn values(&mut self, program: &Program, states: &[ExprId], out: &mut Vec<f32>);

    /// The most steps that it knows of.
    fn horizon(&self) -> usize;
}
