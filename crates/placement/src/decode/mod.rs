//! The paper's decoder: from a chromosome of random keys to a plan (REGAL A.5).
//!
//! With `o` ops, `t` tensors and `d` devices a chromosome is `o * d` op-to-device affinities, then `o` op priorities, then
//! `t * d` transfer priorities. Each op goes to the device of its highest affinity; the schedule is the topological order of
//! ops and transfers in which the highest priority among the ready ones comes first.

pub mod heap;
mod ready;

use crate::problem::{DeviceId, Plan, Problem, Step};
use crate::simulate::Simulator;
use labrys_dataflow::{OpId, TensorId};
use labrys_graph::Csr;
use labrys_search::{Score, brkga};
use ready::ReadyQueue;
use std::collections::BTreeSet;

/// Where the parts of a chromosome lie. An *item* is an op (`0..ops`) or a transfer, and tensors are numbered by producer.
#[derive(Clone, Debug)]
pub struct Layout {
    ops: usize,
    devices: usize,
    /// The tensors grouped by the op that produces them, and the place of each in that list.
    by_producer: Vec<TensorId>,
    slot: Vec<u32>,
}

impl Layout {
    /// The layout for a problem.
    pub fn new(problem: &Problem) -> Self {
        let graph = &problem.graph;
        let by_producer: Vec<TensorId> = graph.ops().flat_map(|op| graph.outputs(op)).copied().collect();
        let mut slot = vec![0; by_producer.len()];
        for (place, tensor) in by_producer.iter().enumerate() {
            slot[tensor.0 as usize] = place as u32;
        }
        Self { ops: graph.op_count(), devices: problem.device_count(), by_producer, slot }
    }

    /// Length of a chromosome.
    pub fn genes(&self) -> usize {
        self.ops * self.devices + self.items()
    }

    /// The affinities of an op, one for each device.
    pub fn affinities(&self, op: OpId) -> std::ops::Range<usize> {
        let start = op.0 as usize * self.devices;
        start..start + self.devices
    }

    /// The priority of an op.
    pub fn priority(&self, op: OpId) -> usize {
        self.gene_of_item(op.0 as usize)
    }

    fn items(&self) -> usize {
        self.ops + self.by_producer.len() * self.devices
    }

    fn gene_of_item(&self, item: usize) -> usize {
        self.ops * self.devices + item
    }

    fn item_of_transfer(&self, tensor: TensorId, to: DeviceId) -> usize {
        self.ops + self.slot[tensor.0 as usize] as usize * self.devices + to.0 as usize
    }

    #[inline]
    fn step_of_item(&self, item: usize) -> Step {
        match item.checked_sub(self.ops) {
            None => Step::Run(OpId(item as u32)),
            Some(transfer) => {
                // 32-bit division: this is in the hot loop.
                let (transfer, devices) = (transfer as u32, self.devices as u32);
                let tensor = self.by_producer[(transfer / devices) as usize];
                Step::Transfer { tensor, to: DeviceId(transfer % devices) }
            }
        }
    }

    /// The device of the highest affinity, the first of equals.
    #[inline]
    fn place(&self, keys: &[f32], op: usize) -> DeviceId {
        let row = &keys[op * self.devices..][..self.devices];
        let mut best = 0;
        for (device, affinity) in row.iter().enumerate().skip(1) {
            best = if *affinity > row[best] { device } else { best };
        }
        DeviceId(best as u32)
    }
}

/// A chromosome that decodes to a plan with the same placement and, if the plan's transfers are each as urgent as their place
/// in it, the same order.
pub fn encode(problem: &Problem, plan: &Plan) -> brkga::Chromosome {
    let layout = Layout::new(problem);
    let mut keys = vec![0.5; layout.genes()];
    for op in problem.graph.ops() {
        for (device, key) in keys[layout.affinities(op)].iter_mut().enumerate() {
            *key = if plan.device[op.0 as usize].0 as usize == device { 0.75 } else { 0.25 };
        }
    }
    for (position, step) in plan.steps.iter().enumerate() {
        let item = match *step {
            Step::Run(op) => op.0 as usize,
            Step::Transfer { tensor, to } => layout.item_of_transfer(tensor, to),
        };
        keys[layout.gene_of_item(item)] = 1.0 - (position as f32 + 0.5) / plan.steps.len() as f32;
    }
    keys
}

