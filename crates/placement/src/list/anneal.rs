//! Simulated annealing over placement and total order, transfers included, in any mode of the model.

use super::sequence::{Changed, Sequence};
use super::timing::Timing;
use crate::problem::{DeviceId, Plan, Problem, Step, Transfers};
use crate::simulate::Simulator;
use crate::superstep::priority::fastest_times;
use labrys_dataflow::OpId;
use labrys_graph::dag;
use labrys_search::anneal::Schedule as Cooling;
use labrys_search::seed::Rng;
use labrys_search::{Runner, Score, Stopwatch};
use rand::RngExt as _;
use rayon::prelude::*;

/// Independent walks, whatever the number of threads, so that the result does not depend on it.
const WALKS: u64 = 2;
/// Moves of a walk between two looks at the limits.
const ROUND: u64 = 1000;
/// Temperature as a share of the mean run time of an op.
const COOLING: Cooling = Cooling { start: 0.3, end: 0.01 };
/// How often an op that changes device goes to one of its neighbours in the graph, rather than anywhere. The most important
/// number here: 0.5 is clearly worse, 0 much worse.
const TO_NEIGHBOUR: f64 = 0.9;
/// How often a new transfer takes a random place, rather than the one that seems best.
const RANDOM_TRANSFER: f64 = 0.2;
/// Weight of the mean end of the devices in the energy; the makespan has the rest. It tells plans of equal makespan apart.
const MEAN_END: f64 = 0.1;

/// Improves `start` until the runner stops. One move is one unit of work; the temperature follows the runner's progress.
pub fn anneal(problem: &Problem, start: &Plan, run: &mut Runner<Plan>) {
    let times = fastest_times(problem);
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    let tail = tails(problem, &times);
    let seed = run.seed();
    let mut walks: Vec<Walk<'_>> =
        (0..WALKS).map(|i| Walk::new(problem, start, tail.clone(), seed.stream("list-anneal", i))).collect();
    let begun = run.progress();
    while !run.should_stop() {
        let progress = (run.progress() - begun) / (1.0 - begun).max(1e-9);
        let temperature = mean.max(1.0) * COOLING.temperature(progress);
        let moves = ROUND.min(run.work_left().div_ceil(WALKS));
        let stopwatch = run.stopwatch();
        walks.par_iter_mut().for_each(|walk| walk.advance(moves, temperature, &stopwatch));
        run.spend(moves * WALKS);
        for walk in &mut walks {
            if let Some((score, plan)) = walk.improved.take() {
                run.offer(score, "plan annealing", || plan);
            }
        }
    }
}

/// Longest time from the end of each op to the end of the run.
fn tails(problem: &Problem, times: &[u64]) -> Vec<u64> {
    let graph = &problem.graph;
    let levels = dag::b_levels(graph.topological(), graph.dag(), |op: OpId| times[op.0 as usize]);
    levels.iter().zip(times).map(|(level, time)| level - time).collect()
}

struct Walk<'p> {
    problem: &'p Problem,
    sequence: Sequence<'p>,
    timing: Timing<'p>,
    simulator: Simulator<'p>,
    rng: Rng,
    energy: f64,
    /// Energy of one byte above a memory limit.
    penalty: f64,
    best: Score,
    /// The best plan, if it is new since the last look.
    improved: Option<(Score, Plan)>,
}

impl<'p> Walk<'p> {
    fn new(problem: &'p Problem, start: &Plan, tail: Vec<u64>, rng: Rng) -> Self {
        let sequence = Sequence::new(problem, start);
        let mut timing = Timing::new(problem, tail);
        let makespan = timing.restart(&sequence);
        let limit = problem.devices.iter().filter_map(|device| device.memory).min().unwrap_or(0);
        let penalty = 4.0 * makespan as f64 / limit.max(1) as f64;
        let mut simulator = Simulator::new(problem);
        let best = problem.score(&simulator.simulate(start));
        let improved = Some((best, start.clone()));
        let mut walk = Self { problem, sequence, timing, simulator, rng, energy: 0.0, penalty, best, improved };
        walk.energy = walk.time_energy(walk.timing.ends()) + penalty * best.excess as f64;
        walk
    }

