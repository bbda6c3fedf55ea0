//! Rules that no pattern can say, and what they work with.

mod binding;
mod calls;
mod conditionals;
mod constants;
mod loops;
mod tuples;

use super::effects::Effects;
use super::rule::Settings;
use crate::ir::{Class, ExprId, Node, Prim, Program, Store, TypeId, VarId};

/// What stands at the root of an expression that a rule may apply to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Root {
    /// Every step.
    Any,
    Let,
    Get,
    Call,
    Prim(Prim),
}

/// A rule in Rust, with the same particulars as one that is data.
#[derive(Debug)]
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) class: Class,
    pub(super) big: bool,
    pub(super) subject: &'static str,
    pub(super) roots: &'static [Root],
    /// Finds what the rule makes of an expression.
    pub(super) find: fn(&mut Site<'_>),
}

/// Every rule in Rust.
pub(super) fn all() -> impl Iterator<Item = &'static Builtin> {
    [binding::RULES, calls::RULES, conditionals::RULES, constants::RULES, loops::RULES, tuples::RULES]
        .into_iter()
        .flatten()
}

/// An expression that a rule may apply to, and where results go.
pub(super) struct Site<'a> {
    pub(super) program: &'a mut Program,
    pub(super) effects: &'a mut Effects,
    pub(super) settings: Settings,
    /// The expression, in canonical form.
    pub(super) expr: ExprId,
    /// How many binders are around it.
    pub(super) depth: u32,
    /// What it may become, with the number of the choice.
    pub(super) results: &'a mut Vec<(u16, ExprId)>,
}

impl Site<'_> {
    fn store(&mut self) -> &mut Store {
        &mut self.program.store
    }

    fn node(&self) -> Node {
        self.program.store.node(self.expr)
    }

    fn part(&self, number: usize) -> Option<ExprId> {
        self.program.store.part(self.expr, number)
    }

    /// Says what the expression may become; must be in canonical form.
    fn found(&mut self, choice: usize, result: ExprId) {
        if let Ok(choice) = u16::try_from(choice) {
            self.results.push((choice, result));
        }
    }

    fn is_total(&mut self, expr: ExprId) -> bool {
        self.effects.is_total(self.program, expr)
    }

    fn is_pure(&mut self, expr: ExprId) -> bool {
        self.effects.is_pure(self.program, expr)
    }

    fn may_swap(&mut self, a: ExprId, b: ExprId) -> bool {
        self.effects.may_swap(self.program, a, b)
    }

    /// The variable that is bound below `inner` binders of the result.
    fn var(&mut self, inner: u32, ty: TypeId) -> VarId {
        let depth = self.depth + inner;
        self.store().canonical_var(depth, ty, false)
    }

    /// A part of the expression as it is below `inner` binders of the result, with new names for variables that were bound around it.
    fn below(&mut self, inner: u32, part: ExprId, names: &[(VarId, VarId)]) -> ExprId {
        let depth = self.depth + inner;
        self.store().canonical_below(part, depth, names)
    }

    /// Whether something of part `number` may be evaluated before the expression, as far as the parts before it are concerned.
    fn may_go_first(&mut self, what: ExprId, number: usize) -> bool {
        let is_certain = match self.node() {
            Node::Prim(Prim::AddTo, _) => number > 0,
            // Where a part is not always evaluated, or a condition comes before it.
            Node::If(..) | Node::Assert(..) | Node::Match(..) => {
                number == 0 || self.effects.is_harmless(self.program, what)
            }
            _ => true,
        };
        is_certain
            && (0..number).all(|before| {
                let before = self.part(before).filter(|part| !self.program.is_lam(*part));
                before.is_none_or(|before| self.may_swap(what, before))
            })
    }

    /// Whether lambdas are among the parts of a tuple, so that it is no value.
    fn holds_lambdas(&self, expr: ExprId) -> bool {
        let store = &self.program.store;
        matches!(store.node(expr), Node::Tuple(parts) if store.list(parts).iter().any(|part| self.program.is_lam(*part)))
    }
}
