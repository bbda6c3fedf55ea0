//! What every search is compared with: hash-consing alone, and an e-graph alone. Neither gives rewrites.

use super::cse::cse;
use super::egraph::{Limits, saturate};
use crate::cost::Cost;
use crate::ir::{ExprId, Program};
use crate::rewrite::{Mode, Rewriter, RuleSet};
use crate::simplify::facts::Facts;

/// The expression with common subexpressions bound.
pub fn hash_consing(program: &mut Program, rules: &RuleSet, cost: &mut dyn Cost, start: ExprId) -> ExprId {
    let settings = rules.settings();
    // Where failures do not matter, an index does not fail; other failures keep their places even so.
    let mut facts = Facts::new(settings.checks_bounds && settings.mode != Mode::Fast);
    let found = cse(program, &mut facts, cost, start);
    program.store.canonical(found)
}

/// The cheapest tree of the e-graph of an expression, or the cheapest expression when what is shared counts once, with common subexpressions bound;
/// the expression itself where parts of it may fail or act, since the order of failures is not in an e-graph.
pub fn e_graph(
    program: &mut Program,
    rules: &RuleSet,
    cost: &mut dyn Cost,
    start: ExprId,
    counts_sharing: bool,
) -> ExprId {
    if !Rewriter::new(rules).is_total(program, start) {
        return start;
    }
    let found = saturate(program, rules, cost, start, Limits { explains: false, ..Limits::default() });
    if counts_sharing {
        return hash_consing(program, rules, cost, found.shared.0);
    }
    program.store.canonical(found.tree.0)
}
