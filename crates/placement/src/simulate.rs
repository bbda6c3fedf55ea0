//! The performance model, fast: one pass over the steps with running counts, no allocation, no hashing.
//!
//! [`check`](crate::check) says the same slowly and independently; a property test holds the two together.

use crate::problem::{Cost, DeviceId, Plan, Problem, Step, Transfers, Weights};
use labrys_dataflow::{OpId, TensorId};

/// Sees every step as it is simulated: for timelines and memory curves. Times are nanoseconds, memory is bytes.
pub trait Observer {
    /// An op ran; its device held `memory` while it did.
    fn ran(&mut self, _op: OpId, _device: DeviceId, _start: u64, _end: u64, _memory: u64) {}
    /// A tensor was transferred; the memory of both ends after the destination has made room for it.
    fn transferred(&mut self, _tensor: TensorId, _ends: [DeviceId; 2], _start: u64, _end: u64, _memory: [u64; 2]) {}
}

impl Observer for () {}

/// Buffers to simulate plans of one problem, again and again.
pub struct Simulator<'p> {
    problem: &'p Problem,
    devices: usize,
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
        let (devices, graph) = (problem.device_count(), &problem.graph);
        let copies = graph.tensor_count() * devices;
        let timed = problem.transfers == Transfers::Asynchronous;
        Self {
            problem,
            devices,
            users: vec![0; copies],
            arrival: vec![0; if timed { copies } else { 0 }],
            sent_until: vec![0; if timed { graph.tensor_count() } else { 0 }],
            finish: vec![0; graph.op_count()],
            free_at: vec![0; devices],
            link_free: vec![0; devices * devices],
            held: vec![0; devices],
            peaks: vec![0; devices],
            draining: vec![vec![]; devices],
            weight_held: vec![false; graph.weight_count() * devices],
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
        self.reset(plan);
        for &step in &plan.steps {
            match step {
                Step::Run(op) => self.run(op, plan, observer),
                Step::Transfer { tensor, to } => self.transfer(tensor, to, plan, observer),
            }
        }
        let in_flight = self.link_free.iter().copied();
        Cost { makespan: self.free_at.iter().copied().chain(in_flight).max().unwrap_or(0), peaks: self.peaks.clone() }
    }

    fn reset(&mut self, plan: &Plan) {
        for buffer in [&mut self.free_at, &mut self.link_free, &mut self.held, &mut self.sent_until, &mut self.arrival]
        {
            buffer.fill(0);
        }
        self.draining.iter_mut().for_each(Vec::clear);
        self.count_users(plan);
        if self.problem.weights == Weights::Resident {
            self.hold_weights(plan);
        }
        self.peaks.copy_from_slice(&self.held);
    }

    /// Users of a copy: local consumers, on the producer's device also the transfers out, and the end of the run for outputs.
    fn count_users(&mut self, plan: &Plan) {
        self.users.fill(0);
        let graph = &self.problem.graph;
        for tensor in graph.tensors() {
            let row = &mut self.users[tensor.0 as usize * self.devices..][..self.devices];
            let home = plan.device[graph.producer(tensor).0 as usize].0 as usize;
            for consumer in graph.consumers(tensor) {
                row[plan.device[consumer.0 as usize].0 as usize] += 1;
            }
            let destinations = row.iter().enumerate().filter(|&(d, &users)| d != home && users > 0).count();
            row[home] += destinations as u32 + u32::from(graph.is_kept(tensor));
        }
    }

    fn hold_weights(&mut self, plan: &Plan) {
        let graph = &self.problem.graph;
        self.weight_held.fill(false);
        for op in graph.ops() {
            let device = plan.device[op.0 as usize].0 as usize;
            for weight in graph.reads(op) {
                let held = &mut self.weight_held[weight.0 as usize * self.devices + device];
                if !std::mem::replace(held, true) {
                    self.held[device] += graph.weight_bytes(*weight);
                }
            }
        }
    }

    #[inline]
    fn run(&mut self, op: OpId, plan: &Plan, observer: &mut impl Observer) {
        let problem = self.problem;
        let graph = &*problem.graph;
        let device = plan.device[op.0 as usize];
        let d = device.0 as usize;
        let mut start = self.free_at[d];
        for before in graph.control(op) {
            start = start.max(self.finish[before.0 as usize]);
        }
        if problem.transfers == Transfers::Asynchronous {
            for tensor in graph.inputs(op) {
                start = start.max(self.arrival[tensor.0 as usize * self.devices + d]);
            }
            self.drain(d, start);
        }
        let end = start + problem.time(op, device);
        self.free_at[d] = end;
        self.finish[op.0 as usize] = end;
        for &tensor in graph.outputs(op) {
            self.held[d] += graph.bytes(tensor);
        }
        let memory = self.held[d] + graph.scratch(op);
        self.peaks[d] = self.peaks[d].max(memory);
        for &tensor in graph.inputs(op) {
            self.release(tensor, d, end, plan);
        }
        for &tensor in graph.outputs(op) {
            if self.users[tensor.0 as usize * self.devices + d] == 0 {
                self.held[d] -= graph.bytes(tensor);
            }
        }
        observer.ran(op, device, start, end, memory);
    }

    #[inline]
    fn transfer(&mut self, tensor: TensorId, to: DeviceId, plan: &Plan, observer: &mut impl Observer) {
        let problem = self.problem;
        let graph = &*problem.graph;
        let from = plan.device[graph.producer(tensor).0 as usize];
        let (f, t) = (from.0 as usize, to.0 as usize);
        let link = f * self.devices + t;
        let mut start = self.free_at[f].max(self.free_at[t]);
        if problem.transfers == Transfers::Asynchronous {
            start = start.max(self.link_free[link]);
            self.drain(f, self.free_at[f]);
            self.drain(t, self.free_at[t]);
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
        self.held[t] += graph.bytes(tensor);
        self.peaks[t] = self.peaks[t].max(self.held[t]);
        observer.transferred(tensor, [from, to], start, end, [self.held[f], self.held[t]]);
        self.release(tensor, f, self.free_at[f], plan);
    }

    /// One user of a copy is done at time `now`; the last one frees it, unless a transfer still reads it.
    #[inline]
    fn release(&mut self, tensor: TensorId, device: usize, now: u64, plan: &Plan) {
        let graph = &self.problem.graph;
        let users = &mut self.users[tensor.0 as usize * self.devices + device];
        *users -= 1;
        if *users > 0 {
            return;
        }
        if self.problem.transfers == Transfers::Asynchronous {
            let home = plan.device[graph.producer(tensor).0 as usize].0 as usize;
            let until = self.sent_until[tensor.0 as usize];
            if device == home && until > now {
                self.draining[device].push((until, tensor));
                return;
            }
        }
        self.held[device] -= graph.bytes(tensor);
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
