//! List scheduling: always the ready op of the lowest key, by default the one that makes memory grow the least.

use super::frontier::Frontier;
use super::view::View;
use labrys_dataflow::OpId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which of several ready ops with equal growth goes first.
#[derive(Clone, Copy)]
pub(super) enum TieBreak {
    FileOrder,
    LatestReady,
    EarliestReady,
}

/// The order by least growth.
pub(super) fn order(view: View<'_>, tie_break: TieBreak) -> Vec<OpId> {
    let rank = |op: OpId| if view.backward { -i64::from(op.0) } else { i64::from(op.0) };
    by_key(view, |op, growth, ready_at| {
        let tie = match tie_break {
            TieBreak::FileOrder => rank(op),
            TieBreak::LatestReady => -(ready_at as i64),
            TieBreak::EarliestReady => ready_at as i64,
        };
        (growth, tie)
    })
}

/// The order by a key of an op, its growth in bytes, and the number of ops that ran before it was ready. The key must not rise
/// when the growth falls, so that an outdated queue entry comes after the current one. O((n + m) log n).
pub(crate) fn by_key<K: Ord>(view: View<'_>, key: impl Fn(OpId, i64, usize) -> K) -> Vec<OpId> {
    let mut frontier = Frontier::new(view);
    let mut ready_at = vec![None; view.graph.op_count()];
    let mut order: Vec<OpId> = Vec::with_capacity(ready_at.len());
    let mut queue = BinaryHeap::new();
    let mut changed = frontier.first();
    loop {
        for op in changed.drain(..) {
            let ready_at = *ready_at[op.0 as usize].get_or_insert(order.len());
            queue.push(Reverse((key(op, frontier.growth(op), ready_at), op)));
        }
        let Some(Reverse((_, op))) = queue.pop() else { break };
        if !frontier.has_run(op) {
            order.push(op);
            frontier.run(op, &mut changed);
        }
    }
    view.to_forward(order)
}
