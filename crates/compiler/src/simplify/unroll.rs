//! Small loops of a known size that only add to elements are written out: then it is known which elements these are, steps that are next
//! to each other load what they share once, and elements that are added to again and again can be variables.

use super::facts::Facts;
use super::has_loops;
use crate::ir::{ExprId, Node, Prim, Program, Store, Type, TypeId, VarId};
use rustc_hash::FxHashMap;

/// Steps of one axis that are written out at most, and nodes of what comes of it.
const STEPS: i64 = 8;
const LARGEST: u32 = 8192;

/// The expression with such loops written out, the innermost first.
pub(super) fn unroll(program: &mut Program, _: &mut Facts, root: ExprId) -> ExprId {
    let store = &mut program.store;
    let order = store.post_order(root);
    if !order.iter().any(|part| matches!(store.node(*part), Node::Prim(Prim::AddTo, _))) {
        return root;
    }
    let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for part in order {
        let made = store.map_children(part, |_, child| done[&child]);
        let made = written_out(store, made);
        done.insert(part, made);
    }
    done[&root]
}

/// A loop without its innermost axes, as far as these can be written out.
fn written_out(store: &mut Store, expr: ExprId) -> ExprId {
    let Some((size, var, body)) = adding_loop(store, expr) else { return expr };
    let axes = match store.node(size) {
        Node::Tuple(axes) => store.list(axes).to_vec(),
        _ => vec![size],
    };
    let Some((last, outer)) = axes.split_last() else { return expr };
    let steps = match store.node(*last) {
        Node::Integer(steps) if (1..=STEPS).contains(&steps) => steps,
        _ => return expr,
    };
    if store.size(body).saturating_mul(steps as u32) > LARGEST {
        return expr;
    }
    let counter = counter(store, outer.len());
    let all: Vec<(VarId, ExprId)> = (0..steps)
        .map(|step| {
            let index = index(store, counter, outer.len(), step);
            let body = store.substitute(body, var, index);
            (store.fresh("t", TypeId::UNIT), store.refresh(body))
        })
        .collect();
    let unit = store.tuple(&[]);
    let body = store.lets(&all, unit);
    let Some(counter) = counter else { return body };
    let size = if let [one] = outer { *one } else { store.tuple(outer) };
    let lam = store.lam(counter, body);
    let made = store.prim(Prim::Sumbuild, &[size, lam]);
    store.inherit_origin(made, expr);
    written_out(store, made)
}

/// The size, the variable and the body of a loop that adds to elements and contains no loop.
fn adding_loop(store: &Store, expr: ExprId) -> Option<(ExprId, VarId, ExprId)> {
    let Node::Prim(Prim::Sumbuild, args) = store.node(expr) else { return None };
    let (size, lam) = (store.list(args)[0], store.list(args)[1]);
    let Node::Lam(var, body) = store.node(lam) else { return None };
    if store.ty(expr) != TypeId::UNIT || store.size(body) > LARGEST {
        return None;
    }
    let adds = store.post_order(body).into_iter().any(|part| is_element(store, part));
    (adds && !has_loops(store, body)).then_some((size, var, body))
}

/// Whether this adds to an element.
fn is_element(store: &Store, expr: ExprId) -> bool {
    let Node::Prim(Prim::AddTo, args) = store.node(expr) else { return false };
    matches!(store.node(store.list(args)[0]), Node::Prim(Prim::Index, _))
}

/// The variable of a loop over so many axes.
fn counter(store: &mut Store, axes: usize) -> Option<VarId> {
    let ty = match axes {
        0 => return None,
        1 => TypeId::INTEGER,
        _ => store.types.tuple(&vec![TypeId::INTEGER; axes]),
    };
    Some(store.fresh("i", ty))
}

/// The index of a step.
fn index(store: &mut Store, counter: Option<VarId>, axes: usize, step: i64) -> ExprId {
    let step = store.integer(step);
    let Some(counter) = counter else { return step };
    let outer = store.var(counter);
    let mut parts = match store.types.get(store.ty(outer)) {
        Type::Tuple(_) => (0..axes as u32).map(|axis| store.get(axis, outer)).collect(),
        _ => vec![outer],
    };
    parts.push(step);
    store.tuple(&parts)
}
