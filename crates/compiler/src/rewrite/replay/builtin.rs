//! What the rules in Rust say, once more: slow and obvious. Every variable is bound once in the expression, so nothing is captured. Whether
//! a rule may be applied, where something may fail or act, is not asked here.

use crate::interpret::{Interpreter, Options, Value, Width};
use crate::ir::{Body, ExprId, Node, Prim, Program, Store, VarId};

/// What a rule makes of an expression in one of its ways. None if it says nothing about it.
pub(super) fn apply(program: &mut Program, rule: &str, expr: ExprId, choice: usize, width: Width) -> Option<ExprId> {
    let store = &mut program.store;
    match rule {
        "new_bind" => new_bind(store, expr, choice),
        "lift_bind" | "hoist_bind" => lift_bind(store, expr, choice),
        "lift_if" | "hoist_if" => lift_if(store, expr, choice),
        "cse_bind" => cse_bind(store, expr),
        "inline_let" => {
            let Node::Let(var, value, body) = store.node(expr) else { return None };
            let body = nth(store, body, &mut choice.clone(), &|store, part| {
                (store.node(part) == Node::Var(var)).then_some(value)
            })?;
            Some(store.let_(var, value, body))
        }
        "inline_call" => inline_call(program, expr),
        "select_of_tuple" => {
            let Node::Get(field, whole) = store.node(expr) else { return None };
            store.children(whole).get(field as usize).copied().filter(|_| is_tuple(store, whole))
        }
        "add_tuples" => {
            let [a, b] = store.children(expr)[..] else { return None };
            let (a, b) = (tuple(store, a)?, tuple(store, b)?);
            let sums: Vec<ExprId> = a.iter().zip(&b).map(|(a, b)| store.prim(Prim::TsAdd, &[*a, *b])).collect();
            Some(store.tuple(&sums))
        }
        "mul_tuple_scalar" => {
            let [factor, whole] = store.children(expr)[..] else { return None };
            let parts = tuple(store, whole)?;
            let products: Vec<ExprId> = parts.iter().map(|part| store.prim(Prim::TsScale, &[factor, *part])).collect();
            Some(store.tuple(&products))
        }
        "sumbuild_of_tuple" => {
            let [size, lam] = store.children(expr)[..] else { return None };
            let Node::Lam(var, body) = store.node(lam) else { return None };
            let sum = |store: &mut Store, part: ExprId| {
                let lam = store.lam(var, part);
                store.prim(Prim::Sumbuild, &[size, lam])
            };
            let sums: Vec<ExprId> = tuple(store, body)?.into_iter().map(|part| sum(store, part)).collect();
            Some(store.tuple(&sums))
        }
        "build_of_build" => build_of_build(store, expr, choice),
        "fold_of_map" => fold_of_map(store, expr),
        _ if rule.starts_with("cprop_") => constant(program, expr, width),
        _ => None,
    }
}

fn is_tuple(store: &Store, expr: ExprId) -> bool {
    matches!(store.node(expr), Node::Tuple(_))
}

fn tuple(store: &Store, expr: ExprId) -> Option<Vec<ExprId>> {
    is_tuple(store, expr).then(|| store.children(expr))
}

fn new_bind(store: &mut Store, expr: ExprId, number: usize) -> Option<ExprId> {
    let part = store.part(expr, number)?;
    let var = store.fresh("x", store.ty(part));
    let name = store.var(var);
    let bound = store.let_(var, part, name);
    Some(store.with_part(expr, number, bound))
}

/// A part of an expression, or what a lambda that is the part computes, and how to put another there.
fn inside(store: &Store, expr: ExprId, number: usize) -> Option<(ExprId, Option<VarId>)> {
    let part = store.part(expr, number)?;
    match store.node(part) {
        Node::Lam(var, body) => Some((body, Some(var))),
        _ => Some((part, None)),
    }
}

fn put_inside(store: &mut Store, expr: ExprId, number: usize, lam: Option<VarId>, part: ExprId) -> ExprId {
    let part = lam.map_or(part, |var| store.lam(var, part));
    store.with_part(expr, number, part)
}

fn lift_bind(store: &mut Store, expr: ExprId, number: usize) -> Option<ExprId> {
    let (part, lam) = inside(store, expr, number)?;
    let Node::Let(var, value, body) = store.node(part) else { return None };
    let rest = put_inside(store, expr, number, lam, body);
    Some(store.let_(var, value, rest))
}

