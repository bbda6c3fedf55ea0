//! The same decoder as a textbook would write it, with a binary heap, then a simulation: oracle and peer of the fast one.

use super::{Layout, urgency};
use crate::problem::{Plan, Problem, Step};
use labrys_dataflow::OpId;
use labrys_graph::Csr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A decoder with its buffers.
pub struct HeapDecoder<'p> {
    problem: &'p Problem,
    layout: Layout,
    control: Csr<OpId>,
    waiting: Vec<usize>,
    heap: BinaryHeap<(u32, Reverse<usize>)>,
    plan: Plan,
}

impl<'p> HeapDecoder<'p> {
    /// Allocates the buffers.
    pub fn new(problem: &'p Problem) -> Self {
        let graph = &problem.graph;
        let control: Csr<OpId> = Csr::from_rows(graph.ops().map(|op| graph.control(op).iter().copied()));
        Self {
            problem,
            layout: Layout::new(problem),
            control: control.transpose(graph.op_count()),
            waiting: vec![],
            heap: BinaryHeap::new(),
            plan: Plan::default(),
        }
    }

    /// The plan that a chromosome stands for.
    pub fn decode(&mut self, keys: &[f32]) -> &Plan {
        let graph = &self.problem.graph;
        self.plan.device.clear();
        self.plan.device.extend((0..graph.op_count()).map(|op| self.layout.place(keys, op)));
        self.plan.steps.clear();
        self.waiting.clear();
        self.waiting.extend(graph.ops().map(|op| graph.inputs(op).len() + graph.control(op).len()));
        for op in graph.ops() {
            if self.waiting[op.0 as usize] == 0 {
                self.push(keys, op.0 as usize);
            }
        }
        while let Some((_, Reverse(item))) = self.heap.pop() {
            let step = self.layout.step_of_item(item);
            self.plan.steps.push(step);
            match step {
                Step::Run(op) => self.ran(keys, op),
                Step::Transfer { tensor, to } => {
                    for &c in graph.consumers(tensor) {
                        if self.plan.device[c.0 as usize] == to {
                            self.notify(keys, c);
                        }
                    }
                }
            }
        }
        &self.plan
    }

    fn ran(&mut self, keys: &[f32], op: OpId) {
        let problem = self.problem;
        let here = self.plan.device[op.0 as usize];
        for &tensor in problem.graph.outputs(op) {
            let consumers = problem.graph.consumers(tensor);
            for (i, &c) in consumers.iter().enumerate() {
                let to = self.plan.device[c.0 as usize];
                if to == here {
                    self.notify(keys, c);
                } else if consumers[..i].iter().all(|earlier| self.plan.device[earlier.0 as usize] != to) {
                    self.push(keys, self.layout.item_of_transfer(tensor, to));
                }
            }
        }
        for i in self.control.range(op.0 as usize) {
            self.notify(keys, self.control.arc(i));
        }
    }

    fn push(&mut self, keys: &[f32], item: usize) {
        self.heap.push((urgency(keys[self.layout.gene_of_item(item)]), Reverse(item)));
    }

    fn notify(&mut self, keys: &[f32], op: OpId) {
        self.waiting[op.0 as usize] -= 1;
        if self.waiting[op.0 as usize] == 0 {
            self.push(keys, op.0 as usize);
        }
    }
}
