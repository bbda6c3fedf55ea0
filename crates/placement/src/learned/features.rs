//! What the policy sees of a problem (REGAL A.2): 11 numbers an op and 3 an edge for run time on two devices.
//!
//! Node features, in this order: memory (sum of input sizes, sum of output sizes, scratch memory, is the op of the greatest
//! memory); run time, not for the peak-memory objective (sum over predecessors, sum over successors, the op's own, is the op of
//! the greatest run time); what a short uniform BRKGA found (expected share on each device, expected place in the order).
//! Edge features: size, is a control edge, number of the tensor among all tensors.

use super::actions::Decoder;
use crate::decode::PaperDecoder;
use crate::problem::{Objective, Plan, Problem};
use labrys_dataflow::{Graph, OpId};
use labrys_nn::{EdgeArrays, GraphBatch, Matrix};
use labrys_search::brkga;
use labrys_search::{Limits, Runner};

/// Evaluations of uniform BRKGA that the BRKGA-based features cost; they come off the budget.
pub const SCOUT_EVALUATIONS: u64 = 400;
/// Features of an edge.
pub const EDGE_FEATURES: usize = 3;
const MEMORY_FEATURES: usize = 4;
const TIME_FEATURES: usize = 4;

/// Features of a node for an objective and a number of devices.
pub fn node_features(objective: Objective, devices: usize) -> usize {
    let time = if objective == Objective::Makespan { TIME_FEATURES } else { 0 };
    MEMORY_FEATURES + time + devices + 1
}

/// What uniform BRKGA tends to do with each op: expectations over the chromosomes that it found.
#[derive(Clone, PartialEq, Debug)]
pub struct Tendency {
    /// Share of the chromosomes that place an op on a device, at `op * devices + device`.
    pub placement: Vec<f32>,
    /// Mean place of each op in the order, from 0 (first) to 1 (last).
    pub order: Vec<f32>,
}

/// The op whose device is fixed to the first, as devices are alike: the one of the greatest run time or, for the peak-memory
/// objective, the greatest memory. The first of equals.
pub fn fixed_op(problem: &Problem) -> OpId {
    let graph = &problem.graph;
    match problem.objective {
        Objective::Makespan => greatest(graph, |op| graph.time(op)),
        Objective::PeakMemory => greatest(graph, |op| op_memory(graph, op)),
    }
}

/// Runs uniform BRKGA for [`SCOUT_EVALUATIONS`], or less if less is left, offers what it finds and says what it tends to.
pub fn scout(problem: &Problem, actions: &Decoder, run: &mut Runner<Plan>) -> Tendency {
    let decoder = PaperDecoder::new(problem);
    let params = actions.uniform(problem);
    let limits = Limits { work: Some(run.work_left().min(SCOUT_EVALUATIONS)), time: run.time_left() };
    let mut part = Runner::new(limits, run.seed().derive("scout", 0));
    let population = brkga::evolve(&decoder, &params, &mut part, "REGAL scout", |keys| decoder.plan(keys));
    let outcome = part.finish();
    run.spend(outcome.work);
    if let Some((score, plan)) = outcome.best {
        run.offer(score, "REGAL scout", || plan);
    }
    let plans: Vec<Plan> = population.iter().map(|(_, keys)| decoder.plan(keys)).collect();
    expectations(problem, &plans)
}

fn expectations(problem: &Problem, plans: &[Plan]) -> Tendency {
    let (ops, devices) = (problem.graph.op_count(), problem.device_count());
    let mut tendency = Tendency { placement: vec![0.0; ops * devices], order: vec![0.0; ops] };
    let share = 1.0 / plans.len().max(1) as f32;
    let last = (ops.max(2) - 1) as f32;
    for plan in plans {
        for (op, device) in plan.device.iter().enumerate() {
            tendency.placement[op * devices + device.0 as usize] += share;
        }
        for (place, op) in plan.order().enumerate() {
            tendency.order[op.0 as usize] += share * place as f32 / last;
        }
    }
    tendency
}

