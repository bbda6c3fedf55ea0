//! What one device holds, step by step, if it runs everything.

use labrys_dataflow::{Graph, OpId};

/// Bytes held while each op of `order` runs, weights excluded.
pub fn profile(graph: &Graph, order: &[OpId]) -> Vec<u64> {
    let mut waiting: Vec<u32> =
        graph.tensors().map(|t| graph.consumers(t).len() as u32 + u32::from(graph.is_kept(t))).collect();
    let mut held = 0u64;
    let mut run = |&op: &OpId| {
        held += graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum::<u64>();
        let memory = held + graph.scratch(op);
        for &tensor in graph.inputs(op) {
            waiting[tensor.0 as usize] -= 1;
            if waiting[tensor.0 as usize] == 0 {
                held -= graph.bytes(tensor);
            }
        }
        for &tensor in graph.outputs(op) {
            if waiting[tensor.0 as usize] == 0 {
                held -= graph.bytes(tensor);
            }
        }
        memory
    };
    order.iter().map(&mut run).collect()
}

/// Peak memory of `order` on one device, weights excluded.
pub fn peak(graph: &Graph, order: &[OpId]) -> u64 {
    profile(graph, order).into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Objective, Plan, Problem, Weights, check, synthetic};
    use labrys_search::Seed;
    use std::sync::Arc;

    #[test]
    fn agrees_with_the_checker() {
        for number in 0..20 {
            let graph = Arc::new(synthetic::graph(Seed(4), number));
            let problem = Problem::new(Arc::clone(&graph), 1, Objective::PeakMemory).with_weights(Weights::Ignored);
            let device = vec![crate::DeviceId(0); graph.op_count()];
            let plan = Plan::with_lazy_transfers(&graph, device, graph.topological(), 1);
            assert_eq!(peak(&graph, graph.topological()), check(&problem, &plan).unwrap().peak());
        }
    }
}
