//! Ops by level: the longest remaining path first, counted in ops.

use super::view::View;
use labrys_dataflow::OpId;
use std::cmp::Reverse;

/// Sorts by level, which decreases along every arc; ties keep the file order.
pub(super) fn order(view: View<'_>) -> Vec<OpId> {
    let topological = view.topological();
    let mut level = vec![0u32; topological.len()];
    for &op in topological.iter().rev() {
        level[op.0 as usize] = view.succs(op).iter().map(|s| level[s.0 as usize] + 1).max().unwrap_or(0);
    }
    let mut order = topological;
    order.sort_by_key(|op| Reverse(level[op.0 as usize]));
    view.to_forward(order)
}
