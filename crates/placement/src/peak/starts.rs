//! Where walks start: the orders of the portfolio, each with simple placements.

use super::balance::balanced;
use super::warm::GuidedPlan;
use crate::guide::{OrderGuide, candidates};
use crate::orders;
use crate::problem::{DeviceId, Plan, Problem, Weights};
use crate::simulate::Simulator;
use labrys_dataflow::{Graph, OpId};
use labrys_graph::Id;
use labrys_search::Runner;
use rayon::prelude::*;
use std::time::Duration;

/// Offers the best plan of each order, under the name of the order, until the runner stops; the first one always. Then the
/// order that came out best with a balanced placement.
pub fn constructive(problem: &Problem, run: &mut Runner<Plan>) {
    let mut simulator = Simulator::new(problem);
    for orders in orders::batches(&problem.graph) {
        for (name, order) in orders {
            for device in placements(problem, &order) {
                offer(problem, name, &order, device, &mut simulator, run);
            }
        }
        if run.should_stop() {
            return;
        }
    }
    let best: Option<Vec<OpId>> = run.best().map(|(_, plan)| plan.order().collect());
    if let Some((order, device)) = best.and_then(|order| balanced(problem, &order).map(|device| (order, device))) {
        offer(problem, "balanced", &order, device, &mut simulator, run);
    }
}

/// How many of a guide's orders are placed.
const GUIDED_ORDERS: usize = 2;

/// Advice is worth its time if so much is left for each op: somewhat more than advice and orders take.
const LEAST_TIME_PER_OP: Duration = Duration::from_micros(12);

/// Offers the best orders that a guide leads to; returns the plan if one of them is the best so far.
pub fn guided(problem: &Problem, guide: &OrderGuide, run: &mut Runner<Plan>) -> Option<GuidedPlan> {
    if run.time_left().is_some_and(|time| time < LEAST_TIME_PER_OP * problem.graph.op_count() as u32) {
        return None;
    }
    let mut simulator = Simulator::new(problem);
    let advice = guide.advise(&problem.graph);
    let known =
        run.best().map_or(u64::MAX, |(_, plan)| orders::peak(&problem.graph, &plan.order().collect::<Vec<_>>()));
    let orders = candidates::orders(&problem.graph, &advice, known, run.seed(), GUIDED_ORDERS);
    let placements =
        |order: &Vec<OpId>| balanced(problem, order).map_or_else(|| placements(problem, order), |p| vec![p]);
    let placed: Vec<Vec<Vec<DeviceId>>> = orders.par_iter().map(placements).collect();
    let mut is_best = false;
    for (order, devices) in orders.iter().zip(placed) {
        for device in devices {
            is_best |= offer(problem, "guided order", order, device, &mut simulator, run);
        }
    }
    let plan = run.best().filter(|_| is_best).map(|(_, plan)| plan.clone())?;
    Some(GuidedPlan { plan, temperature: advice.usable_temperature() })
}

/// A start of walks that is not close to any good plan: the order of `plan`, each op on the lightest device when it comes up.
pub(super) fn far(problem: &Problem, plan: &Plan) -> Plan {
    let order: Vec<OpId> = plan.order().collect();
    Plan::with_lazy_transfers(&problem.graph, lightest(problem, &order), &order, problem.device_count())
}

/// Offers an order with a placement; says whether it is the best plan so far.
fn offer(
    problem: &Problem,
    name: &'static str,
    order: &[OpId],
    device: Vec<DeviceId>,
    simulator: &mut Simulator<'_>,
    run: &mut Runner<Plan>,
) -> bool {
    let plan = Plan::with_lazy_transfers(&problem.graph, device, order, problem.device_count());
    run.spend(1);
    run.offer(problem.score(&simulator.simulate(&plan)), name, || plan)
}

fn placements(problem: &Problem, order: &[OpId]) -> Vec<Vec<DeviceId>> {
    if problem.device_count() == 1 {
        return vec![vec![DeviceId(0); order.len()]];
    }
    // Everything on one device first: where memory is not what matters, it is the plan without transfers.
    vec![vec![roomiest(problem); order.len()], lightest(problem, order), contiguous(problem, order)]
}

/// The device with the largest memory, the first of equals.
fn roomiest(problem: &Problem) -> DeviceId {
    let room = |d: &DeviceId| (problem.devices[d.index()].memory.unwrap_or(u64::MAX), std::cmp::Reverse(*d));
    problem.device_ids().max_by_key(room).unwrap_or(DeviceId(0))
}

/// Each op goes to the device that holds least when it comes up, as a share of its limit; what is held stays where it was made.
fn lightest(problem: &Problem, order: &[OpId]) -> Vec<DeviceId> {
    let graph = &*problem.graph;
    let mut device = vec![DeviceId(0); order.len()];
    let mut held = vec![0u64; problem.device_count()];
    let mut waiting: Vec<u32> =
        graph.tensors().map(|t| graph.consumers(t).len() as u32 + u32::from(graph.is_kept(t))).collect();
    let mut resident = vec![false; graph.weight_count()];
    for &op in order {
        let lightest = (0..held.len()).min_by_key(|&d| held[d]).unwrap_or(0);
        device[op.index()] = DeviceId::new(lightest);
        held[lightest] += graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum::<u64>();
        if problem.weights == Weights::Resident {
            for &weight in graph.reads(op) {
                if !std::mem::replace(&mut resident[weight.index()], true) {
                    held[lightest] += graph.weight_bytes(weight);
                }
            }
        }
        for &tensor in graph.inputs(op) {
            waiting[tensor.index()] -= 1;
            if waiting[tensor.index()] == 0 {
                held[device[graph.producer(tensor).index()].index()] -= graph.bytes(tensor);
            }
        }
        for &tensor in graph.outputs(op).iter().filter(|t| waiting[t.index()] == 0) {
            held[lightest] -= graph.bytes(tensor);
        }
    }
    device
}

/// The order cut into as many parts as there are devices, with equal sums of output sizes.
fn contiguous(problem: &Problem, order: &[OpId]) -> Vec<DeviceId> {
    let graph: &Graph = &problem.graph;
    let size = |op: OpId| graph.outputs(op).iter().map(|&t| u128::from(graph.bytes(t))).sum::<u128>() + 1;
    let total: u128 = order.iter().map(|&op| size(op)).sum();
    let devices = problem.device_count();
    let mut device = vec![DeviceId(0); order.len()];
    let mut done = 0u128;
    for &op in order {
        device[op.index()] = DeviceId::new((done * devices as u128 / total) as usize);
        done += size(op);
    }
    device
}
