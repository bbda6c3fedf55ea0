//! A graph read forwards or backwards in time.

use labrys_dataflow::{Graph, OpId};

/// A graph and a direction. Backwards, an op comes after its successors, allocates its inputs and frees its outputs.
#[derive(Clone, Copy)]
pub(crate) struct View<'g> {
    pub graph: &'g Graph,
    pub backward: bool,
}

impl<'g> View<'g> {
    /// Ops that come before `op` in this direction.
    pub fn preds(self, op: OpId) -> &'g [OpId] {
        if self.backward { self.graph.succs(op) } else { self.graph.preds(op) }
    }

    /// Ops that come after `op` in this direction.
    pub fn succs(self, op: OpId) -> &'g [OpId] {
        if self.backward { self.graph.preds(op) } else { self.graph.succs(op) }
    }

    /// A topological order in this direction.
    pub fn topological(self) -> Vec<OpId> {
        self.to_forward(self.graph.topological().to_vec())
    }

    /// Turns an order in this direction into one forwards in time, and the other way round.
    pub fn to_forward(self, mut order: Vec<OpId>) -> Vec<OpId> {
        if self.backward {
            order.reverse();
        }
        order
    }

    /// Bytes that `op` leaves behind for later ops in this direction.
    pub fn residue(self, op: OpId) -> u64 {
        let tensors = if self.backward { self.graph.inputs(op) } else { self.graph.outputs(op) };
        tensors.iter().map(|&t| self.graph.bytes(t)).sum()
    }

    /// For each op the number of ops that must come before it.
    pub fn missing(self) -> Vec<u32> {
        self.graph.ops().map(|op| self.preds(op).len() as u32).collect()
    }
}
