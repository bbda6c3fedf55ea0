//! What the net sees of a graph: sizes in mean tensor sizes, degrees, levels, and the positions of each op in simple orders.

use super::mean_bytes;
use crate::orders::frontier::Frontier;
use crate::orders::view::View;
use crate::orders::{self, BACKWARD, FORWARD};
use labrys_dataflow::{Graph, OpId, TensorId};
use labrys_nn::graph_batch::BatchError;
use labrys_nn::{EdgeArrays, GraphBatch, Matrix};

/// Features of an op that are about itself and its neighbours.
const OWN: usize = 13;
/// Features of an op.
pub const NODE: usize = OWN + orders::VIEWS;
/// Features of an edge: bytes, share of the tensor's consumers, whether it is a control edge, number of consumers.
pub const EDGE: usize = 4;

/// The graph with its features; an edge for each tensor and consumer, and for each control edge.
///
/// # Errors
/// None for a graph that the builder made: its edges join ops.
pub fn batch(graph: &Graph) -> Result<GraphBatch, BatchError> {
    let mut nodes = own_features(graph);
    let n = graph.op_count();
    for (view, order) in orders::views(graph).iter().enumerate() {
        for (position, op) in order.iter().enumerate() {
            nodes.row_mut(op.0 as usize)[OWN + view] = 2.0 * position as f32 / n as f32 - 1.0;
        }
    }
    let (arrays, edges) = edges(graph);
    GraphBatch::new(nodes, edges, arrays)
}

fn own_features(graph: &Graph) -> Matrix {
    let scale = 1.0 / mean_bytes(graph);
    let frontiers = [FORWARD, BACKWARD].map(|backward| Frontier::new(View { graph, backward }));
    let levels = [FORWARD, BACKWARD].map(|backward| levels(View { graph, backward }));
    let size = (graph.op_count() as f32).ln() - 5.0;
    let mut nodes = Matrix::zeros(graph.op_count(), NODE);
    for op in graph.ops() {
        let (inputs, outputs) = (graph.inputs(op), graph.outputs(op));
        let sum = |tensors: &[TensorId], of: &dyn Fn(TensorId) -> f32| squash(tensors.iter().map(|&t| of(t)).sum());
        let bytes = |t: TensorId| graph.bytes(t) as f32 * scale;
        let users = |t: TensorId| graph.consumers(t).len() as f32;
        let own: [f32; OWN] = [
            sum(outputs, &bytes),
            sum(inputs, &bytes),
            squash(graph.scratch(op) as f32 * scale),
            sum(inputs, &|t| bytes(t) / users(t).max(1.0)),
            sum(outputs, &|t| if graph.is_kept(t) { bytes(t) } else { 0.0 }),
            squash(graph.preds(op).len() as f32),
            squash(graph.succs(op).len() as f32),
            sum(outputs, &users),
            levels[0][op.0 as usize],
            levels[1][op.0 as usize],
            squash(frontiers[0].growth(op) as f32 * scale),
            squash(frontiers[1].growth(op) as f32 * scale),
            size,
        ];
        nodes.row_mut(op.0 as usize)[..OWN].copy_from_slice(&own);
    }
    nodes
}

fn edges(graph: &Graph) -> (EdgeArrays, Matrix) {
    let scale = 1.0 / mean_bytes(graph);
    let mut ends: Vec<(OpId, OpId)> = vec![];
    let mut features: Vec<f32> = vec![];
    for tensor in graph.tensors() {
        let users = graph.consumers(tensor).len() as f32;
        let row: [f32; EDGE] = [squash(graph.bytes(tensor) as f32 * scale), 1.0 / users, 0.0, squash(users)];
        for &consumer in graph.consumers(tensor) {
            ends.push((graph.producer(tensor), consumer));
            features.extend(row);
        }
    }
    for op in graph.ops() {
        for &before in graph.control(op) {
            ends.push((before, op));
            features.extend([0.0, 0.0, 1.0, 0.0]);
        }
    }
    let rows = ends.len();
    (ends.into_iter().map(|(from, to)| (from.0, to.0)).collect(), Matrix::new(rows, EDGE, features))
}

/// Logarithmic in size, for numbers of both signs.
fn squash(x: f32) -> f32 {
    x.signum() * x.abs().ln_1p()
}

/// Longest path in ops from the first ones in this direction, as a share of the longest.
fn levels(view: View<'_>) -> Vec<f32> {
    let mut level = vec![0.0f32; view.graph.op_count()];
    for op in view.topological() {
        level[op.0 as usize] = view.preds(op).iter().map(|p| level[p.0 as usize] + 1.0).fold(0.0, f32::max);
    }
    let most = level.iter().copied().fold(1.0, f32::max);
    level.iter_mut().for_each(|l| *l /= most);
    level
}
