//! Where walks start: the orders of the portfolio, each with simple placements.

use crate::orders;
use crate::problem::{DeviceId, Plan, Problem, Weights};
use crate::simulate::Simulator;
use labrys_dataflow::{Graph, OpId};
use labrys_graph::Id;
use labrys_search::Runner;

/// Offers the best plan of each order, under the name of the order, until the runner stops; the first one always.
pub fn constructive(problem: &Problem, run: &mut Runner<Plan>) {
    let mut simulator = Simulator::new(problem);
    for orders in orders::batches(&problem.graph) {
        for (name, order) in orders {
            for device in placements(problem, &order) {
                let plan = Plan::with_lazy_transfers(&problem.graph, device, &order, problem.device_count());
                run.spend(1);
                run.offer(problem.score(&simulator.simulate(&plan)), name, || plan);
            }
        }
        if run.should_stop() {
            return;
        }
    }
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
