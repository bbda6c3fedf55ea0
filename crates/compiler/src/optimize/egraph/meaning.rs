//! What an e-graph knows of its classes: one expression of each, a constant if there is one.

use super::language::{Kind, Label, Labels, Term};
use crate::ir::{ExprId, Node, Program};
use crate::rewrite::pattern::PatternRule;
use crate::rewrite::{Conditions, Settings};
use crate::simplify::fold;
use egg::{Analysis, DidMerge, EGraph, Id};

pub(super) struct Meaning {
    pub(super) program: Program,
    pub(super) labels: Labels,
    conditions: Conditions,
}

impl Meaning {
    pub(super) fn new(program: Program, labels: Labels, settings: Settings) -> Self {
        Self { program, labels, conditions: Conditions::new(settings) }
    }

    /// Whether what the variables of a rule stand for has the types and the properties that the rule asks for.
    pub(super) fn allows(&mut self, rule: &PatternRule, exprs: &[Option<ExprId>]) -> bool {
        self.conditions.hold(&self.program, rule, exprs)
    }

    /// The expression of a label over parts.
    pub(super) fn make(&mut self, label: Label, parts: &[ExprId]) -> ExprId {
        self.labels.kind(label).make(&mut self.program.store, parts)
    }

    fn is_constant(&self, expr: ExprId) -> bool {
        matches!(self.program.store.node(expr), Node::Integer(_) | Node::Float(_) | Node::Bool(_))
    }

    /// The constant that a step over constants is, where arithmetic is exact.
    fn folded(&mut self, expr: ExprId) -> ExprId {
        match self.program.store.node(expr) {
            Node::Prim(prim, args) if prim.is_function() => {
                let args = self.program.store.list(args).to_vec();
                fold::constant(&mut self.program.store, Default::default(), prim, &args).unwrap_or(expr)
            }
            _ => expr,
        }
    }
}

impl Analysis<Term> for Meaning {
    type Data = ExprId;

    fn make(egraph: &mut EGraph<Term, Self>, term: &Term, _id: Id) -> ExprId {
        let parts: Vec<ExprId> = term.parts.iter().map(|part| egraph[*part].data).collect();
        let made = egraph.analysis.make(term.label, &parts);
        egraph.analysis.folded(made)
    }

    fn merge(&mut self, own: &mut ExprId, other: ExprId) -> DidMerge {
        let takes_other = self.is_constant(other) && !self.is_constant(*own);
        let is_same = *own == other;
        if takes_other {
            *own = other;
        }
        DidMerge(takes_other, !takes_other && !is_same)
    }

    fn modify(egraph: &mut EGraph<Term, Self>, id: Id) {
        let known = egraph[id].data;
        if !egraph.analysis.is_constant(known) {
            return;
        }
        let node = egraph.analysis.program.store.node(known);
        let label = egraph.analysis.labels.label(Kind::Leaf(node));
        let constant = egraph.add(Term { label, parts: vec![] });
        egraph.union_trusted(id, constant, "constants");
    }
}
