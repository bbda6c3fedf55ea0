//! Equality saturation as rewrites: the way through the e-graph, retraced by rules.

use super::egraph::{Limits, saturate};
use super::sharing;
use super::walk::Walk;
use crate::cost::Cost;
use crate::ir::{ExprId, Program};
use crate::rewrite::Rewriter;

/// Trees of more nodes than this are left to other methods.
const MOST_NODES: u32 = 150;

/// Walks to the cheapest tree of the e-graph of an expression, and to the cheapest expression with common subexpressions bound; fewer if there is no
/// e-graph, or no way of rewrites.
pub(super) fn saturated(
    program: &mut Program,
    rewriter: &mut Rewriter,
    cost: &mut dyn Cost,
    start: ExprId,
) -> Vec<Walk> {
    let flat = without_lets(program, rewriter, start);
    if program.store.size(flat.at) > MOST_NODES || !rewriter.is_total(program, flat.at) {
        return vec![];
    }
    let rules = rewriter.rules().clone();
    let found = saturate(program, &rules, cost, flat.at, Limits::default());
    let mut walks = vec![];
    for (_, way) in [found.tree, found.shared] {
        let Some(walk) = retrace(program, rewriter, cost, flat.clone(), &way) else { continue };
        let walk = walk.without_loops(start);
        let bound = sharing::shared(program, rewriter, cost, walk.at);
        let mut longer = walk.clone();
        bound.steps.into_iter().for_each(|(action, expr)| longer.push(action, expr));
        walks.extend([walk, longer]);
    }
    walks
}

/// Writes out everything that is bound, as far as that can be done.
fn without_lets(program: &mut Program, rewriter: &mut Rewriter, start: ExprId) -> Walk {
    let inlining = rewriter.rules().filtered(|rule| matches!(rule.family(), "inline_let" | "delete_let"));
    let mut rewriter = Rewriter::new(&inlining);
    let mut walk = Walk::new(start);
    let mut found = vec![];
    loop {
        rewriter.actions(program, walk.at, &mut found);
        let Some((action, expr)) = found.first().copied() else { return walk };
        if program.store.size(expr) > MOST_NODES {
            return walk;
        }
        walk.push(action, expr);
        found.clear();
    }
}

/// The walk along expressions of which any two neighbours differ by a rule in one direction or the other. Where a rule is needed in the other direction a
/// short search looks for a way past.
fn retrace(
    program: &mut Program,
    rewriter: &mut Rewriter,
    cost: &mut dyn Cost,
    mut walk: Walk,
    way: &[ExprId],
) -> Option<Walk> {
    let way: Vec<ExprId> = way.iter().map(|expr| program.store.canonical(*expr)).collect();
    let mut left = &way[..];
    while !left.is_empty() {
        let reached = walk.go_to_last(program, rewriter, cost, left)?;
        left = &left[reached + 1..];
    }
    Some(walk)
}
