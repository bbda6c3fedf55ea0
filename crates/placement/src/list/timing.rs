//! The times of a plan that changes little by little: simulates only from the first change on, and only until nothing differs.

use super::sequence::{Changed, Sequence};
use crate::problem::{Problem, Step, Transfers};
use crate::superstep::arcs::Arcs;
use labrys_dataflow::OpId;
use labrys_graph::Csr;

/// Steps between two checkpoints.
const INTERVAL: usize = 16;

/// Times of the current plan, and of the one under trial.
///
/// Memory is not looked at; [`Simulator`](crate::Simulator) gives the exact cost.
pub(crate) struct Timing<'p> {
    problem: &'p Problem,
    devices: usize,
    asynchronous: bool,
    /// Longest time from the end of an op to the end of the run, over the fastest devices.
    tail: Vec<u64>,
    /// Ops that wait for the end of an op, but for no tensor of it.
    control: Csr<OpId>,
    finish: Vec<u64>,
    /// Asynchronous: arrival of each copy at `tensor * devices + device`; 0 where it was produced.
    arrival: Vec<u64>,
    /// When each device is free; asynchronous: followed by when each link is free.
    state: Vec<u64>,
    /// The state before each step whose number is a multiple of the interval, back to back; and the same under trial.
    checkpoints: Vec<u64>,
    trial: Vec<u64>,
    first_trial: usize,
    /// Whether the trial went to the last step: it did not if nothing differed from some step on.
    reached_end: bool,
    /// Old values of `finish` and `arrival`, to take a trial back.
    old_finish: Vec<(u32, u64)>,
    old_arrival: Vec<(usize, u64)>,
    /// The state after the last step of the current plan.
    end: Vec<u64>,
}

impl<'p> Timing<'p> {
    /// `tail` as in [`Timing::tail`].
    pub fn new(problem: &'p Problem, tail: Vec<u64>) -> Self {
        let devices = problem.device_count();
        let asynchronous = problem.transfers == Transfers::Asynchronous;
        let width = if asynchronous { devices + devices * devices } else { devices };
        Self {
            problem,
            devices,
            asynchronous,
            tail,
            control: Arcs::new(&problem.graph).control,
            finish: vec![0; problem.graph.op_count()],
            arrival: vec![0; if asynchronous { problem.graph.tensor_count() * devices } else { 0 }],
            state: vec![0; width],
            checkpoints: vec![],
            trial: vec![],
            first_trial: 0,
            reached_end: false,
            old_finish: vec![],
            old_arrival: vec![],
            end: vec![0; width],
        }
    }

    /// When the current plan ends, and the sum over devices of when each has finished.
    pub fn ends(&self) -> (u64, u64) {
        ends(&self.end, self.devices)
    }

    /// Times a plan from scratch.
    pub fn restart(&mut self, sequence: &Sequence<'_>) -> u64 {
        self.checkpoints.clear();
        let everything = Changed { start: 0, end: sequence.plan().steps.len(), shift: 1 };
        self.try_change(sequence, everything, u64::MAX);
        self.commit();
        self.ends().0
    }

    /// Times the plan after a change; `None` as soon as it is clear that it ends after `limit`. Then, or if the caller does not
    /// want the change, it must call [`roll_back`](Self::roll_back), else [`commit`](Self::commit).
    pub fn try_change(&mut self, sequence: &Sequence<'_>, changed: Changed, limit: u64) -> Option<(u64, u64)> {
        let width = self.state.len();
        let steps = &sequence.plan().steps;
        self.first_trial = changed.start / INTERVAL;
        self.trial.clear();
        self.old_finish.clear();
        self.old_arrival.clear();
        self.reached_end = false;
        match self.checkpoints.get(self.first_trial * width..(self.first_trial + 1) * width) {
            Some(state) => self.state.copy_from_slice(state),
            None => self.state.fill(0),
        }
        // Up to here a later step may depend on a time that has changed.
        let mut settled = changed.end;
        let first = self.first_trial * INTERVAL;
        for (at, &step) in steps.iter().enumerate().skip(first) {
            if at % INTERVAL == 0 {
                if changed.shift == 0 && at >= settled && self.is_as_before(at / INTERVAL) {
                    return Some(self.ends());
                }
                self.trial.extend_from_slice(&self.state);
            }
            let end = match step {
                Step::Run(op) => self.run(op, sequence, changed.shift, &mut settled),
                Step::Transfer { .. } => self.transfer(step, sequence, changed.shift, &mut settled),
            };
            if end > limit {
                return None;
            }
        }
        self.reached_end = true;
        Some(ends(&self.state, self.devices))
    }

