//! Is a plan valid, and what does it cost? Slow, obvious, and sharing nothing with the searches but the vocabulary.
//!
//! Where the simulator keeps running counts, this works on intervals: it times all steps, finds for every copy of a tensor the
//! first and the last step that needs it, and adds the sizes up over those intervals.

use crate::problem::{Cost, DeviceId, Plan, Problem, Step, Transfers, Weights};
use labrys_dataflow::{OpId, TensorId, WeightId};
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong with a plan. Steps are counted from 0.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// The placement has the wrong length.
    #[error("the plan places {found} ops, the model has {expected}")]
    WrongOpCount {
        /// In the plan.
        found: usize,
        /// In the model.
        expected: usize,
    },
    /// An op is on a device that does not exist.
    #[error("op '{op}' is on device {device}, but there are only {devices}")]
    UnknownDevice {
        /// Name of the op.
        op: String,
        /// Device number.
        device: u32,
        /// Number of devices.
        devices: usize,
    },
    /// A step names an op or tensor that does not exist.
    #[error("step {step} names an op, tensor or device that does not exist")]
    UnknownId {
        /// The step.
        step: usize,
    },
    /// An op does not run at all.
    #[error("op '{op}' never runs")]
    Missing {
        /// Name of the op.
        op: String,
    },
    /// An op runs twice.
    #[error("step {step}: op '{op}' has run before")]
    Repeated {
        /// The step.
        step: usize,
        /// Name of the op.
        op: String,
    },
    /// An input is not on the op's device yet.
    #[error("step {step}: op '{op}' needs tensor '{tensor}', which is not on {device} yet")]
    MissingInput {
        /// The step.
        step: usize,
        /// Name of the op.
        op: String,
        /// Name of the tensor.
        tensor: String,
        /// Name of the device.
        device: String,
    },
    /// A control edge is violated.
    #[error("step {step}: op '{op}' must run after '{before}'")]
    ControlEdge {
        /// The step.
        step: usize,
        /// Name of the op.
        op: String,
        /// Name of the op that must come first.
        before: String,
    },
    /// A transfer comes before the op that produces its tensor.
    #[error("step {step}: tensor '{tensor}' is transferred before it is produced")]
    TooEarly {
        /// The step.
        step: usize,
        /// Name of the tensor.
        tensor: String,
    },
    /// A transfer that no op needs: repeated, to its own device, or to a device without consumers.
    #[error("step {step}: the transfer of tensor '{tensor}' to {device} serves no op")]
    UselessTransfer {
        /// The step.
        step: usize,
        /// Name of the tensor.
        tensor: String,
        /// Name of the device.
        device: String,
    },
    /// A device holds more than its memory.
    #[error("{device} needs {peak} bytes, its memory is {memory}")]
    OutOfMemory {
        /// Name of the device.
        device: String,
        /// Peak in bytes.
        peak: u64,
        /// Limit in bytes.
        memory: u64,
    },
}

/// Checks everything: the plan is complete, every input is where it must be, the memory limits hold.
///
/// # Errors
/// The first violation found.
pub fn check(problem: &Problem, plan: &Plan) -> Result<Cost, Violation> {
    let cost = check_order(problem, plan)?;
    for (device, &peak) in problem.devices.iter().zip(&cost.peaks) {
        if let Some(memory) = device.memory.filter(|&memory| peak > memory) {
            return Err(Violation::OutOfMemory { device: device.name.clone(), peak, memory });
        }
    }
    Ok(cost)
}

/// The same without the memory limits: for the score of a plan that does not fit.
///
/// # Errors
/// The first violation found.
pub fn check_order(problem: &Problem, plan: &Plan) -> Result<Cost, Violation> {
    check_placement(problem, plan)?;
    check_steps(problem, plan)?;
    let (ends, local) = time_steps(problem, plan);
    let makespan = ends.iter().copied().max().unwrap_or(0);
    Ok(Cost { makespan, peaks: peak_memory(problem, plan, &ends, &local) })
}

fn check_placement(problem: &Problem, plan: &Plan) -> Result<(), Violation> {
    let graph = &problem.graph;
    if plan.device.len() != graph.op_count() {
        return Err(Violation::WrongOpCount { found: plan.device.len(), expected: graph.op_count() });
    }
    for op in graph.ops() {
        let device = device_of(plan, op);
        if device.0 as usize >= problem.devices.len() {
            let op = graph.op_name(op).to_owned();
            return Err(Violation::UnknownDevice { op, device: device.0, devices: problem.devices.len() });
        }
    }
    Ok(())
}