/// The features of a problem: nodes are the ops in topological order, edges the triples (producer, tensor, consumer) and the
/// control edges. Sizes are relative to the greatest of all sizes and sums of sizes here, times to the greatest run time of an
/// op.
pub fn features(problem: &Problem, tendency: &Tendency) -> GraphBatch {
    let graph = &*problem.graph;
    let devices = problem.device_count();
    let byte_unit = graph.ops().flat_map(|op| sizes(graph, op)).max().unwrap_or(0).max(1) as f32;
    let time_unit = graph.ops().map(|op| graph.time(op)).max().unwrap_or(0).max(1) as f32;
    let heaviest = greatest(graph, |op| op_memory(graph, op));
    let slowest = greatest(graph, |op| graph.time(op));
    let sum = |ops: &[OpId]| ops.iter().map(|&op| graph.time(op)).sum::<u64>() as f32 / time_unit;
    let width = node_features(problem.objective, devices);
    let mut nodes = Vec::with_capacity(graph.op_count() * width);
    for &op in graph.topological() {
        nodes.extend(sizes(graph, op).map(|bytes| bytes as f32 / byte_unit));
        nodes.push(f32::from(op == heaviest));
        if problem.objective == Objective::Makespan {
            nodes.extend([sum(graph.preds(op)), sum(graph.succs(op)), graph.time(op) as f32 / time_unit]);
            nodes.push(f32::from(op == slowest));
        }
        nodes.extend(&tendency.placement[op.0 as usize * devices..][..devices]);
        nodes.push(tendency.order[op.0 as usize]);
    }
    let nodes = Matrix::new(graph.op_count(), width, nodes);
    let (edges, ends) = edges(graph, byte_unit);
    GraphBatch::new(nodes, edges, ends).expect("edges join ops of the graph")
}

/// Features and ends of the edges. The control edges out of an op count as one tensor of size zero.
fn edges(graph: &Graph, byte_unit: f32) -> (Matrix, EdgeArrays) {
    let mut node = vec![0u32; graph.op_count()];
    graph.topological().iter().zip(0..).for_each(|(op, place)| node[op.0 as usize] = place);
    let mut sends_control = vec![false; graph.op_count()];
    graph.ops().flat_map(|op| graph.control(op)).for_each(|before| sends_control[before.0 as usize] = true);
    let mut control_number = vec![0; graph.op_count()];
    let mut tensors = graph.tensor_count();
    for (number, _) in control_number.iter_mut().zip(&sends_control).filter(|(_, sends)| **sends) {
        *number = tensors;
        tensors += 1;
    }
    let share = |number: usize| number as f32 / tensors.max(1) as f32;
    let (mut rows, mut ends) = (vec![], EdgeArrays::default());
    let mut add = |from: OpId, to: OpId, features: [f32; EDGE_FEATURES]| {
        ends.sources.push(node[from.0 as usize]);
        ends.targets.push(node[to.0 as usize]);
        rows.extend(features);
    };
    for op in graph.ops() {
        for &tensor in graph.inputs(op) {
            let size = graph.bytes(tensor) as f32 / byte_unit;
            add(graph.producer(tensor), op, [size, 0.0, share(tensor.0 as usize)]);
        }
        for &before in graph.control(op) {
            add(before, op, [0.0, 1.0, share(control_number[before.0 as usize])]);
        }
    }
    (Matrix::new(ends.sources.len(), EDGE_FEATURES, rows), ends)
}

/// Bytes of all inputs together, of all outputs together, and of scratch memory.
fn sizes(graph: &Graph, op: OpId) -> [u64; 3] {
    let sum = |tensors: &[labrys_dataflow::TensorId]| tensors.iter().map(|&tensor| graph.bytes(tensor)).sum();
    [sum(graph.inputs(op)), sum(graph.outputs(op)), graph.scratch(op)]
}

/// Bytes that an op needs while it runs.
fn op_memory(graph: &Graph, op: OpId) -> u64 {
    sizes(graph, op).iter().sum()
}

