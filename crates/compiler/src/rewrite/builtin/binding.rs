//! Introducing, moving, merging and inlining lets.

use super::{Builtin, Root, Site};
use crate::ir::{Class, ExprId, Node, Prim, VarId};

/// An occurrence of a variable: the way to it, and how many binders are on the way.
type Occurrence = (Vec<usize>, u32);
/// Most occurrences of a variable that are looked at.
const MOST_OCCURRENCES: usize = 256;

pub(super) const RULES: &[Builtin] = &[
    binding("new_bind", &[Root::Any], new_bind),
    binding("lift_bind", &[Root::Any], lift_bind),
    binding("cse_bind", &[Root::Let], cse_bind),
    binding("inline_let", &[Root::Let], inline_let),
];

const fn binding(name: &'static str, roots: &'static [Root], find: fn(&mut Site<'_>)) -> Builtin {
    Builtin { name, class: Class::Exact, big: false, subject: "binding", roots, find }
}

/// `(f e)` to `(f (let (x e) x))`, for each part e that is worth a name.
fn new_bind(site: &mut Site<'_>) {
    if matches!(site.node(), Node::Let(..) | Node::Lam(..)) {
        return;
    }
    let first = usize::from(matches!(site.node(), Node::Prim(Prim::AddTo, _)));
    let mut number = first;
    while let Some(part) = site.part(number) {
        let store = &site.program.store;
        let has_steps = store.size(part) > 1 && !matches!(store.node(part), Node::Let(..) | Node::Lam(..));
        if has_steps && !site.holds_lambdas(part) {
            let ty = site.program.store.ty(part);
            let var = site.var(0, ty);
            let name = site.store().var(var);
            let bound = site.store().let_(var, part, name);
            let (expr, bound) = (site.expr, bound);
            let result = site.store().with_part(expr, number, bound);
            site.found(number, result);
        }
        number += 1;
    }
}

/// `(f (let (x e) b))` to `(let (x e) (f b))`, for each part that is a let.
fn lift_bind(site: &mut Site<'_>) {
    if matches!(site.node(), Node::Lam(..)) || site.holds_lambdas(site.expr) {
        return;
    }
    let mut number = 0;
    while let Some(part) = site.part(number) {
        if let Node::Let(var, value, body) = site.program.store.node(part) {
            let lifted = match site.node() {
                Node::Let(outer, outer_value, _) if number == 1 => {
                    lift_from_body(site, (outer, outer_value), (var, value, body))
                }
                _ => lift(site, number, (var, value, body)),
            };
            if let Some(lifted) = lifted {
                site.found(number, lifted);
            }
        }
        number += 1;
    }
}

/// Out of a part that is evaluated outside of what the expression binds.
fn lift(site: &mut Site<'_>, number: usize, (var, value, body): (VarId, ExprId, ExprId)) -> Option<ExprId> {
    if !site.may_go_first(value, number) {
        return None;
    }
    let (expr, depth) = (site.expr, site.depth);
    // What the expression itself binds, below one more binder now.
    let rebound = site.program.store.bound_by(expr).map(|old| {
        let ty = site.program.store.var_type(old);
        (old, site.var(1, ty))
    });
    let names: Vec<(VarId, VarId)> = rebound.into_iter().collect();
    let mut own = 0;
    let moved = site.store().map_children(expr, |store, part| {
        own += 1;
        match (own - 1 == number, rebound.is_some() && own == 2) {
            (true, _) => body,
            (false, true) => store.canonical_below(part, depth + 2, &names),
            (false, false) => store.canonical_below(part, depth + 1, &[]),
        }
    });
    let moved = match (site.program.store.node(moved), rebound) {
        (Node::Let(_, a, b), Some((_, new))) => site.store().let_(new, a, b),
        _ => moved,
    };
    Some(site.store().let_(var, value, moved))
}

/// `(let (y v) (let (x e) b))` to `(let (x e) (let (y v) b))`.
fn lift_from_body(
    site: &mut Site<'_>,
    (outer, outer_value): (VarId, ExprId),
    (inner, value, body): (VarId, ExprId, ExprId),
) -> Option<ExprId> {
    if site.program.store.mentions(value, outer) || !site.may_swap(value, outer_value) {
        return None;
    }
    let (outer_type, inner_type) = (site.program.store.ty(outer_value), site.program.store.ty(value));
    let (new_inner, new_outer) = (site.var(0, inner_type), site.var(1, outer_type));
    let value = site.below(0, value, &[]);
    let outer_value = site.below(1, outer_value, &[]);
    let body = site.below(2, body, &[(inner, new_inner), (outer, new_outer)]);
    let below = site.store().let_(new_outer, outer_value, body);
    Some(site.store().let_(new_inner, value, below))
}

/// `(let (x e) (let (y e) b))` to `(let (x e) b)` with x for y.
fn cse_bind(site: &mut Site<'_>) {
    let Node::Let(outer, value, below) = site.node() else { return };
    let Node::Let(inner, again, body) = site.program.store.node(below) else { return };
    if site.program.store.ty(value) != site.program.store.ty(again) || !site.is_pure(value) {
        return;
    }
    if site.below(1, value, &[]) == again {
        let body = site.below(1, body, &[(inner, outer)]);
        let result = site.store().let_(outer, value, body);
        site.found(0, result);
    }
}

/// The value in the place of one occurrence of the variable, for each occurrence.
fn inline_let(site: &mut Site<'_>) {
    let Node::Let(var, value, body) = site.node() else { return };
    if !site.is_pure(value) {
        return;
    }
    for (number, (path, binders)) in occurrences(site, body, var).iter().enumerate() {
        let value = site.below(1 + binders, value, &[]);
        let inlined = replace(site, body, path, value);
        let expr = site.expr;
        let result = site.store().with_part(expr, 1, inlined);
        site.found(number, result);
    }
}

/// Where a variable occurs, from left to right.
fn occurrences(site: &Site<'_>, root: ExprId, var: VarId) -> Vec<Occurrence> {
    let store = &site.program.store;
    let mut found = vec![];
    let mut open = vec![(root, (vec![], 0))];
    while let Some((expr, (path, binders))) = open.pop() {
        if !store.may_mention(expr, var) {
            continue;
        }
        if store.node(expr) == Node::Var(var) {
            found.push((path, binders));
            if found.len() == MOST_OCCURRENCES {
                break;
            }
            continue;
        }
        let from = open.len();
        let last = usize::from(matches!(store.node(expr), Node::Let(..)));
        let binds = store.bound_by(expr).is_some();
        let mut number = 0;
        while let Some(part) = store.part(expr, number) {
            let mut way = path.clone();
            way.push(number);
            open.push((part, (way, binders + u32::from(binds && number == last))));
            number += 1;
        }
        open[from..].reverse();
    }
    found
}

/// The expression with another part at the end of a path.
fn replace(site: &mut Site<'_>, root: ExprId, path: &[usize], part: ExprId) -> ExprId {
    let mut above = vec![];
    let mut expr = root;
    for number in path {
        above.push((expr, *number));
        expr = site.program.store.part(expr, *number).unwrap_or(expr);
    }
    above.into_iter().rev().fold(part, |part, (expr, number)| site.store().with_part(expr, number, part))
}
