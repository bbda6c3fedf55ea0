//! GP+DFS: graph partitioning for the placement, to transfer few bytes, then a depth-first order (paper, section 5.2).
//!
//! This is the XLA compiler's approach: a Kernighan-Lin bisection (here repeated for more than two devices), and per device a
//! depth-first post-order that visits the operand with the larger result first.

use crate::problem::{DeviceId, Plan, Problem};
use labrys_dataflow::{Graph, OpId};
use labrys_graph::partition::{self, WeightedGraph};

/// The one plan that this heuristic yields.
pub fn plan(problem: &Problem) -> Plan {
    let graph = &problem.graph;
    let parts = partition::recursive_bisection(&traffic(graph), problem.device_count());
    let device = parts.into_iter().map(|part| DeviceId(part as u32)).collect();
    Plan::with_lazy_transfers(graph, device, &depth_first(graph), problem.device_count())
}

/// Ops joined by the bytes that would be transferred if they were apart.
fn traffic(graph: &Graph) -> WeightedGraph {
    let mut edges = vec![];
    for tensor in graph.tensors() {
        let producer = graph.producer(tensor).0;
        edges.extend(graph.consumers(tensor).iter().map(|c| (producer, c.0, graph.bytes(tensor))));
    }
    WeightedGraph::new(graph.op_count(), &edges)
}

/// Post-order from the ops without successors: an op comes after its operands, the largest result first.
fn depth_first(graph: &Graph) -> Vec<OpId> {
    let result_bytes = |op: OpId| graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum::<u64>();
    let mut order = Vec::with_capacity(graph.op_count());
    let mut seen = vec![false; graph.op_count()];
    for root in graph.ops().filter(|&op| graph.succs(op).is_empty()) {
        // An op goes on the stack twice: to visit its operands, then to be emitted.
        let mut stack = vec![(root, false)];
        while let Some((op, expanded)) = stack.pop() {
            if expanded {
                order.push(op);
            } else if !std::mem::replace(&mut seen[op.0 as usize], true) {
                stack.push((op, true));
                let mut operands: Vec<OpId> = graph.preds(op).to_vec();
                operands.sort_by_key(|&operand| (result_bytes(operand), std::cmp::Reverse(operand)));
                stack.extend(operands.into_iter().filter(|o| !seen[o.0 as usize]).map(|operand| (operand, false)));
            }
        }
    }
    order
}
