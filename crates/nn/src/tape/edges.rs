//! Messages along and against edges, computed and summed up without one matrix product per edge.
//!
//! The first layer of a message network reads `[h_s | h_d | e]`. Its weights are split, `W_s h_s + W_d h_d + W_e e`, so
//! that products are per node and only their sums are per edge. Its second layer is linear, so that it is applied to
//! the sum of messages, once per node. What stays per edge is `relu(a + b + c)`, computed here with its sum.

use super::{Flow, Tape, Var};
use crate::graph_batch::Incidence;
use crate::layers::Aggregation;
use crate::{GraphBatch, Matrix};

/// Which of a node's columns meet on an edge: `own` of the node that receives, `other` of the node at the other end,
/// and `edge` of the edge; `out` is where the sum goes. All count in blocks of the hidden size.
#[derive(Clone, Copy)]
struct Blocks {
    own: usize,
    other: usize,
    edge: usize,
}

/// Along the edges: the columns of the nodes are `[source | target | source' | target']`, those of an edge `[e | e']`.
const ALONG: Blocks = Blocks { own: 1, other: 0, edge: 0 };
/// Against the edges: the source receives.
const AGAINST: Blocks = Blocks { own: 2, other: 3, edge: 1 };

impl<'a> Tape<'a> {
    /// Hidden layers of the messages along and against edges, aggregated per node.
    ///
    /// `nodes` has at least 4 blocks of `hidden` columns: `W_s h`, `W_d h` for messages along the edges, then the same two
    /// for messages against them. `edges` has 2 blocks, `W_e e + b` of each. The result has 2 blocks.
    ///
    /// # Panics
    /// If the shapes do not fit the batch.
    pub fn edge_messages(&mut self, nodes: Var, edges: Var, batch: &'a GraphBatch, aggregation: Aggregation) -> Var {
        let (node_terms, edge_terms) = (self.value(nodes), self.value(edges));
        let hidden = edge_terms.cols / 2;
        assert!(node_terms.rows == batch.nodes() && node_terms.cols >= 4 * hidden, "four blocks for each node");
        assert!(edge_terms.rows == batch.edges() && edge_terms.cols == 2 * hidden, "two blocks for each edge");
        let mut value = Matrix::zeros(batch.nodes(), 2 * hidden);
        for (incidence, blocks) in [(batch.incoming(), ALONG), (batch.outgoing(), AGAINST)] {
            gather_messages(node_terms, edge_terms, incidence, blocks, aggregation, &mut value);
        }
        self.record(value, &[nodes, edges], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let (node_terms, edge_terms) = (flow.value(nodes), flow.value(edges));
            let mut per_edge = Matrix::zeros(edge_terms.rows, edge_terms.cols);
            for (incidence, blocks) in [(batch.incoming(), ALONG), (batch.outgoing(), AGAINST)] {
                edge_gradients(node_terms, edge_terms, incidence, blocks, aggregation, gradient, &mut per_edge);
            }
            if let Some(out) = flow.gradient(nodes) {
                for (incidence, blocks) in [(batch.incoming(), [(1, 0), (3, 1)]), (batch.outgoing(), [(0, 0), (2, 1)])]
                {
                    sum_edges(&per_edge, incidence, blocks, hidden, out);
                }
            }
            if let Some(out) = flow.gradient(edges) {
                out.add(&per_edge);
            }
        })
    }
}

/// For each node, the sum or mean of `relu(own + other + edge)` over its edges.
fn gather_messages(
    nodes: &Matrix,
    edges: &Matrix,
    incidence: &Incidence,
    blocks: Blocks,
    aggregation: Aggregation,
    out: &mut Matrix,
) {
    let hidden = edges.cols / 2;
    for node in 0..nodes.rows {
        let list = incidence.of(node);
        let own = block(nodes, node, blocks.own, hidden);
        let sums = &mut out.row_mut(node)[blocks.edge * hidden..][..hidden];
        for &(edge, other) in list {
            let other = block(nodes, other as usize, blocks.other, hidden);
            let term = block(edges, edge as usize, blocks.edge, hidden);
            for (sum, ((a, b), c)) in sums.iter_mut().zip(own.iter().zip(other).zip(term)) {
                *sum += (a + b + c).max(0.0);
            }
        }
        let factor = aggregation.factor(list.len());
        sums.iter_mut().for_each(|sum| *sum *= factor);
    }
}

/// The derivative of the loss by the argument of each edge's `relu`.
fn edge_gradients(
    nodes: &Matrix,
    edges: &Matrix,
    incidence: &Incidence,
    blocks: Blocks,
    aggregation: Aggregation,
    gradient: &Matrix,
    out: &mut Matrix,
) {
    let hidden = edges.cols / 2;
    for node in 0..nodes.rows {
        let list = incidence.of(node);
        let factor = aggregation.factor(list.len());
        let own = block(nodes, node, blocks.own, hidden);
        let from = block(gradient, node, blocks.edge, hidden);
        for &(edge, other) in list {
            let other = block(nodes, other as usize, blocks.other, hidden);
            let term = block(edges, edge as usize, blocks.edge, hidden);
            let to = &mut out.row_mut(edge as usize)[blocks.edge * hidden..][..hidden];
            for ((o, g), ((a, b), c)) in to.iter_mut().zip(from).zip(own.iter().zip(other).zip(term)) {
                *o = if a + b + c > 0.0 { factor * g } else { 0.0 };
            }
        }
    }
}

/// Adds a block of every edge of a node to a block of the node; `blocks` are pairs (of the node, of the edge).
fn sum_edges(edges: &Matrix, incidence: &Incidence, blocks: [(usize, usize); 2], hidden: usize, out: &mut Matrix) {
    for node in 0..out.rows {
        let row = out.row_mut(node);
        for &(edge, _) in incidence.of(node) {
            for (to, from) in blocks {
                let term = block(edges, edge as usize, from, hidden);
                row[to * hidden..][..hidden].iter_mut().zip(term).for_each(|(o, g)| *o += g);
            }
        }
    }
}

#[inline]
fn block(m: &Matrix, row: usize, index: usize, hidden: usize) -> &[f32] {
    &m.row(row)[index * hidden..][..hidden]
}
