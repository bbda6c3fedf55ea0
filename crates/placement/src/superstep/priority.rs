//! Priorities of ops for list scheduling, all in nanoseconds, higher first.

use crate::problem::Problem;
use labrys_dataflow::OpId;
use labrys_graph::dag;

/// Fastest run time of each op over the devices, in nanoseconds.
pub(crate) fn fastest_times(problem: &Problem) -> Vec<u64> {
    let fastest = |op| problem.device_ids().map(|device| problem.time(op, device)).min().unwrap_or(0);
    problem.graph.ops().map(fastest).collect()
}

/// Named priorities of every op. No single one wins everywhere, so they are tried one after the other.
pub(crate) struct Priorities {
    /// Length of the longest path from the start of an op to the end.
    pub b_level: Vec<u64>,
    /// Length of the longest path through the graph.
    pub critical_path: u64,
    /// Mean run time of an op.
    pub mean: u64,
    /// The named priorities, the b-level first.
    pub all: Vec<(&'static str, Vec<u64>)>,
}

impl Priorities {
    pub fn new(problem: &Problem) -> Self {
        let graph = &problem.graph;
        let times = fastest_times(problem);
        let time = |op: OpId| times[op.0 as usize];
        let b_level = dag::b_levels(graph.topological(), graph.dag(), time);
        let t_level = dag::t_levels(graph.topological(), graph.dag(), time);
        let critical_path = b_level.iter().copied().max().unwrap_or(0);
        let share = shared_descendants(problem, &times);
        let devices = problem.device_count() as u64;
        let combine = |f: &dyn Fn(usize) -> u64| (0..times.len()).map(f).collect::<Vec<u64>>();
        let all = vec![
            ("b-level", b_level.clone()),
            ("b-level + descendants", combine(&|op| b_level[op] + share[op] / devices)),
            ("b-level + time", combine(&|op| b_level[op] + times[op])),
            ("latest start", combine(&|op| 2 * b_level[op] + (critical_path - t_level[op]))),
        ];
        let mean = times.iter().sum::<u64>() / times.len().max(1) as u64;
        Self { b_level, critical_path, mean, all }
    }
}

/// Run time of each op and its descendants, where an op with several predecessors is shared evenly among them.
fn shared_descendants(problem: &Problem, times: &[u64]) -> Vec<u64> {
    let graph = &problem.graph;
    let mut share = vec![0u64; times.len()];
    for &op in graph.topological().iter().rev() {
        let below: u64 = graph.succs(op).iter().map(|&s| share[s.0 as usize] / graph.preds(s).len() as u64).sum();
        share[op.0 as usize] = times[op.0 as usize] + below;
    }
    share
}
