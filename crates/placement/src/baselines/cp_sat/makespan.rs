//! Makespan over synchronous links: every op is an interval on one device; a transfer is an interval, maybe of no length, on both
//! of its devices at once, so that neither is in the middle of an op.

use super::messages::CpModel;
use super::model::{Model, Variable, shifted};
use super::placing::{Moment, Parcel, Placing};
use super::{Formulation, constant, units};
use crate::problem::{DeviceId, Plan, Problem};
use crate::simulate::{Observer, Simulator};
use labrys_dataflow::{OpId, TensorId};

pub(super) struct Makespan<'p> {
    problem: &'p Problem,
    model: CpModel,
    /// Nanoseconds in one unit of the model's time: the greatest that keeps all times whole.
    unit: u64,
    placing: Placing,
    start: Vec<Variable>,
    end: Vec<Variable>,
    makespan: Variable,
}

impl<'p> Makespan<'p> {
    /// The model of all plans with a makespan between `bound` and that of `start`, or of one device alone.
    pub(super) fn new(problem: &'p Problem, bound: u64, start: Option<&Plan>) -> Self {
        let unit = unit(problem);
        let horizon = units(start.map_or_else(|| serial(problem), |plan| makespan_of(problem, plan)), unit);
        let longest = problem.graph.ops().max_by_key(|&op| problem.time(op, DeviceId(0)));
        let mut model = Model::default();
        let placing = Placing::new(&mut model, problem, parcels(problem), horizon, longest);
        let ops = || problem.graph.ops();
        let this = Self {
            problem,
            unit,
            placing,
            start: ops().map(|_| model.integer(0, horizon)).collect(),
            end: ops().map(|_| model.integer(0, horizon)).collect(),
            makespan: model.integer(units(bound.next_multiple_of(unit), unit).min(horizon), horizon),
            model: CpModel::default(),
        };
        this.precede(&mut model);
        this.share_devices(&mut model);
        model.minimise(this.makespan);
        Self { model: model.proto, ..this }
    }

    fn time(&self, op: OpId, device: DeviceId) -> i64 {
        units(self.problem.time(op, device), self.unit)
    }

    /// Units of time that a parcel takes.
    fn travel(&self, parcel: &Parcel, from: DeviceId, to: DeviceId) -> i64 {
        let time = |&tensor| self.problem.transfer_time(tensor, from, to);
        units(parcel.tensors.iter().map(time).sum(), self.unit)
    }

    /// Ops start after their predecessors, and after their inputs have arrived.
    fn precede(&self, model: &mut Model) {
        let graph = &self.problem.graph;
        for op in graph.ops() {
            let o = op.0 as usize;
            model.after(&[], self.makespan, self.end[o], 0);
            graph.preds(op).iter().for_each(|before| model.after(&[], self.start[o], self.end[before.0 as usize], 0));
        }
        for parcel in &self.placing.parcels {
            for &(from, to, sent) in &parcel.routes {
                let travel = self.travel(parcel, from, to);
                model.after(&[sent], parcel.arrival[to.0 as usize], self.end[parcel.producer.0 as usize], travel);
            }
            for consumer in &parcel.consumers {
                for (&on, &arrival) in self.placing.on[consumer.0 as usize].iter().zip(&parcel.arrival) {
                    model.after(&[on], self.start[consumer.0 as usize], arrival, 0);
                }
            }
        }
    }

    /// A device does one thing at a time; its load is a bound, too.
    fn share_devices(&self, model: &mut Model) {
        for device in self.problem.device_ids() {
            let (mut intervals, mut load) = (vec![], vec![(self.makespan, 1)]);
            for op in self.problem.graph.ops() {
                let (on, time) = (self.placing.on[op.0 as usize][device.0 as usize], self.time(op, device));
                let [start, end] = [&self.start, &self.end].map(|when| shifted(when[op.0 as usize], 0));
                intervals.push(model.interval(on, start, constant(time), end));
                load.push((on, -time));
            }
            model.at_least(&[], &load, 0);
            for parcel in &self.placing.parcels {
                for &(from, to, sent) in parcel.routes.iter().filter(|(from, to, _)| [from, to].contains(&&device)) {
                    let (arrival, travel) = (parcel.arrival[to.0 as usize], self.travel(parcel, from, to));
                    let [start, end] = [-travel, 0].map(|offset| shifted(arrival, offset));
                    intervals.push(model.interval(sent, start, constant(travel), end));
                }
            }
            model.no_overlap(intervals);
        }
    }
}

