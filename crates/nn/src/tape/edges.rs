//! Messages along and against edges, computed and summed up without one matrix product per edge.
//!
//! The first layer of a message network reads `[h_s | h_d | e]`. Its weights are split, `W_s h_s + W_d h_d + W_e e`, so
//! that products are per node and only their sums are per edge. Its second layer is linear, so that it is applied to
//! the sum of messages, once per node. What stays per edge is `relu(a + b + c)`, computed here with its sum.

use super::linear::add;
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

/// How many edges ahead memory is asked for.
const AHEAD: usize = 6;
/// Values in a line of the cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 16;

impl<'a> Tape<'a> {
    /// Hidden layers of the messages along and against edges, aggregated per node.
    ///
    /// `nodes` has 4 blocks of `hidden` columns: `W_s h`, `W_d h` for messages along the edges, then the same two
    /// for messages against them. `edges` has 2 blocks, `W_e e + b` of each. The result has 2 blocks.
    ///
    /// # Panics
    /// If the shapes do not fit the batch.
    pub fn edge_messages(&mut self, nodes: Var, edges: Var, batch: &'a GraphBatch, aggregation: Aggregation) -> Var {
        let (node_terms, edge_terms) = (self.value(nodes), self.value(edges));
        let hidden = edge_terms.cols / 2;
        assert!(node_terms.rows == batch.nodes() && node_terms.cols == 4 * hidden, "four blocks for each node");
        assert!(edge_terms.rows == batch.edges() && edge_terms.cols == 2 * hidden, "two blocks for each edge");
        let mut value = Matrix::zeros(batch.nodes(), 2 * hidden);
        for (incidence, blocks) in [(batch.incoming(), ALONG), (batch.outgoing(), AGAINST)] {
            gather_messages(node_terms, edge_terms, incidence, blocks, aggregation, &mut value);
        }
        self.record(value, &[nodes, edges], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let terms = (flow.value(nodes), flow.value(edges));
            let (mut by_nodes, mut by_edges) = (flow.take(nodes), flow.take(edges));
            let outs = (by_nodes.as_mut(), by_edges.as_mut());
            scatter_gradients(terms, batch, aggregation, gradient, outs);
            flow.put_back(nodes, by_nodes);
            flow.put_back(edges, by_edges);
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
    let mut ahead = incidence.all().iter().skip(AHEAD);
    for node in 0..nodes.rows {
        let list = incidence.of(node);
        let own = block(nodes, node, blocks.own, hidden);
        let sums = &mut out.row_mut(node)[blocks.edge * hidden..][..hidden];
        for &(edge, other) in list {
            if let Some(&(edge, other)) = ahead.next() {
                prefetch(block(nodes, other as usize, blocks.other, hidden));
                prefetch(block(edges, edge as usize, blocks.edge, hidden));
            }
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

/// Adds the derivative of the loss by the argument of each edge's `relu` to both ends and to the edge. Where the nodes or
/// the edges need no gradient, it goes to a place that is thrown away: no network has that in its inner loop.
fn scatter_gradients(
    (nodes, edges): (&Matrix, &Matrix),
    batch: &GraphBatch,
    aggregation: Aggregation,
    gradient: &Matrix,
    outs: (Option<&mut Matrix>, Option<&mut Matrix>),
) {
    let (mut no_nodes, mut no_edges) = (Matrix::default(), Matrix::default());
    let zeros = |m: &Matrix| Matrix::zeros(m.rows, m.cols);
    let by_nodes = outs.0.unwrap_or_else(|| {
        no_nodes = zeros(nodes);
        &mut no_nodes
    });
    let by_edges = outs.1.unwrap_or_else(|| {
        no_edges = zeros(edges);
        &mut no_edges
    });
    let hidden = edges.cols / 2;
    let [mut arriving, mut passed, mut sums] = [(); 3].map(|()| vec![0.0; hidden]);
    for (incidence, blocks) in [(batch.incoming(), ALONG), (batch.outgoing(), AGAINST)] {
        for node in 0..nodes.rows {
            let list = incidence.of(node);
            let factor = aggregation.factor(list.len());
            let from = block(gradient, node, blocks.edge, hidden);
            arriving.iter_mut().zip(from).for_each(|(a, g)| *a = factor * g);
            sums.fill(0.0);
            let own = block(nodes, node, blocks.own, hidden);
            for &(edge, other) in list {
                let (edge, other) = (edge as usize, other as usize);
                let terms = [own, block(nodes, other, blocks.other, hidden), block(edges, edge, blocks.edge, hidden)];
                pass_relu(terms, &arriving, &mut passed);
                add(&mut sums, &passed);
                add(block_mut(by_nodes, other, blocks.other, hidden), &passed);
                add(block_mut(by_edges, edge, blocks.edge, hidden), &passed);
            }
            add(block_mut(by_nodes, node, blocks.own, hidden), &sums);
        }
    }
}

/// The gradient where the `relu` of the sum of terms is open, zero elsewhere. Bits are masked, as a branch would be
/// mispredicted half of the time.
#[inline]
fn pass_relu([own, other, edge]: [&[f32]; 3], gradient: &[f32], out: &mut [f32]) {
    let terms = own.iter().zip(other).zip(edge).zip(gradient);
    for (o, (((a, b), c), g)) in out.iter_mut().zip(terms) {
        let open = 0u32.wrapping_sub(u32::from(a + b + c > 0.0));
        *o = f32::from_bits(g.to_bits() & open);
    }
}

#[inline]
fn block(m: &Matrix, row: usize, index: usize, hidden: usize) -> &[f32] {
    &m.row(row)[index * hidden..][..hidden]
}

#[inline]
fn block_mut(m: &mut Matrix, row: usize, index: usize, hidden: usize) -> &mut [f32] {
    &mut m.row_mut(row)[index * hidden..][..hidden]
}

/// Asks for values that are read soon. In a graph of 10,000 ops neighbours lie outside of the second cache, and waiting for
/// them takes a quarter of the whole inference.
#[inline]
fn prefetch(values: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program sees, and the address is one of a live slice.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