    fn is_as_before(&self, checkpoint: usize) -> bool {
        let width = self.state.len();
        self.checkpoints.get(checkpoint * width..(checkpoint + 1) * width) == Some(&self.state[..])
    }

    /// Runs an op and returns the earliest end of the whole run that its own end allows.
    #[inline]
    fn run(&mut self, op: OpId, sequence: &Sequence<'_>, shift: isize, settled: &mut usize) -> u64 {
        let graph = &self.problem.graph;
        let device = sequence.device(op);
        let d = device.0 as usize;
        let mut start = self.state[d];
        for before in graph.control(op) {
            start = start.max(self.finish[before.0 as usize]);
        }
        if self.asynchronous {
            for tensor in graph.inputs(op) {
                start = start.max(self.arrival[tensor.0 as usize * self.devices + d]);
            }
        }
        let end = start + self.problem.time(op, device);
        self.state[d] = end;
        let old = std::mem::replace(&mut self.finish[op.0 as usize], end);
        if old != end {
            self.old_finish.push((op.0, old));
            if shift == 0 {
                let waiting = self.control.row(op.0 as usize).iter().map(|&next| sequence.op_at(next) + 1);
                *settled = waiting.fold(*settled, usize::max);
            }
        }
        if self.asynchronous {
            for tensor in graph.outputs(op) {
                self.set_arrival(tensor.0 as usize * self.devices + d, 0);
            }
        }
        end + self.tail[op.0 as usize]
    }

    #[inline]
    fn transfer(&mut self, step: Step, sequence: &Sequence<'_>, shift: isize, settled: &mut usize) -> u64 {
        let Step::Transfer { tensor, to } = step else { return 0 };
        let from = sequence.device(self.problem.graph.producer(tensor));
        let (f, t) = (from.0 as usize, to.0 as usize);
        let mut start = self.state[f].max(self.state[t]);
        if !self.asynchronous {
            let end = start + self.problem.transfer_time(tensor, from, to);
            (self.state[f], self.state[t]) = (end, end);
            return end;
        }
        let link = self.devices + f * self.devices + t;
        start = start.max(self.state[link]);
        let end = start + self.problem.transfer_time(tensor, from, to);
        self.state[link] = end;
        if self.set_arrival(tensor.0 as usize * self.devices + t, end) && shift == 0 {
            let consumers = self.problem.graph.consumers(tensor).iter();
            *settled = consumers.map(|&next| sequence.op_at(next) + 1).fold(*settled, usize::max);
        }
        end
    }

    /// Says whether it is new.
    fn set_arrival(&mut self, copy: usize, time: u64) -> bool {
        let old = std::mem::replace(&mut self.arrival[copy], time);
        if old != time {
            self.old_arrival.push((copy, old));
        }
        old != time
    }

    /// Keeps the change that was tried last.
    pub fn commit(&mut self) {
        let start = self.first_trial * self.state.len();
        if self.reached_end {
            self.checkpoints.truncate(start);
            self.checkpoints.append(&mut self.trial);
            self.end.copy_from_slice(&self.state);
        } else {
            self.checkpoints[start..start + self.trial.len()].copy_from_slice(&self.trial);
        }
    }

    /// Takes the change that was tried last back.
    pub fn roll_back(&mut self) {
        for (op, time) in self.old_finish.drain(..).rev() {
            self.finish[op as usize] = time;
        }
        for (copy, time) in self.old_arrival.drain(..).rev() {
            self.arrival[copy] = time;
        }
    }
}

fn ends(state: &[u64], devices: usize) -> (u64, u64) {
    (state.iter().copied().max().unwrap_or(0), state[..devices].iter().sum())
}
