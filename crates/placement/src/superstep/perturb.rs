//! Local search over random keys that perturb the b-level of every op, each decoded by list scheduling.

use super::THRESHOLDS;
use super::arcs::Arcs;
use super::list::ListDecoder;
use super::priority::Priorities;
use super::schedule::Schedule;
use crate::problem::{Plan, Problem};
use crate::simulate::Simulator;
use labrys_search::seed::Rng;
use labrys_search::{Runner, Stopwatch};
use rand::RngExt as _;
use rayon::prelude::*;

/// Largest key of each walk, as a share of the critical path. Independent walks, whatever the number of threads, so that the
/// result does not depend on it.
const AMPLITUDES: [f64; 4] = [0.03, 0.06, 0.12, 0.25];
/// Share of the keys that a step of a walk draws anew.
const MUTATION: f64 = 0.1;
/// Ops that a walk decodes between two looks at the limits.
const ROUND_OPS: usize = 50_000;

/// Improves until the runner stops. One decoded order is one unit of work.
pub fn perturb(problem: &Problem, run: &mut Runner<Plan>) {
    let arcs = Arcs::new(&problem.graph);
    let priorities = Priorities::new(problem);
    let mut walks: Vec<Walk<'_>> = (0..AMPLITUDES.len())
        .map(|number| {
            Walk::new(problem, &arcs, &priorities, number, run.seed().stream("superstep-keys", number as u64))
        })
        .collect();
    let round = (ROUND_OPS / problem.graph.op_count()).max(1) as u64;
    let mut simulator = Simulator::new(problem);
    while !run.should_stop() {
        let evaluations = round.min(run.work_left().div_ceil(walks.len() as u64));
        let stopwatch = run.stopwatch();
        walks.par_iter_mut().for_each(|walk| walk.advance(evaluations, &stopwatch));
        run.spend(evaluations * walks.len() as u64);
        for schedule in walks.iter_mut().filter_map(|walk| walk.improved.take()) {
            let plan = schedule.plan(problem);
            let score = problem.score(&simulator.simulate(&plan));
            run.offer(score, "random keys", || plan);
        }
    }
}

/// A walk to neighbours that are not worse.
struct Walk<'a> {
    priorities: &'a Priorities,
    decoder: ListDecoder<'a>,
    rng: Rng,
    amplitude: u64,
    /// What is added to the b-level of each op, in nanoseconds; and the keys to try next.
    keys: Vec<u64>,
    candidate: Vec<u64>,
    makespan: u64,
    /// The best schedule, if it is new since the last look.
    improved: Option<Schedule>,
}

impl<'a> Walk<'a> {
    fn new(problem: &'a Problem, arcs: &'a Arcs, priorities: &'a Priorities, number: usize, mut rng: Rng) -> Self {
        let amplitude = (AMPLITUDES[number] * priorities.critical_path as f64) as u64;
        let keys: Vec<u64> = problem.graph.ops().map(|_| rng.random_range(0..=amplitude)).collect();
        Self {
            priorities,
            decoder: ListDecoder::new(problem, arcs),
            rng,
            amplitude,
            candidate: keys.clone(),
            keys,
            makespan: u64::MAX,
            improved: None,
        }
    }

    fn advance(&mut self, evaluations: u64, stopwatch: &Stopwatch) {
        for _ in 0..evaluations {
            self.step();
            if stopwatch.rings() {
                return;
            }
        }
    }

    fn step(&mut self) {
        if self.makespan < u64::MAX {
            for (candidate, key) in self.candidate.iter_mut().zip(&self.keys) {
                let draw = self.rng.random_bool(MUTATION);
                *candidate = if draw { self.rng.random_range(0..=self.amplitude) } else { *key };
            }
        }
        let (b_level, keys) = (&self.priorities.b_level, &self.candidate);
        self.decoder.rank_by(|op| b_level[op.0 as usize] + keys[op.0 as usize]);
        let share = THRESHOLDS[self.rng.random_range(0..THRESHOLDS.len())];
        let makespan = self.decoder.decode((share * self.priorities.mean as f64) as u64);
        if makespan <= self.makespan {
            std::mem::swap(&mut self.keys, &mut self.candidate);
        }
        if makespan < self.makespan {
            self.makespan = makespan;
            self.improved = Some(self.decoder.schedule().clone());
        }
    }
}