fn lift_if(store: &mut Store, expr: ExprId, number: usize) -> Option<ExprId> {
    let (part, lam) = inside(store, expr, number)?;
    let Node::If(condition, then, otherwise) = store.node(part) else { return None };
    let then = put_inside(store, expr, number, lam, then);
    let otherwise = put_inside(store, expr, number, lam, otherwise);
    Some(store.if_(condition, then, otherwise))
}

fn cse_bind(store: &mut Store, expr: ExprId) -> Option<ExprId> {
    let Node::Let(outer, value, below) = store.node(expr) else { return None };
    let Node::Let(inner, again, body) = store.node(below) else { return None };
    if !store.alpha_equal(value, again) {
        return None;
    }
    let name = store.var(outer);
    let body = store.substitute(body, inner, name);
    Some(store.let_(outer, value, body))
}

fn inline_call(program: &mut Program, expr: ExprId) -> Option<ExprId> {
    let Node::Call(fun, arg) = program.store.node(expr) else { return None };
    let Body::Expr(param, body) = program.def(fun)?.body else { return None };
    let var = program.store.fresh_like(param);
    let name = program.store.var(var);
    let body = program.store.substitute(body, param, name);
    Some(program.store.let_(var, arg, body))
}

/// The expression with another in the place of the one with a number, from left to right, among those that `replaces` speaks of.
fn nth(
    store: &mut Store,
    expr: ExprId,
    number: &mut usize,
    replaces: &impl Fn(&mut Store, ExprId) -> Option<ExprId>,
) -> Option<ExprId> {
    if let Some(new) = replaces(store, expr) {
        if *number == 0 {
            return Some(new);
        }
        *number -= 1;
    }
    for (at, part) in store.children(expr).into_iter().enumerate() {
        if let Some(new) = crate::stack::grow(|| nth(store, part, number, replaces)) {
            return Some(store.with_part(expr, at, new));
        }
    }
    None
}

fn build_of_build(store: &mut Store, expr: ExprId, choice: usize) -> Option<ExprId> {
    let [size, lam] = store.children(expr)[..] else { return None };
    let Node::Lam(var, body) = store.node(lam) else { return None };
    let body = nth(store, body, &mut choice.clone(), &|store, part| {
        let Node::Prim(Prim::Index, args) = store.node(part) else { return None };
        let (index, tensor) = (store.list(args)[0], store.list(args)[1]);
        let Node::Prim(Prim::Build, args) = store.node(tensor) else { return None };
        let (again, lam) = (store.list(args)[0], store.list(args)[1]);
        let Node::Lam(inner, element) = store.node(lam) else { return None };
        let is_ours = store.node(index) == Node::Var(var) && store.alpha_equal(again, size);
        is_ours.then(|| store.let_(inner, index, element))
    })?;
    let lam = store.lam(var, body);
    Some(store.with_part(expr, 1, lam))
}

fn fold_of_map(store: &mut Store, expr: ExprId) -> Option<ExprId> {
    let [lam, init, mapped] = store.children(expr)[..] else { return None };
    let (Node::Lam(state, body), Node::Prim(Prim::Map, args)) = (store.node(lam), store.node(mapped)) else {
        return None;
    };
    let (inner, vector) = (store.list(args)[0], store.list(args)[1]);
    let Node::Lam(item, element) = store.node(inner) else { return None };
    let (before, raw) = (store.ty(init), store.var_type(item));
    let ty = store.types.tuple(&[before, raw]);
    let pair = store.fresh("t", ty);
    let whole = store.var(pair);
    let (before, raw) = (store.get(0, whole), store.get(1, whole));
    let element = store.let_(item, raw, element);
    let both = store.tuple(&[before, element]);
    let body = store.let_(state, both, body);
    let lam = store.lam(pair, body);
    Some(store.prim(Prim::Fold, &[lam, init, vector]))
}

/// The value of an expression of constants.
fn constant(program: &mut Program, expr: ExprId, width: Width) -> Option<ExprId> {
    let is_constant =
        |part: &ExprId| matches!(program.store.node(*part), Node::Integer(_) | Node::Float(_) | Node::Bool(_));
    if !program.store.children(expr).iter().all(is_constant) {
        return None;
    }
    let options = Options { width, ..Options::default() };
    let value = Interpreter::new(program, options, &mut std::io::sink()).evaluate(expr).ok()?;
    Some(match value {
        Value::Integer(value) => program.store.integer(value),
        Value::Float(value) => program.store.float(value),
        Value::Bool(value) => program.store.bool(value),
        _ => return None,
    })
}
