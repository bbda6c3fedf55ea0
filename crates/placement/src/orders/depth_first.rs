//! Depth first: of all ready ops, the one that became ready last.

use super::view::View;
use labrys_dataflow::OpId;

/// Kahn's algorithm with a stack.
pub(super) fn order(view: View<'_>) -> Vec<OpId> {
    let mut missing = view.missing();
    let mut stack: Vec<OpId> = view.topological();
    stack.retain(|op| missing[op.0 as usize] == 0);
    stack.reverse();
    let mut order = Vec::with_capacity(missing.len());
    while let Some(op) = stack.pop() {
        order.push(op);
        for &next in view.succs(op).iter().rev() {
            missing[next.0 as usize] -= 1;
            if missing[next.0 as usize] == 0 {
                stack.push(next);
            }
        }
    }
    view.to_forward(order)
}