/// Priorities compare as integers: all of [0, 1] in order, anything else (NaN, too) clipped into it.
fn urgency(key: f32) -> u32 {
    if key > 0.0 { key.min(1.0).to_bits() } else { 0 }
}

/// The paper's decoder over one problem, for [`brkga::evolve`].
pub struct PaperDecoder<'p> {
    problem: &'p Problem,
    layout: Layout,
    /// Events that each op waits for: one per input, its production or its transfer, and one per control edge.
    events: Vec<u32>,
    /// What follows from the end of each op.
    arcs: Csr<Arc>,
}

/// An op that waits for another one.
#[derive(Clone, Copy)]
struct Arc {
    op: OpId,
    /// For data, the first bit of its tensor in the set of transfers that its producer asks for; [`CONTROL`]; or [`WIDE`].
    first_bit: u8,
}

/// A control edge: it needs no transfer.
const CONTROL: u8 = 255;
/// The producer's transfers do not fit in 64 bits, so the arc is handled by [`PaperDecoder::ran_wide`].
const WIDE: u8 = 254;

/// Buffers of one thread.
pub struct Workspace<'p> {
    simulator: Simulator<'p>,
    device: Vec<DeviceId>,
    queue: Queue,
}

/// Ops on their way to the ready queue.
struct Queue {
    waiting: Vec<u32>,
    ready: ReadyQueue,
}

impl Queue {
    /// One event that `op` waits for has happened, if it `counts`.
    #[inline(always)]
    fn notify(&mut self, op: OpId, counts: bool, priority: &[f32]) {
        let left = &mut self.waiting[op.0 as usize];
        *left -= u32::from(counts);
        if (*left == 0) & counts {
            self.push(op.0 as usize, priority);
        }
    }

    #[inline(always)]
    fn push(&mut self, item: usize, priority: &[f32]) {
        self.ready.push(item, urgency(priority[item]));
    }
}

impl<'p> PaperDecoder<'p> {
    /// Prepares the tables that do not depend on the chromosome.
    pub fn new(problem: &'p Problem) -> Self {
        let graph = &problem.graph;
        let events = graph.ops().map(|op| (graph.inputs(op).len() + graph.control(op).len()) as u32).collect();
        let control_in: Csr<OpId> = Csr::from_rows(graph.ops().map(|op| graph.control(op).iter().copied()));
        let control: Csr<OpId> = control_in.transpose(graph.op_count());
        let devices = problem.device_count();
        let arcs = Csr::from_rows(graph.ops().map(|op| {
            let outputs = graph.outputs(op);
            let wide = outputs.len() * devices > 64;
            let data = outputs.iter().enumerate().flat_map(move |(port, &tensor)| {
                let first_bit = if wide { WIDE } else { (port * devices) as u8 };
                graph.consumers(tensor).iter().map(move |&op| Arc { op, first_bit })
            });
            data.chain(control.row(op.0 as usize).iter().map(|&op| Arc { op, first_bit: CONTROL }))
        }));
        Self { problem, layout: Layout::new(problem), events, arcs }
    }

    /// The plan that a chromosome stands for.
    pub fn plan(&self, keys: &[f32]) -> Plan {
        let mut workspace = brkga::Decoder::scratch(self);
        let mut steps = vec![];
        self.decode(keys, &mut workspace, |step| steps.push(step));
        Plan { device: workspace.device, steps }
    }

