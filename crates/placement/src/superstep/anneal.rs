//! Simulated annealing of the assignment of ops to super-steps and devices.
//!
//! The energy is the sum over super-steps of the greatest load. It is not below the makespan of the plan, because control edges
//! between devices are kept to different super-steps here, and rendezvous without transfers are counted. A move changes two
//! super-steps, so it costs O(degree + devices) whatever the size of the graph.

use super::priority::{Priorities, fastest_times};
use super::schedule::{Event, Schedule};
use crate::problem::{DeviceId, Plan, Problem, Step};
use crate::simulate::Simulator;
use labrys_dataflow::OpId;
use labrys_search::Runner;
use labrys_search::anneal::{Schedule as Cooling, accept};
use labrys_search::seed::Rng;
use rand::RngExt as _;
use rayon::prelude::*;

/// Independent walks, whatever the number of threads, so that the result does not depend on it.
const WALKS: u64 = 2;
/// Moves of a walk between two looks at the limits and at the best state; at least one an op.
const ROUND: usize = 8192;
/// Temperature as a share of the mean run time of an op.
const COOLING: Cooling = Cooling { start: 0.05, end: 0.002 };
/// How many super-steps a move reaches.
const REACH: i64 = 6;

/// Improves `start` until the runner stops. One move is one unit of work; the temperature follows the runner's progress.
pub fn anneal(problem: &Problem, start: &Plan, run: &mut Runner<Plan>) {
    let b_level = Priorities::new(problem).b_level;
    let mut walks: Vec<Walk<'_>> =
        (0..WALKS).map(|i| Walk::new(State::new(problem, start), run.seed().stream("superstep-anneal", i))).collect();
    let mean = fastest_times(problem).iter().sum::<u64>() as f64 / problem.graph.op_count() as f64;
    let round = ROUND.max(problem.graph.op_count()) as u64;
    let mut simulator = Simulator::new(problem);
    let begun = run.progress();
    while !run.should_stop() {
        let progress = (run.progress() - begun) / (1.0 - begun).max(1e-9);
        let temperature = mean.max(1.0) * COOLING.temperature(progress);
        let moves = round.min(run.work_left().div_ceil(WALKS));
        walks.par_iter_mut().for_each(|walk| walk.advance(moves, temperature));
        run.spend(moves * WALKS);
        for walk in &mut walks {
            if walk.state.energy < walk.best {
                walk.best = walk.state.energy;
                let plan = walk.state.schedule(&b_level).plan(problem);
                let score = problem.score(&simulator.simulate(&plan));
                run.offer(score, "super-step annealing", || plan);
            }
        }
    }
}

/// Where an op runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Slot {
    step: i64,
    device: u32,
}

/// An assignment with its loads.
struct State<'a> {
    problem: &'a Problem,
    devices: usize,
    steps: i64,
    slot: Vec<Slot>,
    /// Nanoseconds of work at `step * devices + device`.
    load: Vec<u64>,
    energy: u64,
}

impl<'a> State<'a> {
    /// The super-steps of a plan, with an empty one after each for the walk to fill.
    fn new(problem: &'a Problem, plan: &Plan) -> Self {
        let devices = problem.device_count();
        let mut slot = vec![Slot { step: 0, device: 0 }; plan.device.len()];
        let (mut step, mut meeting) = (1, false);
        for &what in &plan.steps {
            match what {
                Step::Transfer { .. } => meeting = true,
                Step::Run(op) => {
                    let device = plan.device[op.0 as usize].0;
                    let waits = |p: &OpId| slot[p.0 as usize].step == step && slot[p.0 as usize].device != device;
                    meeting |= problem.graph.control(op).iter().any(waits);
                    step += 2 * i64::from(std::mem::take(&mut meeting));
                    slot[op.0 as usize] = Slot { step, device: plan.device[op.0 as usize].0 };
                }
            }
        }
        let steps = step + 2;
        let mut load = vec![0; steps as usize * devices];
        for op in problem.graph.ops() {
            let Slot { step, device } = slot[op.0 as usize];
            load[step as usize * devices + device as usize] += problem.time(op, DeviceId(device));
        }
        let energy = load.chunks_exact(devices).map(|loads| loads.iter().copied().max().unwrap_or(0)).sum();
        Self { problem, devices, steps, slot, load, energy }
    }

