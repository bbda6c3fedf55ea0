//! Ways that are known without learning, to learn from: what other methods find, and what is around it.

use crate::cost::{Cost as _, Table};
use crate::ir::{ExprId, Program};
use crate::optimize::rewrites::Rewrites;
use crate::optimize::{Method, Settings, optimize};
use crate::rewrite::{Action, Rewriter, RuleSet};
use labrys_search::{Limits, Runner, Seed, StateGraph, surroundings};

/// States that the search from what is known looks at for a better end.
const SEARCHED: u64 = 3_000;
/// States around a way that are looked at.
const AROUND: u64 = 6_000;

/// Puts the best way from the root that other methods know into the graph, and expands `rings` rings of states around it.
pub(super) fn teach(program: &mut Program, rules: &RuleSet, graph: &mut StateGraph<ExprId, Action>, rings: u32) {
    let (mut cost, settings) = (Table::default(), Settings { method: Method::Hybrid, ..Settings::default() });
    let limited = |work| Runner::new(Limits { work: Some(work), time: None }, Seed::default());
    let found = optimize(program, rules, &mut cost, None, graph.state(0), settings, &mut limited(SEARCHED));
    let way: Vec<(Action, ExprId, f64)> =
        found.steps.into_iter().map(|(action, expr)| (action, expr, cost.cost(program, expr))).collect();
    let states: Vec<ExprId> = way.iter().map(|(_, expr, _)| *expr).collect();
    graph.insert_path(0, way);
    let mut centre: Vec<u32> = states.into_iter().filter_map(|state| graph.number(state)).collect();
    centre.push(0);
    let mut rewriter = Rewriter::new(rules);
    let mut space = Rewrites { program, rewriter: &mut rewriter, cost: &mut cost, value: None };
    surroundings(&mut space, graph, &centre, rings, &mut limited(AROUND));
}