    /// Decodes and simulates in one pass; `emit` sees every step.
    fn decode(&self, keys: &[f32], workspace: &mut Workspace<'p>, mut emit: impl FnMut(Step)) {
        let Workspace { simulator, device, queue } = workspace;
        for (op, device) in device.iter_mut().enumerate() {
            *device = self.layout.place(keys, op);
        }
        queue.waiting.copy_from_slice(&self.events);
        simulator.start(device);
        let priority = &keys[self.layout.gene_of_item(0)..];
        for (op, _) in self.events.iter().enumerate().filter(|&(_, &events)| events == 0) {
            queue.push(op, priority);
        }
        while let Some(item) = queue.ready.pop() {
            let step = self.layout.step_of_item(item);
            emit(step);
            match step {
                Step::Run(op) => {
                    simulator.run(op, device, &mut ());
                    self.ran(op, device, queue, priority);
                }
                Step::Transfer { tensor, to } => {
                    simulator.transfer(tensor, to, device, &mut ());
                    for &c in self.problem.graph.consumers(tensor) {
                        queue.notify(c, device[c.0 as usize] == to, priority);
                    }
                }
            }
        }
    }

    /// Tells the successors on this device, and asks for the transfers to the others.
    ///
    /// Whether a successor is here is a coin toss that no branch predictor learns, so this computes with it instead of
    /// branching, and collects the transfers as bits: `port * devices + device`, which is also their order among the items.
    #[inline(always)]
    fn ran(&self, op: OpId, device: &[DeviceId], queue: &mut Queue, priority: &[f32]) {
        let here = device[op.0 as usize];
        let arcs = self.arcs.row(op.0 as usize);
        if arcs.first().is_some_and(|arc| arc.first_bit == WIDE) {
            return self.ran_wide(op, device, queue, priority);
        }
        let mut transfers = 0u64;
        for arc in arcs {
            let at = device[arc.op.0 as usize];
            let local = (at == here) | (arc.first_bit == CONTROL);
            transfers |= u64::from(!local) << ((u32::from(arc.first_bit) + at.0) & 63);
            queue.notify(arc.op, local, priority);
        }
        if let Some(&first) = self.problem.graph.outputs(op).first() {
            let base = self.layout.item_of_transfer(first, DeviceId(0));
            while transfers != 0 {
                queue.push(base + transfers.trailing_zeros() as usize, priority);
                transfers &= transfers - 1;
            }
        }
    }

    /// The same for an op with more than 64 pairs of output and device.
    #[cold]
    fn ran_wide(&self, op: OpId, device: &[DeviceId], queue: &mut Queue, priority: &[f32]) {
        let here = device[op.0 as usize];
        let mut transfers = BTreeSet::new();
        for &tensor in self.problem.graph.outputs(op) {
            for &c in self.problem.graph.consumers(tensor) {
                let at = device[c.0 as usize];
                queue.notify(c, at == here, priority);
                if at != here {
                    transfers.insert(self.layout.item_of_transfer(tensor, at));
                }
            }
        }
        for arc in self.arcs.row(op.0 as usize).iter().filter(|arc| arc.first_bit == CONTROL) {
            queue.notify(arc.op, true, priority);
        }
        transfers.into_iter().for_each(|item| queue.push(item, priority));
    }
}

impl<'p> brkga::Decoder for PaperDecoder<'p> {
    type Scratch = Workspace<'p>;

    fn genes(&self) -> usize {
        self.layout.genes()
    }

    fn scratch(&self) -> Workspace<'p> {
        Workspace {
            simulator: Simulator::for_score(self.problem),
            device: vec![DeviceId(0); self.layout.ops],
            queue: Queue {
                waiting: vec![0; self.layout.ops],
                ready: ReadyQueue::new(self.layout.items(), self.layout.ops),
            },
        }
    }

    fn evaluate(&self, keys: &[f32], workspace: &mut Workspace<'p>) -> Score {
        self.decode(keys, workspace, |_| ());
        workspace.simulator.score()
    }
}
