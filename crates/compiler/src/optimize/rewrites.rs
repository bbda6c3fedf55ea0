//! Expressions as a space to search: states are expressions up to the names of bound variables, steps are rewrites.

use super::value::Value;
use crate::cost::Cost;
use crate::ir::{ExprId, Program};
use crate::rewrite::{Action, Rewriter};
use labrys_search::Space;

/// The Markov decision process of a program's expressions.
pub struct Rewrites<'a> {
    /// Where the expressions are.
    pub program: &'a mut Program,
    /// Which rewrites there are.
    pub rewriter: &'a mut Rewriter,
    /// What is to be reduced.
    pub cost: &'a mut dyn Cost,
    /// What is learned about expressions.
    pub value: Option<&'a mut dyn Value>,
}

impl Space for Rewrites<'_> {
    type State = ExprId;
    type Step = Action;

    fn cost(&mut self, state: ExprId) -> f64 {
        self.cost.cost(self.program, state)
    }

    fn steps(&mut self, state: ExprId, out: &mut Vec<(Action, ExprId)>) {
        self.rewriter.actions(self.program, state, out);
    }

    fn values(&mut self, states: &[ExprId], horizon: u32, out: &mut Vec<f32>) {
        let Some(value) = &mut self.value else { return };
        let width = value.horizon() + 1;
        let mut rows = vec![];
        value.values(self.program, states, &mut rows);
        if rows.len() != states.len() * width {
            return;
        }
        for row in rows.chunks(width) {
            out.extend((0..=horizon as usize).map(|t| at(row, t)));
        }
    }
}

/// V_t of a row. Beyond the last step that the guide knows of nothing more is gained.
fn at(row: &[f32], t: usize) -> f32 {
    match row.get(t) {
        Some(value) => *value,
        None => row[row.len() - 1] * (row.len() - 1) as f32 / t as f32,
    }
}
