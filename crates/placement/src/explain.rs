//! Why nothing fits: in words, for a person.

use crate::bounds;
use crate::problem::{Objective, Problem, Weights};
use labrys_dataflow::OpId;
use labrys_report::units;

/// A reason and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// What does not fit.
    pub message: String,
    /// What may help.
    pub hint: String,
}

/// Why no plan was found within the memory limits; `excess` is by how many bytes the best one misses them.
pub fn infeasible(problem: &Problem, excess: u64) -> Reason {
    let largest = problem.devices.iter().filter_map(|device| device.memory).max().unwrap_or(u64::MAX);
    let (op, need) = largest_op(problem);
    if need > largest {
        return op_too_large(problem, op, need, largest);
    }
    let peak_problem = Problem { objective: Objective::PeakMemory, ..problem.clone() };
    let bound = bounds::memory(&peak_problem, bounds::DEFAULT_BUDGET);
    if bound > largest {
        return Reason {
            message: format!(
                "no plan fits: some device must hold at least {} at once (weights and live tensors), the largest memory is {}",
                show(bound),
                show(largest)
            ),
            hint: format!("the least possible peak is at least {}; add memory or devices", show(bound)),
        };
    }
    Reason {
        message: format!("no plan was found that fits: the best one is {} above the memory limits", show(excess)),
        hint: format!(
            "it is not proven that none exists (every plan needs at least {}); try --preset quality, or --objective \
             peak-memory to see the least peak",
            show(bound)
        ),
    }
}

fn op_too_large(problem: &Problem, op: OpId, need: u64, largest: u64) -> Reason {
    let graph = &problem.graph;
    let inputs: u64 = graph.inputs(op).iter().map(|&t| graph.bytes(t)).sum();
    let outputs: u64 = graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum();
    Reason {
        message: format!(
            "no plan fits: op '{}' ({}) alone needs {}, the largest memory is {}",
            graph.op_name(op),
            graph.kind(op),
            show(need),
            show(largest)
        ),
        hint: format!(
            "its inputs are {}, its outputs {}, its weights {}, its scratch memory {}",
            show(inputs),
            show(outputs),
            show(own_weights(problem, op)),
            show(graph.scratch(op))
        ),
    }
}

/// The op that needs most memory on whichever device runs it.
fn largest_op(problem: &Problem) -> (OpId, u64) {
    let graph = &problem.graph;
    let need = |op: OpId| {
        let tensors = graph.inputs(op).iter().chain(graph.outputs(op)).map(|&t| graph.bytes(t)).sum::<u64>();
        tensors + graph.scratch(op) + own_weights(problem, op)
    };
    graph.ops().map(|op| (op, need(op))).max_by_key(|&(op, need)| (need, std::cmp::Reverse(op))).unwrap_or((OpId(0), 0))
}

fn own_weights(problem: &Problem, op: OpId) -> u64 {
    match problem.weights {
        Weights::Resident => problem.graph.reads(op).iter().map(|&w| problem.graph.weight_bytes(w)).sum(),
        Weights::Ignored => 0,
    }
}

fn show(bytes: u64) -> String {
    units::bytes(bytes as f64)
}
