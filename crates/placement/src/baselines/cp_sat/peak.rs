//! Peak memory, as in A.10 of the paper: execution order, tensor lifetimes, and a cumulative constraint over them on each device.
//! Time is counted in steps; an op takes one on its device, a transfer one on both of its own.

use super::messages::CpModel;
use super::model::{Model, Variable, shifted};
use super::placing::{Parcel, Placing};
use super::{Formulation, common_unit, constant, units};
use crate::problem::{DeviceId, Plan, Problem, Step, Weights};
use labrys_dataflow::{OpId, TensorId};

pub(super) struct Peak<'p> {
    problem: &'p Problem,
    model: CpModel,
    /// Bytes in one unit of the model's memory: the greatest that keeps all sizes whole.
    unit: u64,
    placing: Placing,
    /// The step of each op.
    step: Vec<Variable>,
    /// How many steps each device holds its copy of a parcel, and the first one after.
    lifetimes: Vec<Vec<(Variable, Variable)>>,
    /// Whether a device holds a weight.
    weights: Vec<Vec<Variable>>,
    peak: Variable,
    horizon: i64,
}

impl<'p> Peak<'p> {
    /// The model of all plans with a peak of at least `bound`, which is proven.
    pub(super) fn new(problem: &'p Problem, bound: u64) -> Self {
        let (graph, unit, horizon) = (&problem.graph, unit(problem), most_steps(problem));
        let parcels = graph.tensors().map(|tensor| vec![tensor]).collect();
        let largest = graph.ops().max_by_key(|&op| footprint(problem, op));
        let mut model = Model::default();
        let placing = Placing::new(&mut model, problem, parcels, horizon, largest);
        let lifetime = |model: &mut Model| (model.integer(1, horizon.max(1)), model.integer(0, horizon));
        let on_each_device = |model: &mut Model| problem.device_ids().map(|_| lifetime(model)).collect();
        let resident = if problem.weights == Weights::Resident { graph.weight_count() } else { 0 };
        let most = units(total(problem), unit);
        let this = Self {
            problem,
            unit,
            step: graph.ops().map(|_| model.integer(0, horizon - 1)).collect(),
            lifetimes: placing.parcels.iter().map(|_| on_each_device(&mut model)).collect(),
            weights: (0..resident).map(|_| problem.device_ids().map(|_| model.boolean()).collect()).collect(),
            peak: model.integer(units(bound.next_multiple_of(unit), unit).min(most), most),
            placing,
            horizon,
            model: CpModel::default(),
        };
        this.precede(&mut model);
        this.keep(&mut model);
        problem.device_ids().for_each(|device| this.share_device(&mut model, device));
        model.minimise(this.peak);
        Self { model: model.proto, ..this }
    }

    /// Ops run after their predecessors and after their inputs have arrived.
    fn precede(&self, model: &mut Model) {
        let graph = &self.problem.graph;
        for op in graph.ops() {
            let before = graph.preds(op).iter().map(|before| self.step[before.0 as usize]);
            before.for_each(|before| model.after(&[], self.step[op.0 as usize], before, 1));
        }
        for parcel in &self.placing.parcels {
            let produced = self.step[parcel.producer.0 as usize];
            for (&on, &arrival) in self.placing.on[parcel.producer.0 as usize].iter().zip(&parcel.arrival) {
                // A copy of the device's own is there as soon as its producer runs.
                model.after(&[on], arrival, produced, 0);
                model.after(&[on], produced, arrival, 0);
            }
            for &(_, to, sent) in &parcel.routes {
                model.after(&[sent], parcel.arrival[to.0 as usize], produced, 1);
            }
            for consumer in &parcel.consumers {
                for (&on, &arrival) in self.placing.on[consumer.0 as usize].iter().zip(&parcel.arrival) {
                    model.after(&[on], self.step[consumer.0 as usize], arrival, 1);
                }
            }
        }
    }

    /// A copy lives until after its last local user: consumers, transfers out, the end for outputs of the graph.
    fn keep(&self, model: &mut Model) {
        let graph = &self.problem.graph;
        for (parcel, lifetimes) in self.placing.parcels.iter().zip(&self.lifetimes) {
            for consumer in &parcel.consumers {
                for (&on, &(_, end)) in self.placing.on[consumer.0 as usize].iter().zip(lifetimes) {
                    model.after(&[on], end, self.step[consumer.0 as usize], 1);
                }
            }
            for &(from, to, sent) in &parcel.routes {
                model.after(&[sent], lifetimes[from.0 as usize].1, parcel.arrival[to.0 as usize], 1);
            }
            if graph.is_kept(parcel.tensors[0]) {
                for (&on, &(_, end)) in self.placing.on[parcel.producer.0 as usize].iter().zip(lifetimes) {
                    model.at_least(&[on], &[(end, 1)], self.horizon);
                }
            }
        }
        for (weight, held) in graph.weights().zip(&self.weights) {
            for op in graph.ops().filter(|&op| graph.reads(op).contains(&weight)) {
                self.placing.on[op.0 as usize].iter().zip(held).for_each(|(&on, &held)| model.implies(&[on], held));
            }
        }
    }

