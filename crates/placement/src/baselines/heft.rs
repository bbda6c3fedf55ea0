//! HEFT, heterogeneous earliest finish time (Topcuoglu, Hariri, Wu 2002): ops by upward rank, each on the device where it ends
//! first, transfers included.

use crate::list::builder::Builder;
use crate::list::levels::upward_ranks;
use crate::problem::{Plan, Problem};
use labrys_dataflow::OpId;

/// The plan of HEFT, without insertion into earlier idle time: under the model a transfer in the past would hold up both ends.
pub fn plan(problem: &Problem) -> Plan {
    let rank = upward_ranks(problem, 1.0);
    let mut builder = Builder::new(problem);
    for op in by_rank(problem, &rank) {
        let end = |device| (builder.offer(op, device).end, device);
        if let Some((_, device)) = problem.device_ids().map(end).min() {
            builder.place(op, device);
        }
    }
    builder.plan()
}

/// Ops by falling rank; equal ones in topological order, since ops of no length may share a rank with their successors.
pub(super) fn by_rank(problem: &Problem, rank: &[u64]) -> Vec<OpId> {
    let mut order = problem.graph.topological().to_vec();
    order.sort_by_key(|op| std::cmp::Reverse(rank[op.0 as usize]));
    order
}
