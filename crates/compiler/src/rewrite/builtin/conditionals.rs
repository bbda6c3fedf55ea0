//! Conditions that move out of what depends on them.

use super::{Builtin, Root, Site};
use crate::ir::{Class, ExprId, Node};

pub(super) const RULES: &[Builtin] = &[Builtin {
    name: "lift_if",
    class: Class::Exact,
    big: false,
    subject: "conditionals",
    roots: &[Root::Any],
    find: lift_if,
}];

/// `(f (if c a b))` to `(if c (f a) (f b))`, for each part that is an if.
fn lift_if(site: &mut Site<'_>) {
    if matches!(site.node(), Node::Lam(..)) || site.holds_lambdas(site.expr) {
        return;
    }
    let mut number = 0;
    while let Some(part) = site.part(number) {
        if let Node::If(condition, then, otherwise) = site.program.store.node(part)
            && let Some(condition) = outside(site, condition, number)
        {
            let expr = site.expr;
            let then = site.store().with_part(expr, number, then);
            let otherwise = site.store().with_part(expr, number, otherwise);
            let result = site.store().if_(condition, then, otherwise);
            site.found(number, result);
        }
        number += 1;
    }
}

/// The condition where it stands before everything, if it may.
fn outside(site: &mut Site<'_>, condition: ExprId, number: usize) -> Option<ExprId> {
    match site.node() {
        Node::Let(var, ..) if number == 1 && site.program.store.mentions(condition, var) => None,
        _ => site.may_go_first(condition, number).then(|| site.below(0, condition, &[])),
    }
}
