//! Lower bounds on the makespan that hold for every placement, schedule and kind of transfer.

use crate::problem::Problem;
use labrys_graph::dag;

/// How many (head, op) pairs the window bound looks at, at most.
const WINDOW_BUDGET: usize = 16_000_000;

/// The best of three lower bounds, in nanoseconds:
/// - the critical path, each op on its fastest device;
/// - the total load over all devices;
/// - windows: ops that cannot start before `head` and after whose end at least `tail` remains share the time between.
///
/// O(n^2) up to some thousand ops; beyond that only evenly spaced heads are tried and it is O(n log n).
pub fn makespan(problem: &Problem) -> u64 {
    let graph = &problem.graph;
    let loads = Loads::of(problem);
    let fastest = |op: labrys_dataflow::OpId| loads.fastest[op.0 as usize];
    let heads = dag::t_levels(graph.topological(), graph.dag(), fastest);
    let b_levels = dag::b_levels(graph.topological(), graph.dag(), fastest);
    let critical_path = b_levels.iter().copied().max().unwrap_or(0);
    let tails: Vec<u64> = graph.ops().map(|op| b_levels[op.0 as usize] - fastest(op)).collect();
    critical_path.max(window(&heads, &tails, &loads))
}

/// What each op adds at least to the weighted sum of the device loads.
///
/// For any weights y, makespan * sum(y) >= sum over devices of y * load >= sum over ops of min over devices of y * time: the
/// dual of the linear relaxation. Weights in proportion to speed are exact for equal devices and for related ones.
struct Loads {
    fastest: Vec<u64>,
    weighted: Vec<u128>,
    total_weight: u128,
}

impl Loads {
    fn of(problem: &Problem) -> Self {
        let times = |class: usize| problem.times[class].iter().map(|&time| u128::from(time)).sum::<u128>();
        let totals: Vec<u128> = problem.devices.iter().map(|device| times(device.class).max(1)).collect();
        let quickest = totals.iter().copied().min().unwrap_or(1);
        // 16 bits a weight keep the rounding below 0.01% and all sums in range. Any weights give a valid bound.
        let weights: Vec<u128> = totals.iter().map(|total| (quickest << 16) / total).collect();
        let ops = || problem.graph.ops();
        let time = |op, device: usize| problem.time(op, crate::DeviceId(device as u32));
        let devices = 0..problem.device_count();
        let weighted = |op| devices.clone().map(|d| weights[d] * u128::from(time(op, d))).min().unwrap_or(0);
        Self {
            fastest: ops().map(|op| devices.clone().map(|d| time(op, d)).min().unwrap_or(0)).collect(),
            weighted: ops().map(weighted).collect(),
            total_weight: weights.iter().sum::<u128>().max(1),
        }
    }

    fn time(&self, weighted: u128) -> u64 {
        u64::try_from(weighted.div_ceil(self.total_weight)).unwrap_or(u64::MAX)
    }
}

/// The window bound: the greatest head + load + tail, where the load is that of all ops with at least this head and tail.
fn window(heads: &[u64], tails: &[u64], loads: &Loads) -> u64 {
    let mut by_tail: Vec<usize> = (0..tails.len()).collect();
    by_tail.sort_unstable_by_key(|&op| std::cmp::Reverse(tails[op]));
    let mut levels = heads.to_vec();
    levels.sort_unstable();
    levels.dedup();
    let stride = levels.len().div_ceil((WINDOW_BUDGET / heads.len().max(1)).max(1)).max(1);
    let mut best = 0;
    for &head in levels.iter().step_by(stride) {
        let (mut load, mut rest) = (0u128, 0u64);
        for (i, &op) in by_tail.iter().enumerate() {
            if heads[op] < head {
                continue;
            }
            load += loads.weighted[op];
            rest = tails[op];
            let is_last_of_tail = by_tail.get(i + 1).is_none_or(|&next| tails[next] != rest);
            if is_last_of_tail {
                best = best.max(head + loads.time(load) + rest);
            }
        }
        best = best.max(head + loads.time(load) + rest);
    }
    best
}
