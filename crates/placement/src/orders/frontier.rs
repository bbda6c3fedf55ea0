//! Which ops are ready, and by how much memory grows if one of them runs next.

use super::view::View;
use labrys_dataflow::{OpId, TensorId};

/// The state of a list scheduler: it runs one op after the other, in any order that the graph allows.
#[derive(Clone)]
pub(crate) struct Frontier<'g> {
    view: View<'g>,
    missing: Vec<u32>,
    /// Change of memory if the op ran now; only ever falls.
    growth: Vec<i64>,
    ran: Vec<bool>,
    /// Forwards: consumers that have not run. Backwards: 0 once the tensor is held.
    waiting: Vec<u32>,
}

impl<'g> Frontier<'g> {
    /// Nothing has run.
    pub fn new(view: View<'g>) -> Self {
        let graph = view.graph;
        let n = graph.op_count();
        let users = |t| graph.consumers(t).len() as u32 + u32::from(graph.is_kept(t));
        let waiting = graph.tensors().map(users).collect();
        let mut frontier = Self { view, missing: view.missing(), growth: vec![0; n], ran: vec![false; n], waiting };
        for op in graph.ops() {
            frontier.growth[op.0 as usize] = frontier.initial_growth(op);
        }
        frontier
    }

    fn initial_growth(&self, op: OpId) -> i64 {
        let graph = self.view.graph;
        let sum = |tensors: &[TensorId], counts: &dyn Fn(TensorId) -> bool| -> i64 {
            tensors.iter().filter(|&&t| counts(t)).map(|&t| graph.bytes(t) as i64).sum()
        };
        let outlives = |t: TensorId| self.waiting[t.0 as usize] > 0;
        if self.view.backward {
            sum(graph.inputs(op), &|t| !graph.is_kept(t)) - sum(graph.outputs(op), &outlives)
        } else {
            sum(graph.outputs(op), &outlives) - sum(graph.inputs(op), &|t| self.waiting[t.0 as usize] == 1)
        }
    }

    /// By how many bytes memory grows if `op` runs next.
    pub fn growth(&self, op: OpId) -> i64 {
        self.growth[op.0 as usize]
    }

    /// Whether `op` has run.
    pub fn has_run(&self, op: OpId) -> bool {
        self.ran[op.0 as usize]
    }

    /// The ops that are ready before any has run, in topological order.
    pub fn first(&self) -> Vec<OpId> {
        let mut first = self.view.topological();
        first.retain(|&op| self.missing[op.0 as usize] == 0);
        first
    }

    /// Runs a ready op. Adds to `changed` every op that is ready now and was not, or whose growth fell.
    pub fn run(&mut self, op: OpId, changed: &mut Vec<OpId>) {
        self.ran[op.0 as usize] = true;
        let view = self.view;
        for &tensor in view.graph.inputs(op) {
            if self.frees(tensor) {
                self.lower_growth_of_users(tensor, changed);
            }
        }
        for &next in view.succs(op) {
            self.missing[next.0 as usize] -= 1;
            if self.missing[next.0 as usize] == 0 {
                changed.push(next);
            }
        }
    }

    /// One consumer of a tensor has run: whether it now costs the others less. Forwards, the last one but one leaves the tensor
    /// to be freed by the last; backwards, the first makes room for the tensor, and the others have it for free.
    fn frees(&mut self, tensor: TensorId) -> bool {
        let waiting = &mut self.waiting[tensor.0 as usize];
        let cheaper = if self.view.backward {
            std::mem::take(waiting) > 0
        } else {
            *waiting -= 1;
            *waiting == 1
        };
        cheaper && !self.view.graph.is_kept(tensor)
    }

    fn lower_growth_of_users(&mut self, tensor: TensorId, changed: &mut Vec<OpId>) {
        let graph = self.view.graph;
        let bytes = graph.bytes(tensor) as i64;
        for &user in graph.consumers(tensor) {
            if !self.ran[user.0 as usize] && bytes > 0 {
                self.growth[user.0 as usize] -= bytes;
                if self.missing[user.0 as usize] == 0 {
                    changed.push(user);
                }
            }
        }
    }
}
