//! Local Search: from a random placement and a topological order, greedily moves an op to another device or another place in the
//! order (paper, section 5.2 and A.10), with random restarts.

use crate::problem::{DeviceId, Plan, Problem};
use crate::simulate::Simulator;
use labrys_dataflow::{Graph, OpId};
use labrys_search::seed::Rng;
use labrys_search::{Runner, Score};
use rand::RngExt as _;

/// Restart after this many moves per op without an improvement.
const PATIENCE: u64 = 20;

/// Runs until the runner stops it; one evaluation of the performance model is one unit of work.
pub fn search(problem: &Problem, run: &mut Runner<Plan>) {
    let mut rng = run.seed().stream("local search", 0);
    let mut simulator = Simulator::new(problem);
    loop {
        let mut current = State::random(problem, &mut rng);
        let mut score = current.offer(problem, &mut simulator, run);
        let mut failures = 0;
        while failures < PATIENCE * problem.graph.op_count() as u64 && !run.should_stop() {
            let mut next = current.clone();
            next.step(problem, &mut rng);
            let next_score = next.offer(problem, &mut simulator, run);
            failures = if next_score < score { 0 } else { failures + 1 };
            if next_score <= score {
                (current, score) = (next, next_score);
            }
        }
        if run.should_stop() {
            return;
        }
    }
}

#[derive(Clone)]
struct State {
    device: Vec<DeviceId>,
    order: Vec<OpId>,
}

impl State {
    fn random(problem: &Problem, rng: &mut Rng) -> Self {
        let devices = problem.device_count() as u32;
        let device = problem.graph.ops().map(|_| DeviceId(rng.random_range(0..devices))).collect();
        Self { device, order: problem.graph.topological().to_vec() }
    }

    fn offer(&self, problem: &Problem, simulator: &mut Simulator<'_>, run: &mut Runner<Plan>) -> Score {
        let plan = Plan::with_lazy_transfers(&problem.graph, self.device.clone(), &self.order, problem.device_count());
        let score = problem.score(&simulator.simulate(&plan));
        run.spend(1);
        run.offer(score, "local search", || plan);
        score
    }

    fn step(&mut self, problem: &Problem, rng: &mut Rng) {
        let position = rng.random_range(0..self.order.len());
        let op = self.order[position];
        if problem.device_count() > 1 && rng.random_bool(0.5) {
            let other = rng.random_range(1..problem.device_count() as u32);
            let device = &mut self.device[op.0 as usize];
            *device = DeviceId((device.0 + other) % problem.device_count() as u32);
        } else {
            let (low, high) = self.slack(&problem.graph, position);
            let target = rng.random_range(low..=high);
            self.order.remove(position);
            self.order.insert(target, op);
        }
    }

    /// First and last position to which the op at `position` can move with the others in their order.
    fn slack(&self, graph: &Graph, position: usize) -> (usize, usize) {
        let op = self.order[position];
        let before = self.order[..position].iter().rposition(|other| graph.preds(op).contains(other));
        let after = self.order[position + 1..].iter().position(|other| graph.succs(op).contains(other));
        (before.map_or(0, |p| p + 1), after.map_or(self.order.len() - 1, |p| position + p))
    }
}
