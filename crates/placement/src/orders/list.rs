//! List scheduling: always the ready op that makes memory grow the least.

use super::view::View;
use labrys_dataflow::{OpId, TensorId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which of several ready ops with equal growth goes first.
#[derive(Clone, Copy)]
pub(super) enum TieBreak {
    FileOrder,
    LatestReady,
    EarliestReady,
}

/// The order by least growth.
pub(super) fn order(view: View<'_>, tie_break: TieBreak) -> Vec<OpId> {
    let order = List::new(view, tie_break).run();
    view.to_forward(order)
}

/// An op's place in the queue: growth in bytes, then tie-break.
type Key = (i64, i64);

struct List<'g> {
    view: View<'g>,
    tie_break: TieBreak,
    missing: Vec<u32>,
    /// Change of memory if the op ran now; only ever falls, so that an outdated queue entry comes after the current one.
    growth: Vec<i64>,
    ran: Vec<bool>,
    tie: Vec<i64>,
    /// Forwards: consumers that have not run. Backwards: 0 once the tensor is held.
    waiting: Vec<u32>,
    queue: BinaryHeap<Reverse<(Key, OpId)>>,
    order: Vec<OpId>,
}

impl<'g> List<'g> {
    fn new(view: View<'g>, tie_break: TieBreak) -> Self {
        let graph = view.graph;
        let n = graph.op_count();
        let waiting = graph.tensors().map(|t| graph.consumers(t).len() as u32 + u32::from(graph.is_kept(t)));
        let mut list = Self {
            view,
            tie_break,
            missing: view.missing(),
            growth: vec![0; n],
            ran: vec![false; n],
            tie: vec![0; n],
            waiting: waiting.collect(),
            queue: BinaryHeap::new(),
            order: Vec::with_capacity(n),
        };
        for op in graph.ops() {
            list.growth[op.0 as usize] = list.initial_growth(op);
        }
        list
    }

    fn initial_growth(&self, op: OpId) -> i64 {
        let graph = self.view.graph;
        let sum = |tensors: &[TensorId], counts: &dyn Fn(TensorId) -> bool| -> i64 {
            tensors.iter().filter(|&&t| counts(t)).map(|&t| graph.bytes(t) as i64).sum()
        };
        let outlives = |t: TensorId| self.waiting[t.0 as usize] > 0;
        if self.view.backward {
            sum(graph.inputs(op), &|t| !graph.is_kept(t)) - sum(graph.outputs(op), &outlives)
        } else {
            sum(graph.outputs(op), &outlives) - sum(graph.inputs(op), &|t| self.waiting[t.0 as usize] == 1)
        }
    }

    fn run(mut self) -> Vec<OpId> {
        for op in self.view.topological() {
            if self.missing[op.0 as usize] == 0 {
                self.make_ready(op);
            }
        }
        while let Some(Reverse((_, op))) = self.queue.pop() {
            if std::mem::replace(&mut self.ran[op.0 as usize], true) {
                continue;
            }
            self.order.push(op);
            for &tensor in self.view.graph.inputs(op) {
                if self.view.backward { self.hold(tensor) } else { self.release(tensor) }
            }
            for &next in self.view.succs(op) {
                self.missing[next.0 as usize] -= 1;
                if self.missing[next.0 as usize] == 0 {
                    self.make_ready(next);
                }
            }
        }
        self.order
    }

    fn make_ready(&mut self, op: OpId) {
        let rank = if self.view.backward { -i64::from(op.0) } else { i64::from(op.0) };
        self.tie[op.0 as usize] = match self.tie_break {
            TieBreak::FileOrder => rank,
            TieBreak::LatestReady => -(self.order.len() as i64),
            TieBreak::EarliestReady => self.order.len() as i64,
        };
        self.enqueue(op);
    }

    fn enqueue(&mut self, op: OpId) {
        let key = (self.growth[op.0 as usize], self.tie[op.0 as usize]);
        self.queue.push(Reverse((key, op)));
    }

    /// Forwards: one consumer has run. The last one but one leaves the tensor to be freed by the last.
    fn release(&mut self, tensor: TensorId) {
        let waiting = &mut self.waiting[tensor.0 as usize];
        *waiting -= 1;
        if *waiting == 1 && !self.view.graph.is_kept(tensor) {
            self.lower_growth_of_users(tensor);
        }
    }

    /// Backwards: the first user makes room for the tensor, and the others have it for free.
    fn hold(&mut self, tensor: TensorId) {
        let waiting = std::mem::take(&mut self.waiting[tensor.0 as usize]);
        if waiting > 0 && !self.view.graph.is_kept(tensor) {
            self.lower_growth_of_users(tensor);
        }
    }

    fn lower_growth_of_users(&mut self, tensor: TensorId) {
        let graph = self.view.graph;
        let bytes = graph.bytes(tensor) as i64;
        for &user in graph.consumers(tensor) {
            if !self.ran[user.0 as usize] && bytes > 0 {
                self.growth[user.0 as usize] -= bytes;
                if self.missing[user.0 as usize] == 0 {
                    self.enqueue(user);
                }
            }
        }
    }
}
