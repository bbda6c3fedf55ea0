//! From a plan to buffers: when each device first and last needs each thing.

use super::{Buffer, Content};
use crate::problem::{DeviceId, Plan, Problem, Transfers, Weights};
use crate::simulate::{Observer, Simulator};
use labrys_dataflow::{OpId, TensorId};
use labrys_graph::Id;
use std::collections::HashMap;

/// For each device its weights, then all else that takes memory in order of first use.
pub(super) fn buffers(problem: &Problem, plan: &Plan) -> Vec<Vec<Buffer>> {
    let mut lifetimes = Lifetimes::new(problem, plan);
    Simulator::new(problem).observe(plan, &mut lifetimes);
    lifetimes.finish()
}

/// Watches a plan step by step.
struct Lifetimes<'p> {
    problem: &'p Problem,
    plan: &'p Plan,
    buffers: Vec<Vec<Buffer>>,
    /// The buffer of each copy on its device.
    copies: HashMap<(TensorId, DeviceId), usize>,
    /// Steps that a device has seen.
    steps: Vec<u32>,
    /// When the device comes to each of them: what transfers still read then is still held.
    clocks: Vec<Vec<u64>>,
    free_at: Vec<u64>,
    /// When the last transfer out of a tensor ends.
    sent_until: HashMap<TensorId, u64>,
}

impl<'p> Lifetimes<'p> {
    fn new(problem: &'p Problem, plan: &'p Plan) -> Self {
        let devices = problem.device_count();
        Self {
            problem,
            plan,
            buffers: vec![vec![]; devices],
            copies: HashMap::new(),
            steps: vec![0; devices],
            clocks: vec![vec![]; devices],
            free_at: vec![0; devices],
            sent_until: HashMap::new(),
        }
    }

    fn step(&mut self, device: DeviceId, clock: u64) -> u32 {
        let step = self.steps[device.index()];
        self.steps[device.index()] += 1;
        if self.problem.transfers == Transfers::Asynchronous {
            self.clocks[device.index()].push(clock);
        }
        step
    }

    fn hold(&mut self, device: DeviceId, content: Content, bytes: u64, step: u32) -> usize {
        let buffers = &mut self.buffers[device.index()];
        if bytes > 0 {
            buffers.push(Buffer { content, bytes, first: step, last: step, offset: 0 });
        }
        buffers.len().wrapping_sub(1)
    }

    fn hold_copy(&mut self, tensor: TensorId, device: DeviceId, step: u32) {
        let bytes = self.problem.graph.bytes(tensor);
        let index = self.hold(device, Content::Tensor(tensor), bytes, step);
        if bytes > 0 {
            self.copies.insert((tensor, device), index);
        }
    }

    fn touch(&mut self, tensor: TensorId, device: DeviceId, step: u32) {
        if let Some(&index) = self.copies.get(&(tensor, device)) {
            self.buffers[device.index()][index].last = step;
        }
    }

    fn finish(mut self) -> Vec<Vec<Buffer>> {
        let graph = &self.problem.graph;
        for (&(tensor, device), &index) in &self.copies {
            let buffer = &mut self.buffers[device.index()][index];
            let home = self.plan.device[graph.producer(tensor).index()];
            let end = self.steps[device.index()] - 1;
            if device == home && graph.is_kept(tensor) {
                buffer.last = end;
            } else if device == home {
                let until = self.sent_until.get(&tensor).copied().unwrap_or(0);
                let after = &self.clocks[device.index()].get(buffer.last as usize + 1..).unwrap_or(&[]);
                buffer.last += after.iter().take_while(|&&clock| clock < until).count() as u32;
            }
        }
        for device in self.problem.device_ids() {
            let weights = self.weights(device);
            self.buffers[device.index()].splice(0..0, weights);
        }
        self.buffers
    }

    fn weights(&self, device: DeviceId) -> Vec<Buffer> {
        let graph = &self.problem.graph;
        if self.problem.weights == Weights::Ignored {
            return vec![];
        }
        let local = graph.ops().filter(|op| self.plan.device[op.index()] == device);
        let mut read: Vec<_> = local.flat_map(|op| graph.reads(op)).copied().collect();
        read.sort_unstable();
        read.dedup();
        let last = self.steps[device.index()].saturating_sub(1);
        let buffer = |weight| {
            let bytes = graph.weight_bytes(weight);
            Buffer { content: Content::Weight(weight), bytes, first: 0, last, offset: 0 }
        };
        read.into_iter().map(buffer).filter(|buffer| buffer.bytes > 0).collect()
    }
}

impl Observer for Lifetimes<'_> {
    fn ran(&mut self, op: OpId, device: DeviceId, start: u64, end: u64, _: u64) {
        let graph = &*self.problem.graph;
        let step = self.step(device, start);
        self.free_at[device.index()] = end;
        for &tensor in graph.inputs(op) {
            self.touch(tensor, device, step);
        }
        for &tensor in graph.outputs(op) {
            self.hold_copy(tensor, device, step);
        }
        self.hold(device, Content::Scratch(op), graph.scratch(op), step);
    }

    fn transferred(&mut self, tensor: TensorId, [from, to]: [DeviceId; 2], _: u64, end: u64, _: [u64; 2]) {
        let clocks = [from, to].map(|device| self.free_at[device.index()]);
        let step = self.step(from, clocks[0]);
        self.touch(tensor, from, step);
        if self.problem.transfers == Transfers::Asynchronous {
            let until = self.sent_until.entry(tensor).or_default();
            *until = end.max(*until);
        }
        let step = self.step(to, clocks[1]);
        self.hold_copy(tensor, to, step);
    }
}