    /// The first and last super-step that an op can be in on a device while all others stay.
    #[inline]
    fn window(&self, op: OpId, device: u32) -> (i64, i64) {
        let at = |op: &OpId| self.slot[op.0 as usize];
        let (mut first, mut last) = (0, self.steps - 1);
        for pred in self.problem.graph.preds(op).iter().map(at) {
            first = first.max(pred.step + i64::from(pred.device != device));
        }
        for succ in self.problem.graph.succs(op).iter().map(at) {
            last = last.min(succ.step - i64::from(succ.device != device));
        }
        (first, last)
    }

    #[inline]
    fn peak(&self, step: i64) -> u64 {
        self.load[step as usize * self.devices..][..self.devices].iter().copied().max().unwrap_or(0)
    }

    /// Puts an op elsewhere.
    #[inline]
    fn relocate(&mut self, op: OpId, to: Slot) {
        let from = std::mem::replace(&mut self.slot[op.0 as usize], to);
        let steps = |state: &Self| state.peak(from.step) + if to.step == from.step { 0 } else { state.peak(to.step) };
        let before = steps(self);
        self.load[from.step as usize * self.devices + from.device as usize] -=
            self.problem.time(op, DeviceId(from.device));
        self.load[to.step as usize * self.devices + to.device as usize] += self.problem.time(op, DeviceId(to.device));
        self.energy = self.energy - before + steps(self);
    }

    /// The super-steps in order; within one, ops by falling b-level, which is a topological order.
    fn schedule(&self, b_level: &[u64]) -> Schedule {
        let mut order: Vec<OpId> = self.problem.graph.topological().to_vec();
        order.sort_by_key(|op| (self.slot[op.0 as usize].step, std::cmp::Reverse(b_level[op.0 as usize])));
        let device = self.slot.iter().map(|slot| DeviceId(slot.device)).collect();
        let mut schedule = Schedule { device, ..Schedule::default() };
        let mut step = 0;
        for op in order {
            let now = self.slot[op.0 as usize].step;
            if now != step && !schedule.events.is_empty() {
                schedule.meet(self.problem.device_ids());
            }
            step = now;
            schedule.events.push(Event::Run(op));
        }
        schedule
    }
}

struct Walk<'a> {
    state: State<'a>,
    rng: Rng,
    /// Least energy that was looked at.
    best: u64,
}

impl<'a> Walk<'a> {
    fn new(state: State<'a>, rng: Rng) -> Self {
        Self { best: u64::MAX, state, rng }
    }

    fn advance(&mut self, moves: u64, temperature: f64) {
        for _ in 0..moves {
            if self.rng.random_bool(0.5) {
                self.try_move(temperature);
            } else {
                self.try_swap(temperature);
            }
        }
    }

    fn random_op(&mut self) -> OpId {
        OpId(self.rng.random_range(0..self.state.slot.len() as u32))
    }

    /// Moves an op to a random device and super-step nearby.
    fn try_move(&mut self, temperature: f64) {
        let op = self.random_op();
        let device = self.rng.random_range(0..self.state.devices as u32);
        let from = self.state.slot[op.0 as usize];
        let (first, last) = self.state.window(op, device);
        let (first, last) = (first.max(from.step - REACH), last.min(from.step + REACH));
        if first > last {
            return;
        }
        let to = Slot { step: self.rng.random_range(first..=last), device };
        if to == from {
            return;
        }
        let before = self.state.energy;
        self.state.relocate(op, to);
        if !accept(self.state.energy as f64 - before as f64, temperature, &mut self.rng) {
            self.state.relocate(op, from);
        }
    }

    /// Exchanges the places of two ops in neighbouring super-steps.
    fn try_swap(&mut self, temperature: f64) {
        let (a, b) = (self.random_op(), self.random_op());
        let (at_a, at_b) = (self.state.slot[a.0 as usize], self.state.slot[b.0 as usize]);
        if at_a == at_b || (at_a.step - at_b.step).abs() > REACH {
            return;
        }
        let before = self.state.energy;
        if !self.fits(a, at_b) {
            return;
        }
        self.state.relocate(a, at_b);
        let fits = self.fits(b, at_a);
        if fits {
            self.state.relocate(b, at_a);
            if accept(self.state.energy as f64 - before as f64, temperature, &mut self.rng) {
                return;
            }
            self.state.relocate(b, at_b);
        }
        self.state.relocate(a, at_a);
    }

    fn fits(&self, op: OpId, slot: Slot) -> bool {
        let (first, last) = self.state.window(op, slot.device);
        (first..=last).contains(&slot.step)
    }
}
