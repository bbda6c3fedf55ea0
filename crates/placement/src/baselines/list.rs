//! Plain list scheduling (Graham 1966): ops by b-level, each on the device that is free first, whatever the transfers cost.

use super::heft::by_rank;
use crate::list::builder::Builder;
use crate::list::levels::upward_ranks;
use crate::problem::{Plan, Problem};

/// The plan of plain list scheduling.
pub fn plan(problem: &Problem) -> Plan {
    let rank = upward_ranks(problem, 0.0);
    let mut builder = Builder::new(problem);
    for op in by_rank(problem, &rank) {
        if let Some(device) = problem.device_ids().min_by_key(|&device| builder.free_at(device)) {
            builder.place(op, device);
        }
    }
    builder.plan()
}
