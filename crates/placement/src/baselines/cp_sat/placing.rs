//! What both models share: which device runs which op, which devices hold which tensors, and what must be sent for that.

use super::model::{Model, Variable};
use crate::problem::{DeviceId, Plan, Problem, Step};
use labrys_dataflow::{OpId, TensorId};

/// The variables of a placement.
pub(super) struct Placing {
    /// Whether an op runs on a device: `on[op][device]`.
    pub(super) on: Vec<Vec<Variable>>,
    pub(super) parcels: Vec<Parcel>,
    /// The op that runs on the first of equal devices, which may be exchanged.
    pinned: Option<OpId>,
}

/// Tensors of one op that travel together.
pub(super) struct Parcel {
    pub(super) tensors: Vec<TensorId>,
    pub(super) producer: OpId,
    pub(super) consumers: Vec<OpId>,
    /// Whether a device holds a copy, of its own or sent. May be true without need, which only costs.
    pub(super) held: Vec<Variable>,
    /// When the copy of a device is there; means nothing if it holds none.
    pub(super) arrival: Vec<Variable>,
    /// From which device to which, and whether it is sent that way.
    pub(super) routes: Vec<(DeviceId, DeviceId, Variable)>,
}

/// When something happens, and whether that takes time: at one moment, what takes none comes first.
pub(super) type Moment = (i64, bool);

impl Placing {
    /// The placement variables; arrivals lie in `0..=horizon`. If all devices are equal, op `pin` runs on the first one.
    pub(super) fn new(
        model: &mut Model,
        problem: &Problem,
        parcels: Vec<Vec<TensorId>>,
        horizon: i64,
        pin: Option<OpId>,
    ) -> Self {
        let devices = problem.device_count();
        let on: Vec<Vec<Variable>> = problem.graph.ops().map(|_| model.choice(devices)).collect();
        let pinned = pin.filter(|_| are_equal(problem));
        if let Some(op) = pinned {
            model.implies(&[], on[op.0 as usize][0]);
        }
        let parcels = parcels.into_iter().map(|tensors| Parcel::new(model, problem, &on, tensors, horizon)).collect();
        Self { on, parcels, pinned }
    }

    /// The same plan, with two equal devices exchanged if the pinned op needs it.
    pub(super) fn canonical(&self, plan: &Plan) -> Plan {
        self.pinned.map_or_else(|| plan.clone(), |op| exchanged(plan, op))
    }

    /// Sets the placement variables to a plan's.
    pub(super) fn assign(&self, plan: &Plan, values: &mut [i64]) {
        let is_on = |op: OpId, k: usize| plan.device[op.0 as usize].0 as usize == k;
        for (row, device) in self.on.iter().zip(&plan.device) {
            values[row[device.0 as usize] as usize] = 1;
        }
        for parcel in &self.parcels {
            for (k, &held) in parcel.held.iter().enumerate() {
                let here = parcel.consumers.iter().chain([&parcel.producer]).any(|&op| is_on(op, k));
                values[held as usize] = i64::from(here);
            }
            for &(from, to, sent) in &parcel.routes {
                let needed = parcel.consumers.iter().any(|&op| is_on(op, to.0 as usize));
                values[sent as usize] = i64::from(needed && is_on(parcel.producer, from.0 as usize));
            }
        }
    }

    /// The plan of a solution, with its steps in the order of their moments.
    pub(super) fn plan(
        &self,
        problem: &Problem,
        values: &[i64],
        op_moment: impl Fn(OpId) -> Moment,
        arrival_moment: impl Fn(&Parcel, DeviceId, DeviceId) -> Moment,
    ) -> Plan {
        let graph = &problem.graph;
        let device: Vec<DeviceId> = self.on.iter().map(|row| chosen(row, values)).collect();
        let device_of = |op: OpId| device[op.0 as usize];
        let mut rank = vec![0; graph.op_count()];
        graph.topological().iter().enumerate().for_each(|(i, op)| rank[op.0 as usize] = i);
        // At one moment the topological order decides, transfers right after the op that produces them.
        let run = |op: OpId| (op_moment(op), rank[op.0 as usize], Step::Run(op));
        let mut steps: Vec<(Moment, usize, Step)> = graph.ops().map(run).collect();
        for parcel in &self.parcels {
            let from = device_of(parcel.producer);
            for to in problem.device_ids().filter(|&to| to != from) {
                let needed = |t: &&TensorId| graph.consumers(**t).iter().any(|&c| device_of(c) == to);
                let send = |&tensor| {
                    (arrival_moment(parcel, from, to), rank[parcel.producer.0 as usize], Step::Transfer { tensor, to })
                };
                steps.extend(parcel.tensors.iter().filter(needed).map(send));
            }
        }
        steps.sort_by_key(|&(moment, rank, step)| (moment, rank, matches!(step, Step::Transfer { .. })));
        Plan { steps: steps.into_iter().map(|(_, _, step)| step).collect(), device }
    }
}

impl Parcel {
    fn new(model: &mut Model, problem: &Problem, on: &[Vec<Variable>], tensors: Vec<TensorId>, horizon: i64) -> Self {
        let graph = &problem.graph;
        let producer = graph.producer(tensors[0]);
        let mut consumers: Vec<OpId> = tensors.iter().flat_map(|&t| graph.consumers(t)).copied().collect();
        consumers.sort_unstable();
        consumers.dedup();
        let held: Vec<Variable> = problem.device_ids().map(|_| model.boolean()).collect();
        let arrival = problem.device_ids().map(|_| model.integer(0, horizon)).collect();
        for op in consumers.iter().chain([&producer]) {
            on[op.0 as usize].iter().zip(&held).for_each(|(&on, &held)| model.implies(&[on], held));
        }
        let mut routes = vec![];
        for from in problem.device_ids().filter(|_| !consumers.is_empty()) {
            for to in problem.device_ids().filter(|&to| to != from) {
                let sent = model.boolean();
                model.implies(&[on[producer.0 as usize][from.0 as usize], held[to.0 as usize]], sent);
                routes.push((from, to, sent));
            }
        }
        Self { tensors, producer, consumers, held, arrival, routes }
    }
}

fn chosen(row: &[Variable], values: &[i64]) -> DeviceId {
    DeviceId(row.iter().position(|&on| values[on as usize] == 1).unwrap_or(0) as u32)
}

/// Whether devices may be exchanged without any effect.
fn are_equal(problem: &Problem) -> bool {
    let class = |device: DeviceId| problem.devices[device.0 as usize].class;
    let mut pairs = problem.device_ids().flat_map(|from| problem.device_ids().map(move |to| (from, to)));
    let some_link = problem.links.get(1);
    problem.device_ids().all(|device| class(device) == class(DeviceId(0)))
        && pairs.all(|(from, to)| from == to || Some(problem.link(from, to)) == some_link)
}

/// The same plan with two devices exchanged, so that `op` runs on the first.
fn exchanged(plan: &Plan, op: OpId) -> Plan {
    let other = plan.device[op.0 as usize];
    let swap = |device: DeviceId| match device {
        DeviceId(0) => other,
        device if device == other => DeviceId(0),
        device => device,
    };
    let step = |&step: &Step| match step {
        Step::Run(op) => Step::Run(op),
        Step::Transfer { tensor, to } => Step::Transfer { tensor, to: swap(to) },
    };
    Plan { device: plan.device.iter().map(|&d| swap(d)).collect(), steps: plan.steps.iter().map(step).collect() }
}