impl Formulation for Makespan<'_> {
    fn model(&self) -> &CpModel {
        &self.model
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn assignment(&self, plan: &Plan) -> Vec<i64> {
        let plan = &self.placing.canonical(plan);
        let mut values = vec![0; self.model.variables.len()];
        self.placing.assign(plan, &mut values);
        let mut seen = Times::new(self.problem);
        let cost = Simulator::new(self.problem).observe(plan, &mut seen);
        for op in self.problem.graph.ops() {
            let (start, end) = seen.ops[op.0 as usize];
            values[self.start[op.0 as usize] as usize] = units(start, self.unit);
            values[self.end[op.0 as usize] as usize] = units(end, self.unit);
        }
        for parcel in &self.placing.parcels {
            for (k, &arrival) in parcel.arrival.iter().enumerate() {
                // What travels together does so when the first of it did: that costs nothing where it is done.
                let first = parcel.tensors.iter().filter_map(|t| seen.arrivals[t.0 as usize][k]).min();
                values[arrival as usize] = first.map_or(0, |time| units(time, self.unit));
            }
        }
        values[self.makespan as usize] = units(cost.makespan, self.unit);
        values
    }

    fn plan(&self, values: &[i64]) -> Plan {
        let op_moment = |op: OpId| -> Moment {
            let [start, end] = [&self.start, &self.end].map(|when| values[when[op.0 as usize] as usize]);
            (start, end > start)
        };
        let arrival_moment = |parcel: &Parcel, from, to: DeviceId| {
            let travel = self.travel(parcel, from, to);
            (values[parcel.arrival[to.0 as usize] as usize] - travel, travel > 0)
        };
        self.placing.plan(self.problem, values, op_moment, arrival_moment)
    }
}

/// Tensors that travel together: over free links all that an op produces, since the first transfer has both devices wait already.
fn parcels(problem: &Problem) -> Vec<Vec<TensorId>> {
    let graph = &problem.graph;
    let consumed = |tensor: &TensorId| !graph.consumers(*tensor).is_empty();
    let all = graph.ops().map(|op| graph.outputs(op).iter().copied().filter(consumed).collect::<Vec<_>>());
    if problem.device_count() == 1 {
        vec![]
    } else if problem.has_free_links() {
        all.filter(|tensors| !tensors.is_empty()).collect()
    } else {
        all.flatten().map(|tensor| vec![tensor]).collect()
    }
}

/// The makespan of the best device alone, which needs no transfer.
fn serial(problem: &Problem) -> u64 {
    let alone = |device| problem.graph.ops().map(|op| problem.time(op, device)).sum();
    problem.device_ids().map(alone).min().unwrap_or(0)
}

fn makespan_of(problem: &Problem, plan: &Plan) -> u64 {
    Simulator::for_score(problem).simulate(plan).makespan
}

fn unit(problem: &Problem) -> u64 {
    let graph = &problem.graph;
    let ops = problem.device_ids().flat_map(|device| graph.ops().map(move |op| problem.time(op, device)));
    let pairs = || problem.device_ids().flat_map(|from| problem.device_ids().map(move |to| (from, to)));
    let links = pairs().filter(|(from, to)| from != to);
    let transfers = links.flat_map(|(from, to)| graph.tensors().map(move |t| problem.transfer_time(t, from, to)));
    super::common_unit(ops.chain(transfers))
}

/// Start and end of every op, and when each tensor reached each device, in nanoseconds.
struct Times {
    ops: Vec<(u64, u64)>,
    arrivals: Vec<Vec<Option<u64>>>,
}

impl Times {
    fn new(problem: &Problem) -> Self {
        let arrivals = vec![vec![None; problem.device_count()]; problem.graph.tensor_count()];
        Self { ops: vec![(0, 0); problem.graph.op_count()], arrivals }
    }
}

impl Observer for Times {
    fn ran(&mut self, op: OpId, _: DeviceId, start: u64, end: u64, _: u64) {
        self.ops[op.0 as usize] = (start, end);
    }

    fn transferred(&mut self, tensor: TensorId, [_, to]: [DeviceId; 2], _: u64, end: u64, _: [u64; 2]) {
        self.arrivals[tensor.0 as usize][to.0 as usize] = Some(end);
    }
}
