//! The performance model, fast: one pass over the steps with running counts, no allocation, no hashing.
//!
//! [`check`](crate::check) says the same slowly and independently; a property test holds the two together.

use crate::problem::{Cost, DeviceId, Objective, Plan, Problem, Step, Transfers, Weights};
use labrys_dataflow::{OpId, TensorId};
use labrys_search::Score;

/// Sees every step as it is simulated: for timelines and memory curves. Times are nanoseconds, memory is bytes.
pub trait Observer {
    /// An op ran; its device held `memory` while it did.
    fn ran(&mut self, _op: OpId, _device: DeviceId, _start: u64, _end: u64, _memory: u64) {}
    /// A tensor was transferred; the memory of both ends after the destination has made room for it.
    fn transferred(&mut self, _tensor: TensorId, _ends: [DeviceId; 2], _start: u64, _end: u64, _memory: [u64; 2]) {}
}

impl Observer for () {}

/// Buffers to simulate plans of one problem, again and again: whole plans by [`simulate`](Self::simulate), or step by step
/// while a decoder builds them, by [`start`](Self::start), [`run`](Self::run) and [`transfer`](Self::transfer).
pub struct Simulator<'p> {
    problem: &'p Problem,
    devices: usize,
    track_memory: bool,
    /// Users that a copy of a tensor still has on a device, at `tensor * devices + device`.
    users: Vec<u32>,
    /// When a transferred copy arrives; 0 for copies made where they are.
    arrival: Vec<u64>,
    /// When the last transfer out of a tensor ends.
    sent_until: Vec<u64>,
    finish: Vec<u64>,
    free_at: Vec<u64>,
    link_free: Vec<u64>,
    held: Vec<u64>,
    peaks: Vec<u64>,
    /// Asynchronous only: copies without users that a transfer still reads, per device.
    draining: Vec<Vec<(u64, TensorId)>>,
    /// Whether a device holds a weight already, at `weight * devices + device`.
    weight_held: Vec<bool>,
}

impl<'p> Simulator<'p> {
    /// Allocates the buffers.
    pub fn new(problem: &'p Problem) -> Self {
        Self::with_tracking(problem, true)
    }

    /// Tracks memory only if the score of the problem depends on it; else the peaks of a cost are 0.
    pub fn for_score(problem: &'p Problem) -> Self {
        Self::with_tracking(problem, problem.objective == Objective::PeakMemory || problem.is_memory_limited())
    }

    fn with_tracking(problem: &'p Problem, track_memory: bool) -> Self {
        let (devices, graph) = (problem.device_count(), &problem.graph);
        let copies = graph.tensor_count() * devices;
        let timed = problem.transfers == Transfers::Asynchronous;
        Self {
            problem,
            devices,
            track_memory,
            users: vec![0; if track_memory { copies } else { 0 }],
            arrival: vec![0; if timed { copies } else { 0 }],
            sent_until: vec![0; if timed { graph.tensor_count() } else { 0 }],
            finish: vec![0; graph.op_count()],
            free_at: vec![0; devices],
            link_free: vec![0; devices * devices],
            held: vec![0; devices],
            peaks: vec![0; devices],
            draining: vec![vec![]; devices],
            weight_held: vec![false; if track_memory { graph.weight_count() * devices } else { 0 }],
        }
    }

    /// The problem that this simulates.
    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    /// Time and memory of a valid plan.
    ///
    /// # Panics
    /// May panic or return nonsense for an invalid plan; [`check`](crate::check) tells.
    pub fn simulate(&mut self, plan: &Plan) -> Cost {
        self.observe(plan, &mut ())
    }

    /// The same, showing every step to an observer.
    pub fn observe(&mut self, plan: &Plan, observer: &mut impl Observer) -> Cost {
        self.start(&plan.device);
        for &step in &plan.steps {
            match step {
                Step::Run(op) => self.run(op, &plan.device, observer),
                Step::Transfer { tensor, to } => self.transfer(tensor, to, &plan.device, observer),
            }
        }
        Cost { makespan: self.makespan(), peaks: self.peaks.clone() }
    }

    /// Score of the steps simulated since [`start`](Self::start), without allocation.
    pub fn score(&self) -> Score {
        let value = match self.problem.objective {
            Objective::Makespan => self.makespan(),
            Objective::PeakMemory => self.peaks.iter().copied().max().unwrap_or(0),
        };
        Score { excess: self.problem.excess(&self.peaks), value }
    }

    fn makespan(&self) -> u64 {
        self.free_at.iter().chain(&self.link_free).copied().max().unwrap_or(0)
    }

    /// Forgets all steps and sets the placement of those to come.
    pub fn start(&mut self, device: &[DeviceId]) {
        for buffer in [&mut self.free_at, &mut self.link_free, &mut self.held, &mut self.sent_until, &mut self.arrival]
        {
            buffer.fill(0);
        }
        self.draining.iter_mut().for_each(Vec::clear);
        if self.track_memory && self.problem.weights == Weights::Resident {
            self.hold_weights(device);
        }
        self.peaks.copy_from_slice(&self.held);
    }

    fn hold_weights(&mut self, device_of: &[DeviceId]) {
        let graph = &self.problem.graph;
        self.weight_held.fill(false);
        for op in graph.ops() {
            let device = device_of[op.0 as usize].0 as usize;
            for weight in graph.reads(op) {
                let held = &mut self.weight_held[weight.0 as usize * self.devices + device];
                if !std::mem::replace(held, true) {
                    self.held[device] += graph.weight_bytes(*weight);
                }
            }
        }
    }

