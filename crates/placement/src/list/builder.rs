//! A plan under construction: what it costs to run an op next on a device, under the exact model of time.

use crate::problem::{DeviceId, Plan, Problem, Step, Transfers, Weights};
use labrys_dataflow::{OpId, TensorId};

/// What running an op next on a device would mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Offer {
    /// When it would start and end, in nanoseconds.
    pub start: u64,
    pub end: u64,
    /// By how much its transfers would hold up the devices that send, in nanoseconds summed over them.
    pub delay: u64,
    /// Bytes that the device would hold above its limit. An estimate from above: it takes every consumer to come for local.
    pub excess: u64,
}

/// A transfer that an op still needs.
#[derive(Clone, Copy)]
struct Missing {
    tensor: TensorId,
    from: usize,
    /// From when on the sender could send, in nanoseconds.
    from_time: u64,
}

/// When a copy is not there and not under way.
const ABSENT: u64 = u64::MAX;

/// Builds a plan op by op, with the transfers each needs.
///
/// Synchronous transfers are appended just before the op. Asynchronous ones start as soon as tensor and link are free, even if
/// that is in the past of both devices: they take no time from them, so that the order of steps can be settled at the end.
pub(crate) struct Builder<'p> {
    problem: &'p Problem,
    devices: usize,
    asynchronous: bool,
    free: Vec<u64>,
    /// Asynchronous: from when on a link is free, at `from * devices + to`.
    link_free: Vec<u64>,
    finish: Vec<u64>,
    device: Vec<DeviceId>,
    /// When a copy is there, at `tensor * devices + device`.
    arrival: Vec<u64>,
    /// Each step with the time that it is sorted by: the end of an op, the start of a transfer.
    steps: Vec<(u64, Step)>,
    memory: Option<Memory>,
    missing: Vec<Missing>,
    /// Copies of `free`, or of the links to one device, to try a placement on.
    trial: Vec<u64>,
}

impl<'p> Builder<'p> {
    pub fn new(problem: &'p Problem) -> Self {
        let (devices, graph) = (problem.device_count(), &problem.graph);
        Self {
            problem,
            devices,
            asynchronous: problem.transfers == Transfers::Asynchronous,
            free: vec![0; devices],
            link_free: vec![0; devices * devices],
            finish: vec![0; graph.op_count()],
            device: vec![DeviceId(0); graph.op_count()],
            arrival: vec![ABSENT; graph.tensor_count() * devices],
            steps: vec![],
            memory: problem.is_memory_limited().then(|| Memory::new(problem)),
            missing: vec![],
            trial: vec![0; devices],
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.free.fill(0);
        self.link_free.fill(0);
        self.arrival.fill(ABSENT);
        self.steps.clear();
        if let Some(memory) = &mut self.memory {
            memory.reset(self.problem);
        }
    }

    /// When the last step so far ends.
    pub fn makespan(&self) -> u64 {
        self.free.iter().copied().max().unwrap_or(0)
    }

    /// When a device has finished all it has.
    pub fn free_at(&self, device: DeviceId) -> u64 {
        self.free[device.0 as usize]
    }

    /// What it would mean to run `op`, whose predecessors have run, on `device` next.
    pub fn offer(&mut self, op: OpId, device: DeviceId) -> Offer {
        let to = device.0 as usize;
        self.collect_missing(op, to);
        let (ready, delay) = if self.asynchronous { (self.try_links(to), 0) } else { self.try_rendezvous(to) };
        let start = self.inputs_there(op, to).max(ready);
        let bytes = |missing: &Missing| self.problem.graph.bytes(missing.tensor);
        let received = || self.missing.iter().map(bytes).sum();
        let excess = self.memory.as_ref().map_or(0, |memory| memory.excess(self.problem, op, device, received()));
        Offer { start, end: start + self.problem.time(op, device), delay, excess }
    }

    /// Runs `op` on `device` next.
    pub fn place(&mut self, op: OpId, device: DeviceId) {
        let to = device.0 as usize;
        self.collect_missing(op, to);
        let missing = std::mem::take(&mut self.missing);
        for transfer in &missing {
            self.send(transfer, device);
        }
        self.missing = missing;
        let end = self.inputs_there(op, to).max(self.free[to]) + self.problem.time(op, device);
        self.free[to] = end;
        self.finish[op.0 as usize] = end;
        self.device[op.0 as usize] = device;
        for tensor in self.problem.graph.outputs(op) {
            self.arrival[tensor.0 as usize * self.devices + to] = end;
        }
        self.steps.push((end, Step::Run(op)));
        if let Some(memory) = &mut self.memory {
            memory.run(self.problem, op, device, &self.arrival);
        }
    }

    /// The plan, once all ops have been placed.
    pub fn plan(&self) -> Plan {
        let mut steps = self.steps.clone();
        if self.asynchronous {
            // Stable, so that steps of no length stay in the order in which they were made.
            steps.sort_by_key(|(time, _)| *time);
        }
        Plan { device: self.device.clone(), steps: steps.into_iter().map(|(_, step)| step).collect() }
    }

    /// The transfers that `op` needs on device `to`, those first whose sender is free first.
    fn collect_missing(&mut self, op: OpId, to: usize) {
        let graph = &self.problem.graph;
        self.missing.clear();
        for &tensor in graph.inputs(op) {
            if self.arrival[tensor.0 as usize * self.devices + to] == ABSENT {
                let producer = graph.producer(tensor).0 as usize;
                let from = self.device[producer].0 as usize;
                let from_time = if self.asynchronous { self.finish[producer] } else { self.free[from] };
                self.missing.push(Missing { tensor, from, from_time });
            }
        }
        if self.missing.len() > 1 {
            self.missing.sort_unstable_by_key(|missing| (missing.from_time, missing.tensor));
        }
    }

    /// When the copies that are on the device or under way to it have arrived, and the control edges are satisfied.
    fn inputs_there(&self, op: OpId, to: usize) -> u64 {
        let graph = &self.problem.graph;
        let arrivals = graph.inputs(op).iter().map(|tensor| self.arrival[tensor.0 as usize * self.devices + to]);
        let control = graph.control(op).iter().map(|before| self.finish[before.0 as usize]);
        arrivals.filter(|&time| time != ABSENT).chain(control).max().unwrap_or(0)
    }

    /// Synchronous: when the device would be free after all missing transfers, and the delay of the senders.
    fn try_rendezvous(&mut self, to: usize) -> (u64, u64) {
        if self.missing.is_empty() {
            return (self.free[to], 0);
        }
        self.trial.copy_from_slice(&self.free);
        let mut delay = 0;
        for missing in &self.missing {
            let start = self.trial[missing.from].max(self.trial[to]);
            let end = start + self.transfer_time(missing, to);
            delay += end - self.trial[missing.from];
            (self.trial[missing.from], self.trial[to]) = (end, end);
        }
        (self.trial[to], delay)
    }

    /// Asynchronous: when the device is free and all missing transfers have arrived.
    fn try_links(&mut self, to: usize) -> u64 {
        let mut ready = self.free[to];
        if self.missing.is_empty() {
            return ready;
        }
        for from in 0..self.devices {
            self.trial[from] = self.link_free[from * self.devices + to];
        }
        for missing in &self.missing {
            let arrival = self.trial[missing.from].max(missing.from_time) + self.transfer_time(missing, to);
            self.trial[missing.from] = arrival;
            ready = ready.max(arrival);
        }
        ready
    }

    fn transfer_time(&self, missing: &Missing, to: usize) -> u64 {
        self.problem.transfer_time(missing.tensor, DeviceId(missing.from as u32), DeviceId(to as u32))
    }

    fn send(&mut self, missing: &Missing, device: DeviceId) {
        let to = device.0 as usize;
        let link = missing.from * self.devices + to;
        let start = if self.asynchronous {
            self.link_free[link].max(missing.from_time)
        } else {
            self.free[missing.from].max(self.free[to])
        };
        let end = start + self.transfer_time(missing, to);
        if self.asynchronous {
            self.link_free[link] = end;
        } else {
            (self.free[missing.from], self.free[to]) = (end, end);
        }
        self.arrival[missing.tensor.0 as usize * self.devices + to] = end;
        self.steps.push((start, Step::Transfer { tensor: missing.tensor, to: device }));
        if let Some(memory) = &mut self.memory {
            memory.held[to] += self.problem.graph.bytes(missing.tensor);
        }
    }
}

/// Memory held by each device, from above: a copy is held until all consumers of its tensor have run, wherever they do.
struct Memory {
    held: Vec<u64>,
    /// Consumers that have not run, one more for outputs of the graph.
    users: Vec<u32>,
    /// Whether a device holds a weight, at `weight * devices + device`.
    weights: Vec<bool>,
}

impl Memory {
    fn new(problem: &Problem) -> Self {
        let (devices, graph) = (problem.device_count(), &problem.graph);
        let mut memory =
            Self { held: vec![0; devices], users: vec![], weights: vec![false; graph.weight_count() * devices] };
        memory.reset(problem);
        memory
    }

