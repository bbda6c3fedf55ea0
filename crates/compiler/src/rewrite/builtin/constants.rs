//! Functions of constants.

use super::{Builtin, Root, Site};
use crate::interpret::Value;
use crate::ir::{Class, ExprId, Node, Prim};

pub(super) const RULES: &[Builtin] = &[
    constant("cprop_add", Class::Exact, &[Root::Prim(Prim::Add)]),
    constant("cprop_sub", Class::Exact, &[Root::Prim(Prim::Sub)]),
    constant("cprop_mul", Class::Exact, &[Root::Prim(Prim::Mul)]),
    constant("cprop_div", Class::Exact, &[Root::Prim(Prim::Div)]),
    constant("cprop_neg", Class::Exact, &[Root::Prim(Prim::Neg)]),
    constant("cprop_to_float", Class::Exact, &[Root::Prim(Prim::ToFloat)]),
    constant("cprop_eq", Class::Exact, &[Root::Prim(Prim::Eq), Root::Prim(Prim::Ne)]),
    constant("cprop_gt", Class::Exact, &[Root::Prim(Prim::Gt), Root::Prim(Prim::Lt)]),
    constant("cprop_gteq", Class::Exact, &[Root::Prim(Prim::Gte), Root::Prim(Prim::Lte)]),
    constant("cprop_and_or", Class::Exact, &[Root::Prim(Prim::And), Root::Prim(Prim::Or)]),
    // The last bit is that of the library of the machine that runs the program.
    constant("cprop_exp", Class::Real, &[Root::Prim(Prim::Exp)]),
    constant("cprop_log", Class::Real, &[Root::Prim(Prim::Log)]),
];

const fn constant(name: &'static str, class: Class, roots: &'static [Root]) -> Builtin {
    Builtin { name, class, big: false, subject: "constants", roots, find: fold }
}

/// `(f c d)` to its value.
fn fold(site: &mut Site<'_>) {
    let Node::Prim(prim, args) = site.node() else { return };
    let args = site.program.store.list(args);
    let values: Option<Vec<Value>> = args.iter().map(|arg| value(site, *arg)).collect();
    let Some(values) = values else { return };
    let result = match (prim, &values[..]) {
        (Prim::Eq, [a, b]) => Ok(Value::Bool(a == b)),
        (Prim::Ne, [a, b]) => Ok(Value::Bool(a != b)),
        _ => site.settings.width.apply(prim, &values),
    };
    let result = match result {
        Ok(Value::Integer(value)) => site.store().integer(value),
        // The sign of a NaN depends on the machine.
        Ok(Value::Float(value)) if !value.is_nan() => site.store().float(value),
        Ok(Value::Bool(value)) => site.store().bool(value),
        _ => return,
    };
    site.found(0, result);
}

fn value(site: &Site<'_>, expr: ExprId) -> Option<Value> {
    let width = site.settings.width;
    match site.program.store.node(expr) {
        Node::Integer(value) => Some(Value::Integer(width.integer(value))),
        Node::Float(value) => Some(Value::Float(width.float(value.get()))),
        Node::Bool(value) => Some(Value::Bool(value)),
        _ => None,
    }
}