    /// A device takes one step at a time and never holds more than the peak.
    fn share_device(&self, model: &mut Model, device: DeviceId) {
        let (graph, k) = (&self.problem.graph, device.0 as usize);
        let (mut steps, mut demands) = (vec![], vec![]);
        for op in graph.ops() {
            let (on, step) = (self.placing.on[op.0 as usize][k], self.step[op.0 as usize]);
            let interval = model.interval(on, shifted(step, 0), constant(1), shifted(step, 1));
            steps.push(interval);
            demands.push((interval, graph.scratch(op)));
        }
        for (parcel, lifetimes) in self.placing.parcels.iter().zip(&self.lifetimes) {
            for &(_, to, sent) in parcel.routes.iter().filter(|(from, to, _)| [from, to].contains(&&device)) {
                let arrival = parcel.arrival[to.0 as usize];
                steps.push(model.interval(sent, shifted(arrival, 0), constant(1), shifted(arrival, 1)));
            }
            let (start, (length, end)) = (parcel.arrival[k], lifetimes[k]);
            let [start, length, end] = [start, length, end].map(|variable| shifted(variable, 0));
            demands.push((model.interval(parcel.held[k], start, length, end), graph.bytes(parcel.tensors[0])));
        }
        for (weight, held) in graph.weights().zip(&self.weights) {
            let always = [0, self.horizon, self.horizon].map(constant);
            let [start, size, end] = always;
            demands.push((model.interval(held[k], start, size, end), graph.weight_bytes(weight)));
        }
        model.no_overlap(steps);
        let demands = demands.into_iter().filter(|&(_, bytes)| bytes > 0);
        let demands: Vec<_> = demands.map(|(interval, bytes)| (interval, units(bytes, self.unit))).collect();
        model.cumulative(self.peak, &demands);
    }

    /// Sets when copies come and go in a plan whose steps are numbered as they stand.
    fn assign_lifetimes(&self, plan: &Plan, values: &mut [i64]) {
        for (parcel, lifetimes) in self.placing.parcels.iter().zip(&self.lifetimes) {
            let home = plan.device[parcel.producer.0 as usize];
            for device in self.problem.device_ids() {
                let arrival = parcel.arrival[device.0 as usize];
                if device == home {
                    values[arrival as usize] = values[self.step[parcel.producer.0 as usize] as usize];
                }
                let consumers = parcel.consumers.iter().filter(|c| plan.device[c.0 as usize] == device);
                let uses = consumers.map(|c| self.step[c.0 as usize]);
                let sent =
                    parcel.routes.iter().filter(|(from, _, sent)| *from == device && values[*sent as usize] == 1);
                let sent = sent.map(|(_, to, _)| parcel.arrival[to.0 as usize]);
                let last = uses.chain(sent).chain([arrival]).map(|user| values[user as usize]).max();
                let kept = device == home && self.problem.graph.is_kept(parcel.tensors[0]);
                let end_value = if kept { self.horizon } else { last.unwrap_or(0) + 1 };
                let (length, end) = lifetimes[device.0 as usize];
                values[end as usize] = end_value;
                values[length as usize] = end_value - values[arrival as usize];
            }
        }
    }
}

impl Formulation for Peak<'_> {
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
        for (i, &step) in plan.steps.iter().enumerate() {
            let variable = match step {
                Step::Run(op) => self.step[op.0 as usize],
                // Parcels are single tensors, in their order.
                Step::Transfer { tensor, to } => self.placing.parcels[tensor.0 as usize].arrival[to.0 as usize],
            };
            values[variable as usize] = i as i64;
        }
        self.assign_lifetimes(plan, &mut values);
        for (weight, held) in self.problem.graph.weights().zip(&self.weights) {
            for op in self.problem.graph.ops().filter(|&op| self.problem.graph.reads(op).contains(&weight)) {
                values[held[plan.device[op.0 as usize].0 as usize] as usize] = 1;
            }
        }
        let peak = crate::Simulator::new(self.problem).simulate(plan).peak();
        values[self.peak as usize] = units(peak, self.unit);
        values
    }

    fn plan(&self, values: &[i64]) -> Plan {
        let op_moment = |op: OpId| (values[self.step[op.0 as usize] as usize], true);
        let arrival_moment = |parcel: &Parcel, _, to: DeviceId| (values[parcel.arrival[to.0 as usize] as usize], true);
        self.placing.plan(self.problem, values, op_moment, arrival_moment)
    }
}

/// Every op once, every tensor to each other device with a consumer at most once.
fn most_steps(problem: &Problem) -> i64 {
    let others = problem.device_count() - 1;
    let copies = |tensor: TensorId| problem.graph.consumers(tensor).len().min(others);
    (problem.graph.op_count() + problem.graph.tensors().map(copies).sum::<usize>()) as i64
}

/// Bytes that are held while an op runs, whatever else is.
fn footprint(problem: &Problem, op: OpId) -> u64 {
    let graph = &problem.graph;
    let tensors = graph.inputs(op).iter().chain(graph.outputs(op));
    tensors.map(|&tensor| graph.bytes(tensor)).sum::<u64>() + graph.scratch(op)
}

/// Bytes that no plan exceeds on one device.
fn total(problem: &Problem) -> u64 {
    let graph = &problem.graph;
    let scratch = graph.ops().map(|op| graph.scratch(op)).max().unwrap_or(0);
    let weights: u64 = graph.weights().map(|weight| graph.weight_bytes(weight)).sum();
    graph.tensors().map(|tensor| graph.bytes(tensor)).sum::<u64>() + scratch + weights
}

fn unit(problem: &Problem) -> u64 {
    let graph = &problem.graph;
    let tensors = graph.tensors().map(|tensor| graph.bytes(tensor));
    let weights = graph.weights().map(|weight| graph.weight_bytes(weight));
    common_unit(tensors.chain(weights).chain(graph.ops().map(|op| graph.scratch(op))))
}
