//! A schedule with rendezvous, and the plan that keeps only the transfers it needs.

use crate::problem::{DeviceId, Plan, Problem, Step};
use labrys_dataflow::{OpId, TensorId};

/// What happens next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// An op starts on its device.
    Run(OpId),
    /// Devices wait for each other; from then on each knows what the others have produced. A range of [`Schedule::groups`].
    Meet(u32, u32),
}

/// A schedule of ops and rendezvous, in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Device of each op.
    pub device: Vec<DeviceId>,
    /// What happens.
    pub events: Vec<Event>,
    /// Members of the rendezvous, back to back.
    pub groups: Vec<DeviceId>,
}

impl Schedule {
    pub fn meet(&mut self, group: impl IntoIterator<Item = DeviceId>) {
        let start = self.groups.len();
        self.groups.extend(group);
        self.events.push(Event::Meet(start as u32, self.groups.len() as u32));
    }

    /// The plan, with each transfer at a rendezvous between production and first remote use. A rendezvous that no transfer needs
    /// does not take place, so the plan takes no longer than the schedule.
    pub fn plan(&self, problem: &Problem) -> Plan {
        let transfers = Transfers::of(self, problem);
        let mut steps = Vec::with_capacity(self.device.len() + transfers.sorted.len());
        let mut next = transfers.sorted.iter().peekable();
        for (at, &event) in self.events.iter().enumerate() {
            match event {
                Event::Run(op) => steps.push(Step::Run(op)),
                Event::Meet(..) => {
                    while let Some(&(_, tensor, to)) = next.next_if(|transfer| transfer.0 as usize == at) {
                        steps.push(Step::Transfer { tensor, to });
                    }
                }
            }
        }
        Plan { device: self.device.clone(), steps }
    }
}

/// Gives every transfer its rendezvous so that, for each pair of devices, as few as possible take place: walking the uses
/// in order of time, a transfer joins the last rendezvous in use if its tensor was there by then, else it opens the last
/// possible one (interval stabbing).
struct Transfers<'a> {
    schedule: &'a Schedule,
    problem: &'a Problem,
    /// When each op started, as an event number.
    started: Vec<u32>,
    /// Last rendezvous of a pair so far, and the last one in use, as event numbers at `low * devices + high`; 0 is none.
    last: Vec<u32>,
    used: Vec<u32>,
    sent: Vec<bool>,
    /// Transfers with the event number of their rendezvous.
    sorted: Vec<(u32, TensorId, DeviceId)>,
}

impl<'a> Transfers<'a> {
    fn of(schedule: &'a Schedule, problem: &'a Problem) -> Self {
        let devices = problem.device_count();
        let mut transfers = Self {
            schedule,
            problem,
            started: vec![0; schedule.device.len()],
            last: vec![0; devices * devices],
            used: vec![0; devices * devices],
            sent: vec![false; if devices > 1 { problem.graph.tensor_count() * devices } else { 0 }],
            sorted: vec![],
        };
        for (at, &event) in schedule.events.iter().enumerate() {
            match event {
                Event::Meet(start, end) => transfers.meet(at as u32, &schedule.groups[start as usize..end as usize]),
                Event::Run(op) => transfers.run(at as u32, op),
            }
        }
        transfers.sorted.sort_unstable();
        transfers
    }

    fn pair(&self, a: DeviceId, b: DeviceId) -> usize {
        a.min(b).0 as usize * self.problem.device_count() + a.max(b).0 as usize
    }

    fn meet(&mut self, at: u32, group: &[DeviceId]) {
        for (i, &a) in group.iter().enumerate() {
            for &b in &group[i + 1..] {
                let pair = self.pair(a, b);
                self.last[pair] = at;
            }
        }
    }

    fn run(&mut self, at: u32, op: OpId) {
        self.started[op.0 as usize] = at;
        let to = self.schedule.device[op.0 as usize];
        for &tensor in self.problem.graph.inputs(op) {
            let producer = self.problem.graph.producer(tensor);
            let from = self.schedule.device[producer.0 as usize];
            if from == to {
                continue;
            }
            let sent = &mut self.sent[tensor.0 as usize * self.problem.device_count() + to.0 as usize];
            if std::mem::replace(sent, true) {
                continue;
            }
            let pair = self.pair(from, to);
            if self.used[pair] <= self.started[producer.0 as usize] {
                self.used[pair] = self.last[pair];
            }
            self.sorted.push((self.used[pair], tensor, to));
        }
    }
}