fn device_of(plan: &Plan, op: OpId) -> DeviceId {
    plan.device[op.0 as usize]
}

/// Walks the steps with the set of tensors that have reached each device.
fn check_steps(problem: &Problem, plan: &Plan) -> Result<(), Violation> {
    let graph = &problem.graph;
    let mut ran = vec![false; graph.op_count()];
    let mut present: BTreeSet<(TensorId, DeviceId)> = BTreeSet::new();
    let device_name = |device: DeviceId| problem.devices[device.0 as usize].name.clone();
    for (step, &what) in plan.steps.iter().enumerate() {
        match what {
            Step::Run(op) => {
                let Some(seen) = ran.get(op.0 as usize) else { return Err(Violation::UnknownId { step }) };
                let name = || graph.op_name(op).to_owned();
                if *seen {
                    return Err(Violation::Repeated { step, op: name() });
                }
                let device = device_of(plan, op);
                if let Some(&tensor) = graph.inputs(op).iter().find(|&&t| !present.contains(&(t, device))) {
                    let tensor = graph.tensor_name(tensor).to_owned();
                    return Err(Violation::MissingInput { step, op: name(), tensor, device: device_name(device) });
                }
                if let Some(&before) = graph.control(op).iter().find(|before| !ran[before.0 as usize]) {
                    let before = graph.op_name(before).to_owned();
                    return Err(Violation::ControlEdge { step, op: name(), before });
                }
                ran[op.0 as usize] = true;
                present.extend(graph.outputs(op).iter().map(|&t| (t, device)));
            }
            Step::Transfer { tensor, to } => {
                if tensor.0 as usize >= graph.tensor_count() || to.0 as usize >= problem.devices.len() {
                    return Err(Violation::UnknownId { step });
                }
                let name = graph.tensor_name(tensor).to_owned();
                if !ran[graph.producer(tensor).0 as usize] {
                    return Err(Violation::TooEarly { step, tensor: name });
                }
                let waited_for =
                    graph.consumers(tensor).iter().any(|&c| device_of(plan, c) == to && !ran[c.0 as usize]);
                if !waited_for || !present.insert((tensor, to)) {
                    return Err(Violation::UselessTransfer { step, tensor: name, device: device_name(to) });
                }
            }
        }
    }
    match graph.ops().find(|op| !ran[op.0 as usize]) {
        Some(op) => Err(Violation::Missing { op: graph.op_name(op).to_owned() }),
        None => Ok(()),
    }
}

/// A step as one device sees it: its number, and the device's clock when the step comes up.
type LocalStep = (usize, u64);

/// The end of every step in nanoseconds, and for each device the steps that touch it.
fn time_steps(problem: &Problem, plan: &Plan) -> (Vec<u64>, Vec<Vec<LocalStep>>) {
    let graph = &problem.graph;
    let mut device_free = vec![0u64; problem.devices.len()];
    let mut link_free: BTreeMap<(DeviceId, DeviceId), u64> = BTreeMap::new();
    let mut arrival: BTreeMap<(TensorId, DeviceId), u64> = BTreeMap::new();
    let mut finish: Vec<u64> = vec![0; graph.op_count()];
    let mut ends = vec![];
    let mut local = vec![vec![]; problem.devices.len()];
    for (step, &what) in plan.steps.iter().enumerate() {
        let end = match what {
            Step::Run(op) => {
                let device = device_of(plan, op);
                let inputs = graph.inputs(op).iter().map(|&t| arrival[&(t, device)]);
                let control = graph.control(op).iter().map(|before| finish[before.0 as usize]);
                let start = inputs.chain(control).max().unwrap_or(0).max(device_free[device.0 as usize]);
                let end = start + problem.time(op, device);
                local[device.0 as usize].push((step, start));
                device_free[device.0 as usize] = end;
                finish[op.0 as usize] = end;
                arrival.extend(graph.outputs(op).iter().map(|&t| ((t, device), end)));
                end
            }
            Step::Transfer { tensor, to } => {
                let from = device_of(plan, graph.producer(tensor));
                let issued = device_free[from.0 as usize].max(device_free[to.0 as usize]);
                let link = link_free.entry((from, to)).or_default();
                let start = match problem.transfers {
                    Transfers::Synchronous => issued,
                    Transfers::Asynchronous => issued.max(*link),
                };
                let end = start + problem.transfer_time(tensor, from, to);
                *link = end;
                for device in [from, to] {
                    local[device.0 as usize].push((step, device_free[device.0 as usize]));
                    if problem.transfers == Transfers::Synchronous {
                        device_free[device.0 as usize] = end;
                    }
                }
                arrival.insert((tensor, to), end);
                end
            }
        };
        ends.push(end);
    }
    (ends, local)
}