    fn reset(&mut self, problem: &Problem) {
        let graph = &problem.graph;
        self.held.fill(0);
        self.weights.fill(false);
        self.users.clear();
        let users = |tensor| graph.consumers(tensor).len() as u32 + u32::from(graph.is_kept(tensor));
        self.users.extend(graph.tensors().map(users));
    }

    /// Bytes of weights that `op` would bring to `device`.
    fn new_weights(&self, problem: &Problem, op: OpId, device: DeviceId) -> u64 {
        if problem.weights == Weights::Ignored {
            return 0;
        }
        let graph = &problem.graph;
        let at = |weight: u32| weight as usize * problem.device_count() + device.0 as usize;
        graph.reads(op).iter().filter(|weight| !self.weights[at(weight.0)]).map(|&w| graph.weight_bytes(w)).sum()
    }

    fn excess(&self, problem: &Problem, op: OpId, device: DeviceId, received: u64) -> u64 {
        let Some(limit) = problem.devices[device.0 as usize].memory else { return 0 };
        let graph = &problem.graph;
        let outputs: u64 = graph.outputs(op).iter().map(|&tensor| graph.bytes(tensor)).sum();
        let weights = self.new_weights(problem, op, device);
        let held = self.held[device.0 as usize] + received + outputs + weights + graph.scratch(op);
        held.saturating_sub(limit)
    }

    /// `op` has run on `device`; its inputs are there.
    fn run(&mut self, problem: &Problem, op: OpId, device: DeviceId, arrival: &[u64]) {
        let (graph, devices) = (&problem.graph, problem.device_count());
        self.held[device.0 as usize] += self.new_weights(problem, op, device);
        for weight in graph.reads(op) {
            self.weights[weight.0 as usize * devices + device.0 as usize] = true;
        }
        for &tensor in graph.outputs(op) {
            if self.users[tensor.0 as usize] > 0 {
                self.held[device.0 as usize] += graph.bytes(tensor);
            }
        }
        for &tensor in graph.inputs(op) {
            let users = &mut self.users[tensor.0 as usize];
            *users -= 1;
            if *users == 0 {
                let copies = &arrival[tensor.0 as usize * devices..][..devices];
                for (held, _) in self.held.iter_mut().zip(copies).filter(|(_, time)| **time != ABSENT) {
                    *held -= graph.bytes(tensor);
                }
            }
        }
    }
}