/// The op of the greatest value, the first of equals.
fn greatest(graph: &Graph, value: impl Fn(OpId) -> u64) -> OpId {
    graph.ops().max_by_key(|&op| (value(op), std::cmp::Reverse(op))).unwrap_or(OpId(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learned::actions::ActionSpace;
    use labrys_dataflow::{GraphBuilder, TimeSource};
    use labrys_search::Seed;
    use std::sync::Arc;

    /// a -> b -> c, a -> c, and d before c by a control edge.
    fn problem(objective: Objective) -> Problem {
        let mut b = GraphBuilder::new("by hand");
        let ops = [("a", 4), ("b", 2), ("d", 0), ("c", 8)].map(|(name, time)| {
            let op = b.op(name, "op");
            b.set_time(op, time, TimeSource::Measured);
            op
        });
        let [a, second, d, c] = ops;
        let (t0, t1) = (b.output(a, "t0", 10), b.output(second, "t1", 30));
        b.set_scratch(a, 5);
        [(second, t0), (c, t0), (c, t1)].into_iter().for_each(|(op, tensor)| b.input(op, tensor));
        b.control(c, d);
        Problem::new(Arc::new(b.build().unwrap()), 2, objective)
    }

    fn tendency() -> Tendency {
        Tendency { placement: vec![1.0, 0.0, 0.25, 0.75, 0.5, 0.5, 0.0, 1.0], order: vec![0.0, 0.5, 0.1, 1.0] }
    }

    #[test]
    fn run_time_features_of_a_graph_worked_by_hand() {
        let batch = features(&problem(Objective::Makespan), &tendency());
        // The greatest size is what c reads, 40; the greatest run time is c's, 8. b and c both need 40: b is the first.
        let expected = [
            [0.0, 0.25, 0.125, 0.0, 0.0, 1.25, 0.5, 0.0, 1.0, 0.0, 0.0],
            [0.25, 0.75, 0.0, 1.0, 0.5, 1.0, 0.25, 0.0, 0.25, 0.75, 0.5],
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5, 0.1],
            [1.0, 0.0, 0.0, 0.0, 0.75, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0],
        ];
        assert_eq!(*batch.node_features(), Matrix::from_rows(&expected));
        assert_eq!(node_features(Objective::Makespan, 2), 11);
        // Three tensors, the control edge being the last.
        let edges = [[0.25, 0.0, 0.0], [0.25, 0.0, 0.0], [0.75, 0.0, 1.0 / 3.0], [0.0, 1.0, 2.0 / 3.0]];
        assert_eq!(*batch.edge_features(), Matrix::from_rows(&edges));
        let ends: EdgeArrays = [(0, 1), (0, 3), (1, 3), (2, 3)].into_iter().collect();
        assert_eq!(*batch.edge_arrays(), ends);
    }

    #[test]
    fn peak_memory_has_no_run_time_features() {
        let batch = features(&problem(Objective::PeakMemory), &tendency());
        assert_eq!(batch.node_features().row(1), [0.25, 0.75, 0.0, 1.0, 0.25, 0.75, 0.5]);
        assert_eq!(fixed_op(&problem(Objective::PeakMemory)), OpId(1));
        assert_eq!(fixed_op(&problem(Objective::Makespan)), OpId(3));
    }

    #[test]
    fn a_scout_takes_its_evaluations_from_the_budget_and_fixes_one_op() {
        let problem = problem(Objective::Makespan);
        let actions = Decoder::new(ActionSpace { placement: 0, scheduling: 0, crossover: 0 });
        let scout_with = |work| {
            let mut run = Runner::new(Limits { work: Some(work), time: None }, Seed(1));
            let tendency = scout(&problem, &actions, &mut run);
            (run.work(), run.best_score().is_some(), tendency)
        };
        let (work, found, tendency) = scout_with(5_000);
        assert_eq!((work, found), (SCOUT_EVALUATIONS, true));
        assert_eq!(scout_with(60).0, 60);
        assert!(tendency.placement[6] > 0.99, "c is on the first device");
        let of_order = [0, 1, 3].map(|op| tendency.order[op]);
        assert!(of_order.windows(2).all(|pair| pair[0] < pair[1]), "{of_order:?}");
        assert!(tendency.placement.chunks(2).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-4));
    }
}