/// First and last step that need a copy of a tensor on a device, and the time until which transfers still read it.
#[derive(Clone, Copy)]
struct Interval {
    first: usize,
    last: usize,
    busy_until: u64,
}

/// Every copy of a tensor that any device ever holds.
fn copies(problem: &Problem, plan: &Plan, ends: &[u64]) -> BTreeMap<(DeviceId, TensorId), Interval> {
    let graph = &problem.graph;
    let mut copies: BTreeMap<(DeviceId, TensorId), Interval> = BTreeMap::new();
    let extend = |copies: &mut BTreeMap<_, Interval>, copy, step, busy_until| {
        let interval: &mut Interval = copies.get_mut(&copy).expect("check_steps has seen this copy arrive");
        interval.last = interval.last.max(step);
        interval.busy_until = interval.busy_until.max(busy_until);
    };
    for (step, &what) in plan.steps.iter().enumerate() {
        match what {
            Step::Run(op) => {
                let device = device_of(plan, op);
                for &tensor in graph.outputs(op) {
                    let last = if graph.is_kept(tensor) { plan.steps.len() - 1 } else { step };
                    copies.insert((device, tensor), Interval { first: step, last, busy_until: 0 });
                }
                for &tensor in graph.inputs(op) {
                    extend(&mut copies, (device, tensor), step, 0);
                }
            }
            Step::Transfer { tensor, to } => {
                let from = device_of(plan, graph.producer(tensor));
                extend(&mut copies, (from, tensor), step, ends[step]);
                copies.insert((to, tensor), Interval { first: step, last: step, busy_until: 0 });
            }
        }
    }
    copies
}

fn peak_memory(problem: &Problem, plan: &Plan, ends: &[u64], local: &[Vec<LocalStep>]) -> Vec<u64> {
    let mut changes: BTreeMap<DeviceId, BTreeMap<usize, i128>> = BTreeMap::new();
    for ((device, tensor), interval) in copies(problem, plan, ends) {
        let mut last = interval.last;
        if problem.transfers == Transfers::Asynchronous {
            // Local steps that come up while a transfer still reads the tensor find it in memory, too.
            let local = &local[device.0 as usize];
            let after = local.partition_point(|&(step, _)| step <= last);
            let busy = local[after..].iter().take_while(|&&(_, clock)| clock < interval.busy_until);
            last = busy.last().map_or(last, |&(step, _)| step);
        }
        let change = changes.entry(device).or_default();
        *change.entry(interval.first).or_default() += i128::from(problem.graph.bytes(tensor));
        *change.entry(last + 1).or_default() -= i128::from(problem.graph.bytes(tensor));
    }
    let weights = resident_weights(problem, plan);
    let mut peak = |d: DeviceId| peak_of(problem, plan, changes.remove(&d).unwrap_or_default(), &local[d.0 as usize]);
    problem.device_ids().map(&mut peak).zip(weights).map(|(peak, weights)| peak + weights).collect()
}

/// The most that a device holds, given what is added and taken away at each step, and the steps that touch it.
fn peak_of(problem: &Problem, plan: &Plan, mut change: BTreeMap<usize, i128>, local: &[LocalStep]) -> u64 {
    let (mut held, mut peak) = (0i128, 0i128);
    for &(step, _) in local {
        while let Some(entry) = change.first_entry().filter(|entry| *entry.key() <= step) {
            held += entry.remove();
        }
        let scratch = match plan.steps[step] {
            Step::Run(op) => problem.graph.scratch(op),
            Step::Transfer { .. } => 0,
        };
        peak = peak.max(held + i128::from(scratch));
    }
    u64::try_from(peak).expect("a peak starts at 0 and sums of sizes fit in 60 bits")
}

/// Bytes of the weights that each device holds.
fn resident_weights(problem: &Problem, plan: &Plan) -> Vec<u64> {
    let graph = &problem.graph;
    let mut held: BTreeSet<(DeviceId, WeightId)> = BTreeSet::new();
    if problem.weights == Weights::Resident {
        held.extend(
            graph.ops().flat_map(|op| graph.reads(op).iter().map(move |&weight| (device_of(plan, op), weight))),
        );
    }
    let mut bytes = vec![0; problem.devices.len()];
    for (device, weight) in held {
        bytes[device.0 as usize] += graph.weight_bytes(weight);
    }
    bytes
}
