//! Equality saturation by the `egg` crate with the rules that are data and bind nothing: the second of the baselines, and the local half of the hybrid.
//!
//! It is used on expressions all parts of which only give a value: there, rules need not heed what fails first.

mod extract;
mod language;
mod meaning;
mod rules;

use crate::cost::Cost;
use crate::ir::{ExprId, Program};
use crate::rewrite::RuleSet;
use egg::FlatTerm;
use extract::Extraction;
use language::{Labels, Term, terms};
use meaning::Meaning;

/// How far to go. Time is no limit: results would depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Terms.
    pub nodes: usize,
    /// Times that all rules are applied everywhere.
    pub iterations: usize,
    /// Whether the ways to the results are wanted: keeping what leads to each term takes time.
    pub explains: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 3000, iterations: 20, explains: true }
    }
}

/// What saturation gives.
pub struct Saturated {
    /// The cheapest expression when each part costs as often as it stands there, with the expressions on the way to it.
    pub tree: (ExprId, Vec<ExprId>),
    /// The cheapest one that was found when equal parts cost once, likewise.
    pub shared: (ExprId, Vec<ExprId>),
}

/// Saturates an expression all parts of which are total. On the way from it to each of the results any two neighbours differ by a rule in one direction or the
/// other, or by arithmetic on constants.
pub fn saturate(
    program: &mut Program,
    rules: &RuleSet,
    cost: &mut dyn Cost,
    expr: ExprId,
    limits: Limits,
) -> Saturated {
    let mut labels = Labels::default();
    let settings = rules.settings();
    let rules = rules::rewrites(rules, &mut labels);
    let start = terms(program, &mut labels, expr);
    let meaning = Meaning::new(std::mem::take(program), labels, settings);
    let runner = egg::Runner::new(meaning);
    let runner = if limits.explains { runner.with_explanations_enabled() } else { runner };
    let mut runner = runner
        .with_expr(&start)
        .with_node_limit(limits.nodes)
        .with_iter_limit(limits.iterations)
        .with_time_limit(std::time::Duration::MAX)
        .run(&rules);
    let root = runner.egraph.find(runner.roots[0]);
    let mut extraction = Extraction::of(&mut runner.egraph, cost);
    let tree = extraction.tree(root).unwrap_or(expr);
    let shared = extraction.shared(root).unwrap_or(tree);
    let mut way = |to: ExprId| (to, if limits.explains { way(&mut runner, &start, to) } else { vec![] });
    let (tree, shared) = (way(tree), way(shared));
    *program = std::mem::take(&mut runner.egraph.analysis.program);
    Saturated { tree, shared }
}

/// The expressions on the way from the start to an expression of the same class.
fn way(runner: &mut egg::Runner<Term, Meaning>, start: &egg::RecExpr<Term>, to: ExprId) -> Vec<ExprId> {
    let Meaning { program, labels, .. } = &mut runner.egraph.analysis;
    let end = terms(program, labels, to);
    let mut explanation = runner.explain_equivalence(start, &end);
    let flat = explanation.make_flat_explanation();
    let meaning = &mut runner.egraph.analysis;
    flat.iter().skip(1).map(|term| written(meaning, term)).collect()
}

fn written(meaning: &mut Meaning, term: &FlatTerm<Term>) -> ExprId {
    let parts: Vec<ExprId> = term.children.iter().map(|part| written(meaning, part)).collect();
    meaning.make(term.node.label, &parts)
}
