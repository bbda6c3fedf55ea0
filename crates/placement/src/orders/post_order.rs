//! Post-order: before an op, all that it needs, the most demanding part first.
//!
//! On a tree this is Liu's best post-order ("On the storage requirement in the out-of-core multifrontal method for sparse
//! factorization", 1986): children by decreasing peak minus residue. On a DAG the first parent that needs a child pays for it.

use super::view::View;
use labrys_dataflow::OpId;
use std::cmp::Reverse;

/// Visits the sinks, and before each op its predecessors.
pub(super) fn order(view: View<'_>) -> Vec<OpId> {
    let drop = drops(view);
    let demanding_first = |ops: &mut [OpId]| ops.sort_by_key(|op| Reverse(drop[op.0 as usize]));
    let mut roots = view.topological();
    roots.retain(|&op| view.succs(op).is_empty());
    demanding_first(&mut roots);
    let mut seen = vec![false; drop.len()];
    let mut order = Vec::with_capacity(drop.len());
    let mut stack: Vec<(OpId, bool)> = roots.into_iter().rev().map(|op| (op, false)).collect();
    let mut children = vec![];
    while let Some((op, expanded)) = stack.pop() {
        if expanded {
            order.push(op);
        } else if !std::mem::replace(&mut seen[op.0 as usize], true) {
            stack.push((op, true));
            children.clear();
            children.extend(view.preds(op).iter().filter(|p| !seen[p.0 as usize]));
            demanding_first(&mut children);
            stack.extend(children.iter().rev().map(|&child| (child, false)));
        }
    }
    view.to_forward(order)
}

/// For each op how far memory falls from its peak while the op and all before it run to what is left afterwards, as if the graph
/// were a tree.
fn drops(view: View<'_>) -> Vec<u64> {
    let mut drop = vec![0u64; view.graph.op_count()];
    let mut children = vec![];
    for op in view.topological() {
        children.clear();
        children.extend_from_slice(view.preds(op));
        children.sort_by_key(|child| Reverse(drop[child.0 as usize]));
        let (mut held, mut peak) = (0u64, 0u64);
        for &child in &children {
            let residue = view.residue(child);
            peak = peak.max(held.saturating_add(residue).saturating_add(drop[child.0 as usize]));
            held = held.saturating_add(residue);
        }
        let residue = view.residue(op);
        let running = held.saturating_add(residue).saturating_add(view.graph.scratch(op));
        drop[op.0 as usize] = peak.max(running) - residue;
    }
    drop
}
