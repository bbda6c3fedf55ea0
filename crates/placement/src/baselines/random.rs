//! Random: a uniformly random device for each op, and a random topological order of ops and transfers.

use crate::problem::{DeviceId, Plan, Problem, Step};
use crate::simulate::Simulator;
use labrys_dataflow::OpId;
use labrys_search::{Runner, seed::Rng};
use rand::RngExt as _;

/// A random valid plan; transfers happen at random points between production and first use.
pub fn plan(problem: &Problem, rng: &mut Rng) -> Plan {
    let graph = &problem.graph;
    let devices = problem.device_count() as u32;
    let device: Vec<DeviceId> = graph.ops().map(|_| DeviceId(rng.random_range(0..devices))).collect();
    let home = |op: OpId| device[op.0 as usize];
    // An op waits for one event per input, its production or its transfer, and for one per control edge.
    let mut missing: Vec<usize> = graph.ops().map(|op| graph.inputs(op).len() + graph.control(op).len()).collect();
    let mut ready: Vec<Step> = graph.ops().filter(|op| missing[op.0 as usize] == 0).map(Step::Run).collect();
    let mut steps = Vec::with_capacity(graph.op_count());
    while !ready.is_empty() {
        let step = ready.swap_remove(rng.random_range(0..ready.len()));
        steps.push(step);
        let mut done = |op: OpId, ready: &mut Vec<Step>| {
            missing[op.0 as usize] -= 1;
            if missing[op.0 as usize] == 0 {
                ready.push(Step::Run(op));
            }
        };
        match step {
            Step::Transfer { tensor, to } => {
                graph.consumers(tensor).iter().filter(|&&c| home(c) == to).for_each(|&c| done(c, &mut ready));
            }
            Step::Run(op) => {
                for &tensor in graph.outputs(op) {
                    let mut remote: Vec<DeviceId> = graph.consumers(tensor).iter().map(|&c| home(c)).collect();
                    remote.sort_unstable();
                    remote.dedup();
                    remote.retain(|&to| to != home(op));
                    ready.extend(remote.into_iter().map(|to| Step::Transfer { tensor, to }));
                    graph.consumers(tensor).iter().filter(|&&c| home(c) == home(op)).for_each(|&c| done(c, &mut ready));
                }
                graph.succs(op).iter().filter(|&&c| graph.control(c).contains(&op)).for_each(|&c| done(c, &mut ready));
            }
        }
    }
    Plan { device, steps }
}

/// Random search: independent random plans until the runner stops it, at least one; one plan is one unit of work.
pub fn search(problem: &Problem, run: &mut Runner<Plan>) {
    let mut rng = run.seed().stream("random", 0);
    let mut simulator = Simulator::new(problem);
    loop {
        let plan = plan(problem, &mut rng);
        let score = problem.score(&simulator.simulate(&plan));
        run.spend(1);
        run.offer(score, "random", || plan);
        if run.should_stop() {
            return;
        }
    }
}