    /// Runs an op; `device_of` is the placement given to [`start`](Self::start).
    #[inline]
    pub fn run(&mut self, op: OpId, device_of: &[DeviceId], observer: &mut impl Observer) {
        let problem = self.problem;
        let graph = &*problem.graph;
        let device = device_of[op.0 as usize];
        let d = device.0 as usize;
        let mut start = self.free_at[d];
        for before in graph.control(op) {
            start = start.max(self.finish[before.0 as usize]);
        }
        if problem.transfers == Transfers::Asynchronous {
            for tensor in graph.inputs(op) {
                start = start.max(self.arrival[tensor.0 as usize * self.devices + d]);
            }
            if self.track_memory {
                self.drain(d, start);
            }
        }
        let end = start + problem.time(op, device);
        self.free_at[d] = end;
        self.finish[op.0 as usize] = end;
        let memory = if self.track_memory { self.hold(op, d, end, device_of) } else { 0 };
        observer.ran(op, device, start, end, memory);
    }

    /// Memory of device `d` while `op` runs; then its inputs have one user less.
    #[inline]
    fn hold(&mut self, op: OpId, d: usize, end: u64, device_of: &[DeviceId]) -> u64 {
        let graph = &*self.problem.graph;
        for &tensor in graph.outputs(op) {
            self.held[d] += graph.bytes(tensor);
            self.count_users(tensor, d, device_of);
        }
        let memory = self.held[d] + graph.scratch(op);
        self.peaks[d] = self.peaks[d].max(memory);
        for &tensor in graph.inputs(op) {
            self.release(tensor, d, end, device_of);
        }
        for &tensor in graph.outputs(op) {
            let unused = self.users[tensor.0 as usize * self.devices + d] == 0;
            self.held[d] -= if unused { graph.bytes(tensor) } else { 0 };
        }
        memory
    }

    /// Users of each copy of a tensor: local consumers, on the producer's device also the transfers out, and the end of the run
    /// for outputs.
    #[inline]
    fn count_users(&mut self, tensor: TensorId, home: usize, device_of: &[DeviceId]) {
        let graph = &*self.problem.graph;
        let row = &mut self.users[tensor.0 as usize * self.devices..][..self.devices];
        let consumers = graph.consumers(tensor);
        if let [first, second] = row {
            // The common case without a store per consumer.
            *second = consumers.iter().map(|c| device_of[c.0 as usize].0).sum();
            *first = consumers.len() as u32 - *second;
        } else {
            row.fill(0);
            consumers.iter().for_each(|c| row[device_of[c.0 as usize].0 as usize] += 1);
        }
        let destinations: u32 = row.iter().map(|&users| u32::from(users > 0)).sum();
        row[home] += destinations - u32::from(row[home] > 0) + u32::from(graph.is_kept(tensor));
    }

    /// Transfers a tensor from its producer's device.
    #[inline]
    pub fn transfer(&mut self, tensor: TensorId, to: DeviceId, device_of: &[DeviceId], observer: &mut impl Observer) {
        let problem = self.problem;
        let graph = &*problem.graph;
        let from = device_of[graph.producer(tensor).0 as usize];
        let (f, t) = (from.0 as usize, to.0 as usize);
        let link = f * self.devices + t;
        let mut start = self.free_at[f].max(self.free_at[t]);
        if problem.transfers == Transfers::Asynchronous {
            start = start.max(self.link_free[link]);
            if self.track_memory {
                self.drain(f, self.free_at[f]);
                self.drain(t, self.free_at[t]);
            }
        }
        let end = start + problem.transfer_time(tensor, from, to);
        if problem.transfers == Transfers::Asynchronous {
            self.link_free[link] = end;
            self.arrival[tensor.0 as usize * self.devices + t] = end;
            let sent = &mut self.sent_until[tensor.0 as usize];
            *sent = end.max(*sent);
        } else {
            (self.free_at[f], self.free_at[t]) = (end, end);
        }
        if self.track_memory {
            self.held[t] += graph.bytes(tensor);
            self.peaks[t] = self.peaks[t].max(self.held[t]);
        }
        observer.transferred(tensor, [from, to], start, end, [self.held[f], self.held[t]]);
        if self.track_memory {
            self.release(tensor, f, self.free_at[f], device_of);
        }
    }

    /// One user of a copy is done at time `now`; the last one frees it, unless a transfer still reads it.
    #[inline]
    fn release(&mut self, tensor: TensorId, device: usize, now: u64, device_of: &[DeviceId]) {
        let graph = &self.problem.graph;
        let users = &mut self.users[tensor.0 as usize * self.devices + device];
        *users -= 1;
        // Whether this was the last user is a coin toss: compute with it rather than branch.
        let last = *users == 0;
        if last & (self.problem.transfers == Transfers::Asynchronous) {
            let home = device_of[graph.producer(tensor).0 as usize].0 as usize;
            let until = self.sent_until[tensor.0 as usize];
            if device == home && until > now {
                self.draining[device].push((until, tensor));
                return;
            }
        }
        self.held[device] -= if last { graph.bytes(tensor) } else { 0 };
    }

    /// Frees the copies whose last transfer out has ended by `now`.
    fn drain(&mut self, device: usize, now: u64) {
        let (graph, held) = (&self.problem.graph, &mut self.held[device]);
        self.draining[device].retain(|&(until, tensor)| {
            let done = until <= now;
            if done {
                *held -= graph.bytes(tensor);
            }
            !done
        });
    }
}
