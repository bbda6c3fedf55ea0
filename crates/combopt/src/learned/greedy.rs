//! What classical greedy rules reach: the measure of a policy that works alone.

use super::blocks::LocalGraph;
use super::environment::{Features, MaxCut, Problem, TravellingSalesman};
use labrys_comm::{CommError, Communicator};
use labrys_graph::Graph;

/// The cut when the node that helps most changes sides until none helps.
pub fn best_move_cut(graph: &Graph) -> Result<i64, CommError> {
    // The gain, as the features of a state say it.
    by_rule(&MaxCut { features: Features::State }, graph, |features| features[3] - features[4])
}

/// The tour when the node that adds least is inserted next.
pub fn cheapest_insertion(graph: &Graph) -> Result<i64, CommError> {
    by_rule(&TravellingSalesman { features: Features::State }, graph, |features| -features[2])
}

/// The objective when the candidate of the highest value is picked until the solution is complete.
fn by_rule(problem: &dyn Problem, graph: &Graph, value: impl Fn(&[f32]) -> f32) -> Result<i64, CommError> {
    let (comm, graph) = (Communicator::alone(), LocalGraph::whole(graph));
    let mut environment = problem.start(&graph);
    let mut features = vec![0.0; problem.features()];
    while !environment.done() {
        let mut best: Option<(f32, u32)> = None;
        for row in 0..graph.rows() {
            if environment.row(row, &mut features).candidate && best.is_none_or(|best| value(&features) > best.0) {
                best = Some((value(&features), row as u32));
            }
        }
        let Some((_, node)) = best else { break };
        environment.step(&comm, node)?;
    }
    Ok(environment.objective())
}
