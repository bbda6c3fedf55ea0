//! List scheduling for any devices and links: dynamic level scheduling (Sih & Lee 1993) over the most urgent ready ops.

use super::builder::{Builder, Offer};
use crate::problem::{DeviceId, Plan, Problem};
use crate::superstep::queue::RankQueue;
use labrys_dataflow::OpId;

/// How the decoder chooses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rules {
    /// How many ready ops compete for the next place; 1 is the order of HEFT.
    pub candidates: usize,
    /// Weight of the delay that transfers impose on the senders.
    pub delay: f64,
}

/// Turns priorities into a plan. O((ops candidates + arcs) devices) and the queue; buffers are reused.
pub(crate) struct Decoder<'p> {
    problem: &'p Problem,
    builder: Builder<'p>,
    priority: Vec<u64>,
    by_rank: Vec<OpId>,
    rank: Vec<u32>,
    missing: Vec<u32>,
    ready: RankQueue,
    candidates: Vec<u32>,
}

impl<'p> Decoder<'p> {
    pub fn new(problem: &'p Problem) -> Self {
        let ops = problem.graph.op_count();
        Self {
            problem,
            builder: Builder::new(problem),
            priority: vec![0; ops],
            by_rank: vec![],
            rank: vec![0; ops],
            missing: vec![0; ops],
            ready: RankQueue::new(ops),
            candidates: vec![],
        }
    }

    /// The plan of the last call of [`decode`](Self::decode).
    pub fn plan(&self) -> Plan {
        self.builder.plan()
    }

    /// Schedules by these priorities in nanoseconds, higher first, and returns the makespan. `bias` is added, in nanoseconds, to
    /// the end of an op on a device.
    pub fn decode(&mut self, priority: &[u64], rules: Rules, bias: impl Fn(OpId, DeviceId) -> u64) -> u64 {
        self.reset(priority);
        while self.ready.first().is_some() {
            let (op, device) = self.choose(rules, &bias);
            self.ready.remove(self.rank[op.0 as usize]);
            self.builder.place(op, device);
            for next in self.problem.graph.succs(op) {
                let missing = &mut self.missing[next.0 as usize];
                *missing -= 1;
                if *missing == 0 {
                    self.ready.insert(self.rank[next.0 as usize]);
                }
            }
        }
        self.builder.makespan()
    }

    fn reset(&mut self, priority: &[u64]) {
        let graph = &self.problem.graph;
        self.builder.reset();
        self.priority.copy_from_slice(priority);
        self.by_rank.clear();
        self.by_rank.extend(graph.ops());
        self.by_rank.sort_unstable_by_key(|op| (std::cmp::Reverse(priority[op.0 as usize]), *op));
        for (rank, op) in self.by_rank.iter().enumerate() {
            self.rank[op.0 as usize] = rank as u32;
        }
        for op in graph.ops() {
            self.missing[op.0 as usize] = graph.preds(op).len() as u32;
            if graph.preds(op).is_empty() {
                self.ready.insert(self.rank[op.0 as usize]);
            }
        }
    }

    /// The pair of the greatest level: priority less start. What breaks a memory limit comes last.
    fn choose(&mut self, rules: Rules, bias: &impl Fn(OpId, DeviceId) -> u64) -> (OpId, DeviceId) {
        self.take_candidates(rules.candidates);
        let mut best = (u64::MAX, i64::MAX, OpId(0), DeviceId(0));
        for &rank in &self.candidates {
            let op = self.by_rank[rank as usize];
            for device in self.problem.device_ids() {
                let Offer { end, delay, excess, .. } = self.builder.offer(op, device);
                let cost = end + (rules.delay * delay as f64) as u64 + bias(op, device);
                let level = cost as i64 - self.priority[op.0 as usize] as i64;
                if (excess, level) < (best.0, best.1) {
                    best = (excess, level, op, device);
                }
            }
        }
        (best.2, best.3)
    }

    fn take_candidates(&mut self, count: usize) {
        self.candidates.clear();
        while self.candidates.len() < count.max(1) {
            let Some(rank) = self.ready.first() else { break };
            self.candidates.push(rank);
            if count <= 1 {
                return;
            }
            self.ready.remove(rank);
        }
        for &rank in &self.candidates {
            self.ready.insert(rank);
        }
    }
}
