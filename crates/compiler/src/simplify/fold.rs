//! Functions of scalars: constants, and what is equal bit for bit. Nothing here reassociates, and no sum with 0.0 is left out: it
//! would turn -0.0 into 0.0.

use crate::interpret::{Value, Width};
use crate::ir::{ExprId, Node, Prim, Store, TypeId};

/// A simpler expression, if there is one: a constant, one of the arguments, or another step over them.
pub(super) fn scalar(store: &mut Store, width: Width, prim: Prim, args: &[ExprId]) -> Option<ExprId> {
    constant(store, width, prim, args).or_else(|| identity(store, prim, args))
}

/// The value of a function of constants. What the mathematical library computes is left to that of the machine that runs the program.
pub(crate) fn constant(store: &mut Store, width: Width, prim: Prim, args: &[ExprId]) -> Option<ExprId> {
    let values: Option<Vec<Value>> = args.iter().map(|arg| value(store, width, *arg)).collect();
    let is_exact = matches!(
        prim,
        Prim::Neg | Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Abs | Prim::Sqrt | Prim::ToFloat
    ) || matches!(prim, Prim::Gt | Prim::Lt | Prim::Gte | Prim::Lte | Prim::And | Prim::Or);
    let result = width.apply(prim, &values.filter(|_| is_exact)?).ok()?;
    match result {
        Value::Integer(value) => Some(store.integer(value)),
        // The sign of a NaN depends on the machine.
        Value::Float(value) if value.is_nan() => None,
        Value::Float(value) => Some(store.float(value)),
        Value::Bool(value) => Some(store.bool(value)),
        _ => None,
    }
}

fn value(store: &Store, width: Width, expr: ExprId) -> Option<Value> {
    match store.node(expr) {
        Node::Integer(value) => Some(Value::Integer(width.integer(value))),
        Node::Float(value) => Some(Value::Float(width.float(value.get()))),
        Node::Bool(value) => Some(Value::Bool(value)),
        _ => None,
    }
}

fn is_integer(store: &Store, expr: ExprId, value: i64) -> bool {
    store.node(expr) == Node::Integer(value)
}

fn is_float(store: &Store, expr: ExprId, value: f64) -> bool {
    store.node(expr) == Node::Float(value.into())
}

fn identity(store: &mut Store, prim: Prim, args: &[ExprId]) -> Option<ExprId> {
    let is_real = store.ty(args[0]) == TypeId::FLOAT;
    match (prim, args) {
        (Prim::Neg, [x]) => match store.node(*x) {
            Node::Prim(Prim::Neg, inner) => Some(store.list(inner)[0]),
            _ => None,
        },
        (Prim::Mul, [x, y]) if is_real && is_float(store, *y, 1.0) => Some(*x),
        (Prim::Mul, [x, y]) if is_real && is_float(store, *x, 1.0) => Some(*y),
        (Prim::Div, [x, y]) if is_real && is_float(store, *y, 1.0) => Some(*x),
        (Prim::Sub, [x, y]) if is_real && is_float(store, *y, 0.0) => Some(*x),
        (Prim::Add, [x, y]) if is_real && is_float(store, *y, -0.0) => Some(*x),
        (Prim::Add, [x, y]) if is_real && is_float(store, *x, -0.0) => Some(*y),
        // a + -b and a - b are one rounding of the same number.
        (Prim::Add, [x, y]) if is_real => negated(store, *y).map(|y| store.prim(Prim::Sub, &[*x, y])),
        (Prim::Sub, [x, y]) if is_real => negated(store, *y).map(|y| store.prim(Prim::Add, &[*x, y])),
        (Prim::And, [p, q]) => boolean(store, *p, *q, true),
        (Prim::Or, [p, q]) => boolean(store, *p, *q, false),
        _ if is_real => None,
        (Prim::Add, [i, j]) if is_integer(store, *j, 0) => Some(*i),
        (Prim::Add, [i, j]) if is_integer(store, *i, 0) => Some(*j),
        (Prim::Sub, [i, j]) if is_integer(store, *j, 0) => Some(*i),
        (Prim::Sub, [i, j]) if i == j => Some(store.integer(0)),
        (Prim::Mul | Prim::Div, [i, j]) if is_integer(store, *j, 1) => Some(*i),
        (Prim::Mul, [i, j]) if is_integer(store, *i, 1) => Some(*j),
        (Prim::Mul, [i, j]) if is_integer(store, *i, 0) || is_integer(store, *j, 0) => Some(store.integer(0)),
        (Prim::Gte | Prim::Lte, [i, j]) if i == j => Some(store.bool(true)),
        (Prim::Gt | Prim::Lt, [i, j]) if i == j => Some(store.bool(false)),
        _ => None,
    }
}

/// What an expression is the negative of.
fn negated(store: &Store, expr: ExprId) -> Option<ExprId> {
    match store.node(expr) {
        Node::Prim(Prim::Neg, args) => Some(store.list(args)[0]),
        _ => None,
    }
}

/// `and` has true as its neutral element, `or` has false; the other one decides. Both arguments are atoms.
fn boolean(store: &mut Store, p: ExprId, q: ExprId, neutral: bool) -> Option<ExprId> {
    match (store.node(p), store.node(q)) {
        (Node::Bool(value), _) if value == neutral => Some(q),
        (_, Node::Bool(value)) if value == neutral => Some(p),
        (Node::Bool(_), _) | (_, Node::Bool(_)) => Some(store.bool(!neutral)),
        _ if p == q => Some(p),
        _ => None,
    }
}
