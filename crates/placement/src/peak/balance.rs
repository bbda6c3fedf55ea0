//! A placement for an order: op by op, each to the device where it raises the energy of annealing the least.
//!
//! What an op reads is taken to stay with it up to the last use of all, since who uses it next is not known yet; when that turns
//! out to be another device, it moves there, and is held where it was up to its last use there. So at the end every copy is held
//! as long as it is in the plan with lazy transfers, and on the way the energy tells what the ops so far really cost.

use super::energy::Sharpness;
use crate::problem::{DeviceId, Problem, Weights};
use labrys_dataflow::{OpId, TensorId};
use labrys_graph::Id;
use std::ops::Range;

/// Lifetimes of tensors in ops, summed up over the graph, above which this takes too long: some tens of milliseconds.
const MOST_CELLS: usize = 4_000_000;

/// The power of the energy.
const POWER: f64 = 16.0;

/// The placement, or `None` if there is only one device or the graph is too large. O(sum of lifetimes) for each device.
pub(super) fn balanced(problem: &Problem, order: &[OpId]) -> Option<Vec<DeviceId>> {
    if problem.device_count() == 1 {
        return None;
    }
    let mut balance = Balance::new(problem, order);
    let lifetimes =
        problem.graph.tensors().map(|t| balance.last[t.index()] - balance.position(problem.graph.producer(t)));
    if lifetimes.sum::<usize>() > MOST_CELLS {
        return None;
    }
    let devices = 0..problem.device_count();
    for (at, &op) in order.iter().enumerate() {
        let mut best = (f64::INFINITY, 0);
        for device in devices.clone() {
            let energy = balance.place(op, at, device);
            balance.undo();
            if energy < best.0 {
                best = (energy, device);
            }
        }
        balance.place(op, at, best.1);
        balance.commit(op, at, best.1);
    }
    Some(balance.device)
}

struct Balance<'p> {
    problem: &'p Problem,
    device: Vec<DeviceId>,
    position: Vec<usize>,
    /// End of each tensor's life, exclusive.
    last: Vec<usize>,
    /// Where each tensor is taken to stay.
    holder: Vec<usize>,
    /// End of what each device surely holds of each tensor, exclusive; 0 for nothing. At `tensor * devices + device`.
    until: Vec<usize>,
    /// Which weights are on which device, at `weight * devices + device`.
    resident: Vec<bool>,
    /// Bytes held while each op runs, per device.
    cells: Vec<Vec<f64>>,
    scale: Vec<f64>,
    /// What was added since the last commit.
    added: Vec<(usize, Range<usize>, f64)>,
}

impl<'p> Balance<'p> {
    fn new(problem: &'p Problem, order: &[OpId]) -> Self {
        let (graph, devices) = (&*problem.graph, problem.device_count());
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, op)| position[op.index()] = at);
        let end = |t: TensorId| {
            let users = graph.consumers(t).iter().map(|op| position[op.index()] + 1).max();
            if graph.is_kept(t) { order.len() } else { users.unwrap_or(position[graph.producer(t).index()] + 1) }
        };
        let last = graph.tensors().map(end).collect();
        // Half of what one device would need, or the limit of a device with less, counts as 1.
        let share = crate::orders::peak(graph, order) as f64 / devices as f64;
        let scale = |d: &crate::Device| 1.0 / share.min(d.memory.map_or(f64::INFINITY, |limit| limit as f64)).max(1.0);
        Self {
            problem,
            device: vec![DeviceId(0); order.len()],
            position,
            last,
            holder: vec![0; graph.tensor_count()],
            until: vec![0; graph.tensor_count() * devices],
            resident: vec![false; graph.weight_count() * devices],
            cells: vec![vec![0.0; order.len()]; devices],
            scale: problem.devices.iter().map(scale).collect(),
            added: vec![],
        }
    }

    fn position(&self, op: OpId) -> usize {
        self.position[op.index()]
    }

    /// Holds `bytes` more on a device for some time; returns by how much the energy rises.
    fn add(&mut self, device: usize, time: Range<usize>, bytes: f64) -> f64 {
        if time.is_empty() || bytes == 0.0 {
            return 0.0;
        }
        let cells = &mut self.cells[device][time.clone()];
        let change = Sharpness::power(POWER).change(cells, bytes, self.scale[device]);
        cells.iter_mut().for_each(|held| *held += bytes);
        self.added.push((device, time, bytes));
        change
    }

    /// Puts the op at position `at` on a device; returns by how much the energy rises.
    fn place(&mut self, op: OpId, at: usize, device: usize) -> f64 {
        let graph = &*self.problem.graph;
        let mut energy = self.add(device, at..at + 1, graph.scratch(op) as f64);
        for &tensor in graph.outputs(op) {
            energy += self.add(device, at..self.last[tensor.index()], graph.bytes(tensor) as f64);
        }
        for &tensor in graph.inputs(op) {
            energy += self.fetch(tensor, at, device);
        }
        if self.problem.weights == Weights::Resident {
            for &weight in graph.reads(op) {
                if !self.resident[weight.index() * self.cells.len() + device] {
                    energy += self.add(device, 0..self.position.len(), graph.weight_bytes(weight) as f64);
                }
            }
        }
        energy
    }

    /// A tensor is used on a device: if it stayed elsewhere, it moves.
    fn fetch(&mut self, tensor: TensorId, at: usize, device: usize) -> f64 {
        let (holder, end, bytes) =
            (self.holder[tensor.index()], self.last[tensor.index()], self.problem.graph.bytes(tensor) as f64);
        if holder == device {
            return 0.0;
        }
        let slot = tensor.index() * self.cells.len();
        let (was_held, is_held) = (self.until[slot + holder], self.until[slot + device]);
        if is_held > 0 {
            return self.add(device, is_held..end, bytes) + self.add(holder, was_held..end, -bytes);
        }
        // The first transfer needs its source, which is at home, up to now.
        let home = self.home(tensor);
        let (leaves, sent) = if holder == home { (was_held.max(at), at) } else { (was_held, self.until[slot + home]) };
        let moved = self.add(device, at..end, bytes) + self.add(holder, leaves..end, -bytes);
        moved + self.add(home, sent..at, bytes)
    }

    fn home(&self, tensor: TensorId) -> usize {
        self.device[self.problem.graph.producer(tensor).index()].index()
    }

    /// Takes back what was added since the last commit.
    fn undo(&mut self) {
        for (device, time, bytes) in self.added.drain(..) {
            self.cells[device][time].iter_mut().for_each(|held| *held -= bytes);
        }
    }

    /// Makes what was placed last final.
    fn commit(&mut self, op: OpId, at: usize, device: usize) {
        let graph = &*self.problem.graph;
        let devices = self.cells.len();
        self.added.clear();
        self.device[op.index()] = DeviceId::new(device);
        for &tensor in graph.inputs(op) {
            let slot = tensor.index() * devices;
            let home = self.home(tensor);
            if self.until[slot + device] == 0 {
                self.until[slot + home] = self.until[slot + home].max(at);
            }
            self.until[slot + device] = self.until[slot + device].max(at + 1);
            self.holder[tensor.index()] = device;
        }
        for &tensor in graph.outputs(op) {
            self.holder[tensor.index()] = device;
            let until = if graph.is_kept(tensor) { self.last[tensor.index()] } else { at + 1 };
            self.until[tensor.index() * devices + device] = until;
        }
        for &weight in graph.reads(op) {
            self.resident[weight.index() * devices + device] = true;
        }
    }
}
