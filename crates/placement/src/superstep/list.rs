//! List scheduling with voluntary barriers.

use super::arcs::Arcs;
use super::queue::RankQueue;
use super::schedule::Schedule;
use crate::problem::{DeviceId, Problem};
use labrys_dataflow::OpId;

/// Turns an order of priority into a schedule: whenever devices are free, they meet, and then each starts the most urgent op
/// whose inputs it has. A device that finishes waits for those that will finish within a threshold, because a rendezvous
/// gives it more to choose from; and for the next one, however long, if it has nothing to do.
///
/// O((ops + arcs) devices) and the queue. Buffers are reused from call to call.
pub(crate) struct ListDecoder<'a> {
    problem: &'a Problem,
    arcs: &'a Arcs,
    devices: usize,
    /// Arcs that an op still waits for before it can start on a device, at `op * devices + device`.
    missing: Vec<u32>,
    ready: Vec<RankQueue>,
    /// Op of each rank.
    by_rank: Vec<OpId>,
    rank: Vec<u32>,
    /// When the running op of each device ends.
    clock: Vec<u64>,
    running: Vec<Option<OpId>>,
    /// Ops that each device has finished, in order.
    done: Vec<Vec<OpId>>,
    /// How many of `done[from]` device `to` has seen, at `from * devices + to`.
    seen: Vec<usize>,
    schedule: Schedule,
}

impl<'a> ListDecoder<'a> {
    pub fn new(problem: &'a Problem, arcs: &'a Arcs) -> Self {
        let (devices, ops) = (problem.device_count(), problem.graph.op_count());
        Self {
            problem,
            arcs,
            devices,
            missing: vec![0; ops * devices],
            ready: vec![RankQueue::new(ops); devices],
            by_rank: problem.graph.ops().collect(),
            rank: vec![0; ops],
            clock: vec![0; devices],
            running: vec![None; devices],
            done: vec![vec![]; devices],
            seen: vec![0; devices * devices],
            schedule: Schedule { device: vec![DeviceId(0); ops], ..Schedule::default() },
        }
    }

    /// The schedule of the last call of [`decode`](Self::decode).
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Ops by falling priority, ties by number.
    pub fn rank_by(&mut self, priority: impl Fn(OpId) -> u64) {
        self.by_rank.clear();
        self.by_rank.extend(self.problem.graph.ops());
        self.by_rank.sort_unstable_by_key(|&op| (std::cmp::Reverse(priority(op)), op));
        for (rank, op) in self.by_rank.iter().enumerate() {
            self.rank[op.0 as usize] = rank as u32;
        }
    }

    /// Schedules the ops by the ranks of the last [`rank_by`](Self::rank_by) and returns the makespan. Devices wait up to
    /// `threshold` nanoseconds for each other.
    pub fn decode(&mut self, threshold: u64) -> u64 {
        self.reset();
        let mut now = 0;
        self.start_ops(now);
        while let Some(first) = self.next_completion(u64::MAX) {
            let horizon = self.clock[first].saturating_add(threshold);
            while let Some(device) = self.next_completion(horizon) {
                now = self.clock[device];
                self.complete(device);
            }
            self.meet();
            self.start_ops(now);
        }
        now
    }

    fn reset(&mut self) {
        let arcs = self.arcs;
        for (missing, &degree) in self.missing.chunks_exact_mut(self.devices).zip(&arcs.degree) {
            missing.fill(degree);
        }
        self.clock.fill(0);
        self.seen.fill(0);
        self.done.iter_mut().for_each(Vec::clear);
        self.schedule.events.clear();
        self.schedule.groups.clear();
        for (op, _) in arcs.degree.iter().enumerate().filter(|(_, degree)| **degree == 0) {
            for ready in &mut self.ready {
                ready.insert(self.rank[op]);
            }
        }
    }

    /// The busy device that finishes first, if it does by `horizon`.
    #[inline]
    fn next_completion(&self, horizon: u64) -> Option<usize> {
        let busy = (0..self.devices).filter(|&device| self.running[device].is_some());
        busy.min_by_key(|&device| self.clock[device]).filter(|&device| self.clock[device] <= horizon)
    }

    fn complete(&mut self, device: usize) {
        let Some(op) = self.running[device].take() else { return };
        self.done[device].push(op);
        let arcs = self.arcs;
        for &next in arcs.control.row(op.0 as usize) {
            for on in 0..self.devices {
                self.arrive(next, on);
            }
        }
        for &next in arcs.data.row(op.0 as usize) {
            self.arrive(next, device);
        }
    }

    /// One arc into `op` needs nothing more on `device`.
    #[inline]
    fn arrive(&mut self, op: OpId, device: usize) {
        let missing = &mut self.missing[op.0 as usize * self.devices + device];
        *missing -= 1;
        if *missing == 0 {
            self.ready[device].insert(self.rank[op.0 as usize]);
        }
    }

    /// All free devices meet.
    fn meet(&mut self) {
        let running = &self.running;
        let free = (0..self.devices).filter(|&device| running[device].is_none());
        if free.clone().count() < 2 {
            return;
        }
        self.schedule.meet(free.map(|device| DeviceId(device as u32)));
        for from in 0..self.devices {
            for to in 0..self.devices {
                if from != to && self.running[from].is_none() && self.running[to].is_none() {
                    self.catch_up(from, to);
                }
            }
        }
    }

    /// Device `to` learns what `from` has produced.
    fn catch_up(&mut self, from: usize, to: usize) {
        let arcs = self.arcs;
        let seen = std::mem::replace(&mut self.seen[from * self.devices + to], self.done[from].len());
        for at in seen..self.done[from].len() {
            for &next in arcs.data.row(self.done[from][at].0 as usize) {
                self.arrive(next, to);
            }
        }
    }

    /// Every free device starts its most urgent op.
    fn start_ops(&mut self, now: u64) {
        for device in 0..self.devices {
            if self.running[device].is_some() {
                continue;
            }
            let Some(rank) = self.ready[device].first() else { continue };
            for ready in &mut self.ready {
                ready.remove(rank);
            }
            let op = self.by_rank[rank as usize];
            // Arcs may go on arriving on other devices; the op must not become ready there.
            self.missing[op.0 as usize * self.devices..][..self.devices].fill(u32::MAX);
            self.clock[device] = now + self.problem.time(op, DeviceId(device as u32));
            self.running[device] = Some(op);
            self.schedule.device[op.0 as usize] = DeviceId(device as u32);
            self.schedule.events.push(super::schedule::Event::Run(op));
        }
    }
}
