//! How much memory a run takes, known before it begins.

use super::dqn::DqnConfig;
use super::model::ModelConfig;
use super::training::Dataset;

/// Bytes of a number in an embedding.
const VALUE: u64 = 4;
/// Bytes for a node besides embeddings: state, scores, marks and lists of changed rows.
const NODE: u64 = 40;

/// Bytes of constructing one solution on one rank by incremental inference, besides the graph.
pub fn construction(model: &ModelConfig, nodes: usize) -> u64 {
    nodes as u64 * (model.layers as u64 * model.dimension as u64 * VALUE + NODE)
}

/// Bytes of a training run on all ranks: its graphs, the replay memory and the largest minibatch. Ranks share the work on
/// a minibatch; `workers` have one each.
pub fn training(model: &ModelConfig, dqn: &DqnConfig, dataset: &Dataset, workers: usize) -> u64 {
    let graphs = dataset.graphs.iter().chain(dataset.held_back.iter().map(|(graph, _)| graph));
    let (bytes, nodes) = graphs
        .fold((0, 0), |(bytes, nodes), graph| (bytes + graph.heap_bytes() as u64, nodes.max(graph.nodes() as u64)));
    // Two states of each tuple; embeddings of one for the value, of the other for the target (twice if it is double);
    // two matrices of derivatives.
    let (rounds, features) = (model.layers as u64, model.features.max(1) as u64);
    let evaluations = if dqn.double { 3 } else { 2 };
    let row = (evaluations * rounds + 2) * model.dimension as u64 * VALUE + 2 * (features * VALUE + NODE);
    // 8 bytes a tuple.
    2 * bytes + workers as u64 * (8 * dqn.replay as u64 + dqn.minibatch as u64 * nodes * row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learned::{LocalGraph, Problem, VertexCover};
    use labrys_graph::Graph;

    /// The paper's 20 bytes an edge and state are for 16 GB a GPU and 400 million edges; here only nodes count.
    #[test]
    fn construction_is_linear_in_nodes() {
        let model = ModelConfig { dimension: 16, ..ModelConfig::default() };
        assert_eq!(construction(&model, 24_000), 24_000 * (2 * 16 * 4 + 40));
    }

    /// A state is one of the things that a minibatch consists of.
    #[test]
    fn minibatches_count_their_states() {
        let graph = Graph::from_edges(1000, (1..1000).map(|v| (0, v)));
        let dataset = Dataset { graphs: vec![graph], held_back: vec![] };
        let model = ModelConfig { features: VertexCover::default().features(), ..ModelConfig::default() };
        let with = |minibatch| training(&model, &DqnConfig { minibatch, ..DqnConfig::default() }, &dataset, 1);
        let local = LocalGraph::whole(&dataset.graphs[0]);
        let comm = labrys_comm::Communicator::alone();
        let state = VertexCover::default().rebuild(&comm, &local, &[]).unwrap();
        let bytes = 4 * state.features.len() + 8 * state.weights.len() + 4 * state.degrees.len() + 2 * 1000;
        assert!(with(2) - with(1) >= 2 * bytes as u64);
        assert!(with(1) > dataset.graphs[0].heap_bytes() as u64);
    }
}
