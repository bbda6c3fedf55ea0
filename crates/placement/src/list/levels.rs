//! The b-level with communication: the *upward rank* of HEFT.

use crate::problem::Problem;

/// For each op the longest path to the end, its own time included, with mean times over the devices and `communication` times
/// the mean transfer time on every arc that passes a tensor. Nanoseconds.
pub(crate) fn upward_ranks(problem: &Problem, communication: f64) -> Vec<u64> {
    let graph = &problem.graph;
    let devices = problem.device_count();
    let mut rank = vec![0u64; graph.op_count()];
    for &op in graph.topological().iter().rev() {
        let mut below = graph.succs(op).iter().map(|next| rank[next.0 as usize]).max().unwrap_or(0);
        for &tensor in graph.outputs(op) {
            let transfer = (communication * mean_transfer_time(problem, graph.bytes(tensor))) as u64;
            let consumers = graph.consumers(tensor).iter().map(|next| rank[next.0 as usize]);
            below = below.max(consumers.max().map_or(0, |rank| rank + transfer));
        }
        let times = problem.device_ids().map(|device| problem.time(op, device));
        rank[op.0 as usize] = below + times.sum::<u64>() / devices as u64;
    }
    rank
}

/// Over all pairs of different devices.
fn mean_transfer_time(problem: &Problem, bytes: u64) -> f64 {
    let devices = problem.device_count();
    let pairs = problem.links.iter().enumerate().filter(|(i, _)| i / devices != i % devices);
    let total: f64 = pairs.map(|(_, link)| link.time(bytes) as f64).sum();
    total / (devices * (devices - 1)).max(1) as f64
}