    fn advance(&mut self, moves: u64, temperature: f64, stopwatch: &Stopwatch) {
        for _ in 0..moves {
            // The Metropolis rule with its draw made first, so that hopeless trials end early.
            let limit = self.energy - temperature * (1.0 - self.rng.random::<f64>()).ln();
            let Some(changed) = self.propose() else { continue };
            if !self.accept(changed, limit) {
                self.timing.roll_back();
                self.sequence.undo();
            }
            if changed.shift != 0 && stopwatch.rings() {
                return;
            }
        }
    }

    fn propose(&mut self) -> Option<Changed> {
        if self.problem.device_count() > 1 && self.rng.random_bool(0.5) { self.relocate() } else { self.shift() }
    }

    /// Moves a random step a random way within its window.
    fn shift(&mut self) -> Option<Changed> {
        let len = self.sequence.plan().steps.len();
        let from = self.rng.random_range(0..len);
        let reach = 1usize << self.rng.random_range(1..8);
        let (first, last) = self.sequence.window(from);
        let to = self.rng.random_range(first.max(from.saturating_sub(reach))..=last.min(from + reach));
        (to != from).then(|| self.sequence.shift(from, to))
    }

    /// Moves a random op to another device.
    fn relocate(&mut self) -> Option<Changed> {
        let op = OpId(self.rng.random_range(0..self.problem.graph.op_count() as u32));
        let to = self.destination(op);
        if to == self.sequence.device(op) {
            return None;
        }
        let asynchronous = self.problem.transfers == Transfers::Asynchronous;
        let rng = &mut self.rng;
        Some(self.sequence.relocate(op, to, |sequence, ends, first, last| {
            if rng.random_bool(RANDOM_TRANSFER) {
                return rng.random_range(first..=last);
            }
            if asynchronous { first } else { rendezvous(sequence, ends, first, last).unwrap_or(last) }
        }))
    }

    /// The device of a neighbour in the graph, or any.
    fn destination(&mut self, op: OpId) -> DeviceId {
        let graph = &self.problem.graph;
        let (preds, succs) = (graph.preds(op), graph.succs(op));
        let neighbours = preds.len() + succs.len();
        if neighbours > 0 && self.rng.random_bool(TO_NEIGHBOUR) {
            let i = self.rng.random_range(0..neighbours);
            return self.sequence.device(preds.get(i).copied().unwrap_or_else(|| succs[i - preds.len()]));
        }
        DeviceId(self.rng.random_range(0..self.problem.device_count() as u32))
    }

    /// Whether the energy stays below the limit; then the change is kept.
    fn accept(&mut self, changed: Changed, limit: f64) -> bool {
        // The mean end is at least the makespan over the number of devices.
        let share = 1.0 - MEAN_END + MEAN_END / self.problem.device_count() as f64;
        let longest = (limit / share).min(u64::MAX as f64) as u64;
        let Some(ends) = self.timing.try_change(&self.sequence, changed, longest) else { return false };
        let mut energy = self.time_energy(ends);
        if energy > limit {
            return false;
        }
        let mut score = Score::feasible(ends.0);
        if self.problem.is_memory_limited() {
            score = self.problem.score(&self.simulator.simulate(self.sequence.plan()));
            energy += self.penalty * score.excess as f64;
            if energy > limit {
                return false;
            }
        }
        self.timing.commit();
        self.energy = energy;
        if score < self.best {
            self.best = score;
            self.improved = Some((score, self.sequence.plan().clone()));
        }
        true
    }

    fn time_energy(&self, (makespan, sum): (u64, u64)) -> f64 {
        (1.0 - MEAN_END) * makespan as f64 + MEAN_END * sum as f64 / self.problem.device_count() as f64
    }
}

/// The last transfer between the two devices in the range: to join it costs no rendezvous of its own.
fn rendezvous(sequence: &Sequence<'_>, [a, b]: [DeviceId; 2], first: usize, last: usize) -> Option<usize> {
    let steps = &sequence.plan().steps;
    (first.max(last.saturating_sub(64))..last).rev().find(|&at| match steps[at] {
        Step::Transfer { tensor, to } => {
            let from = sequence.producer_device(tensor);
            (from, to) == (a, b) || (from, to) == (b, a)
        }
        Step::Run(_) => false,
    })
}
