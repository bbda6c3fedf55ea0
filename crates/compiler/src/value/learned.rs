//! The network as the guide of a search.

use super::encode::{Batch, ExprGraph};
use super::memo::Memo;
use super::net::ValueNet;
use crate::ir::{ExprId, Program};
use crate::optimize::value::Value;
use rustc_hash::FxHashMap;

/// Nodes that go through the network together at most: their states stay in the second cache.
const BATCH_NODES: usize = 4096;
/// States that are remembered; beyond, all are forgotten.
const MOST_STATES: usize = 1 << 20;

/// A trained network that says what states are worth. One for each program, as it remembers states by their ids.
pub struct LearnedValue {
    net: ValueNet,
    memo: Memo,
    /// Values of states that were asked for.
    known: FxHashMap<ExprId, Box<[f32]>>,
}

impl LearnedValue {
    /// A guide that knows no state yet.
    pub fn new(net: ValueNet) -> Self {
        Self { net, memo: Memo::default(), known: FxHashMap::default() }
    }

    /// States that were looked at.
    pub fn looked_at(&self) -> usize {
        self.known.len()
    }

    /// Computes the values of states that are not known.
    fn learn(&mut self, program: &Program, states: &[ExprId]) {
        if self.known.len() + states.len() > MOST_STATES {
            self.known.clear();
        }
        let mut pending: Vec<(ExprId, ExprGraph)> = vec![];
        let mut nodes = 0;
        for &state in states {
            if self.known.contains_key(&state) {
                continue;
            }
            // Too large to be looked at: nothing is expected of it.
            let nothing = vec![0.0; self.horizon() + 1].into_boxed_slice();
            self.known.insert(state, nothing);
            let Some(graph) = ExprGraph::new(&program.store, state) else { continue };
            nodes += graph.nodes();
            pending.push((state, graph));
            if nodes >= BATCH_NODES {
                self.infer(&pending);
                pending.clear();
                nodes = 0;
            }
        }
        self.infer(&pending);
    }

    fn infer(&mut self, states: &[(ExprId, ExprGraph)]) {
        if states.is_empty() {
            return;
        }
        let batch = Batch::new(states.iter().map(|(_, graph)| graph), self.net.rows());
        let values = self.memo.values(&self.net, &batch);
        for ((state, _), row) in states.iter().zip(values.iter_rows()) {
            self.known.insert(*state, self.net.shape.worth(row));
        }
    }
}

impl Value for LearnedValue {
    fn values(&mut self, program: &Program, states: &[ExprId], out: &mut Vec<f32>) {
        self.learn(program, states);
        for state in states {
            out.extend_from_slice(&self.known[state]);
        }
    }

    fn horizon(&self) -> usize {
        if self.net.shape.counts_steps() { 1 } else { self.net.shape.horizon }
    }
}
