//! Rules that are data as rewrites of an e-graph.

use super::language::{Kind, Labels, Term};
use super::meaning::Meaning;
use crate::ir::ExprId;
use crate::rewrite::RuleSet;
use crate::rewrite::pattern::{Pattern, PatternKind, PatternRule};
use egg::{ConditionalApplier, EGraph, ENodeOrVar, Id, PatternAst, Rewrite, Subst, Var};

/// The rules that neither side of which binds a variable.
pub(super) fn rewrites(rules: &RuleSet, labels: &mut Labels) -> Vec<Rewrite<Term, Meaning>> {
    let local = rules.rules().filter_map(|(_, rule)| rewrite(&rule.name, rule.pattern()?, labels));
    local.collect()
}

fn rewrite(name: &str, rule: &PatternRule, labels: &mut Labels) -> Option<Rewrite<Term, Meaning>> {
    let (left, right) = (side(&rule.lhs, labels)?, side(&rule.rhs, labels)?);
    let own = rule.clone();
    let condition = move |egraph: &mut EGraph<Term, Meaning>, _: Id, subst: &Subst| holds(&own, egraph, subst);
    let applier = ConditionalApplier { condition, applier: egg::Pattern::new(right) };
    Rewrite::new(name, egg::Pattern::new(left), applier).ok()
}

fn side(pattern: &Pattern, labels: &mut Labels) -> Option<PatternAst<Term>> {
    let mut list = PatternAst::default();
    add(pattern, labels, &mut list)?;
    Some(list)
}

fn add(pattern: &Pattern, labels: &mut Labels, list: &mut PatternAst<Term>) -> Option<Id> {
    match &pattern.kind {
        PatternKind::Var(number) => Some(list.add(ENodeOrVar::Var(var(usize::from(*number))))),
        PatternKind::Bound(_) => None,
        PatternKind::Constant(node) => {
            let label = labels.label(Kind::Leaf(*node));
            Some(list.add(ENodeOrVar::ENode(Term { label, parts: vec![] })))
        }
        PatternKind::Step(step) => {
            let kind = Kind::of_head(step.head).filter(|_| step.binds.is_none())?;
            let parts: Option<Vec<Id>> = step.parts.iter().map(|part| add(part, labels, list)).collect();
            Some(list.add(ENodeOrVar::ENode(Term { label: labels.label(kind), parts: parts? })))
        }
    }
}

fn var(number: usize) -> Var {
    Var::from_u32(number as u32)
}

/// Whether what the variables stand for has the types and the properties that the rule asks for.
fn holds(rule: &PatternRule, egraph: &mut EGraph<Term, Meaning>, subst: &Subst) -> bool {
    let stand_for = |number: usize| -> Option<ExprId> { Some(egraph[*subst.get(var(number))?].data) };
    let exprs: Vec<Option<ExprId>> = (0..rule.vars.len()).map(stand_for).collect();
    egraph.analysis.allows(rule, &exprs)
}
