//! Loops that become one, and what need not be in them.

use super::{Builtin, Root, Site};
use crate::ir::{Class, ExprId, Node, Prim, VarId};

/// Primitives that evaluate their lambdas again and again.
const LOOPS: &[Root] = &[
    Root::Prim(Prim::Build),
    Root::Prim(Prim::Sumbuild),
    Root::Prim(Prim::Map),
    Root::Prim(Prim::Map2),
    Root::Prim(Prim::Fold),
    Root::Prim(Prim::MapAccum),
];

pub(super) const RULES: &[Builtin] = &[
    loops("build_of_build", true, &[Root::Prim(Prim::Build), Root::Prim(Prim::Sumbuild)], build_of_build),
    loops("hoist_bind", false, LOOPS, hoist_bind),
    loops("hoist_if", false, LOOPS, hoist_if),
    loops("fold_of_map", true, &[Root::Prim(Prim::Fold)], fold_of_map),
];

const fn loops(name: &'static str, big: bool, roots: &'static [Root], find: fn(&mut Site<'_>)) -> Builtin {
    Builtin { name, class: Class::Exact, big, subject: "loops", roots, find }
}

/// `(build n (lam i ... (index i (build n (lam j e))) ...))` to `(build n (lam i ... (let (j i) e) ...))`, for each such index; and in a
/// sumbuild. The index is in range because the loops go over the same indices.
fn build_of_build(site: &mut Site<'_>) {
    let (Some(size), Some(lam)) = (site.part(0), site.part(1)) else { return };
    let Node::Lam(var, body) = site.program.store.node(lam) else { return };
    for (number, path) in inner_builds(site, body, var, size) {
        let way: Vec<usize> = [1, 0].into_iter().chain(path).collect();
        let (mut above, mut here) = (vec![], site.expr);
        for step in way {
            above.push((here, step));
            here = site.program.store.part(here, step).unwrap_or(here);
        }
        let store = site.store();
        let (index, tensor) = (store.children(here)[0], store.children(here)[1]);
        let Node::Lam(inner, element) = store.node(store.children(tensor)[1]) else { continue };
        let made = store.let_(inner, index, element);
        let result =
            above.into_iter().rev().fold(made, |part, (whole, step)| site.store().with_part(whole, step, part));
        site.found(number, result);
    }
}

/// The ways to `(index i (build n ...))` in the body of a loop over i below n, each with its number among all of them, where no element of
/// the inner build can fail.
fn inner_builds(site: &mut Site<'_>, body: ExprId, var: VarId, size: ExprId) -> Vec<(usize, Vec<usize>)> {
    let (mut found, mut number_of_inner) = (vec![], 0);
    let mut open = vec![(body, vec![])];
    while let Some((expr, path)) = open.pop() {
        if !site.program.store.may_mention(expr, var) {
            continue;
        }
        if let Node::Prim(Prim::Index, args) = site.program.store.node(expr) {
            let (index, tensor) = (site.program.store.list(args)[0], site.program.store.list(args)[1]);
            let is_ours = site.program.store.node(index) == Node::Var(var);
            if let (true, Node::Prim(Prim::Build, inner)) = (is_ours, site.program.store.node(tensor)) {
                let (again, lam) = (site.program.store.list(inner)[0], site.program.store.list(inner)[1]);
                if again == size {
                    if site.is_pure(size) && site.effects.is_total_loop(site.program, lam, size) {
                        found.push((number_of_inner, path.clone()));
                    }
                    number_of_inner += 1;
                }
            }
        }
        let from = open.len();
        let mut number = 0;
        while let Some(part) = site.program.store.part(expr, number) {
            let way = path.iter().copied().chain([number]).collect();
            open.push((part, way));
            number += 1;
        }
        open[from..].reverse();
    }
    found
}

/// The lambdas of a loop with what they bind.
fn lambdas(site: &Site<'_>) -> Vec<(usize, VarId, ExprId)> {
    let store = &site.program.store;
    let parts = store.children(site.expr).into_iter().enumerate();
    let lams = parts.filter_map(|(number, part)| match store.node(part) {
        Node::Lam(var, body) => Some((number, var, body)),
        _ => None,
    });
    lams.collect()
}

/// `(build n (lam i (let (x e) b)))` to `(let (x e) (build n (lam i b)))`, where e is the same in each round; and in other loops.
fn hoist_bind(site: &mut Site<'_>) {
    for (number, var, body) in lambdas(site) {
        let Node::Let(bound, value, inner) = site.program.store.node(body) else { continue };
        if site.program.store.mentions(value, var) || !site.effects.is_harmless(site.program, value) {
            continue;
        }
        let (value_type, var_type) = (site.program.store.ty(value), site.program.store.var_type(var));
        let (new_bound, new_var) = (site.var(0, value_type), site.var(1, var_type));
        let value = site.below(0, value, &[]);
        let inner = site.below(2, inner, &[(bound, new_bound), (var, new_var)]);
        let lam = site.store().lam(new_var, inner);
        let parts: Vec<ExprId> = site.program.store.children(site.expr);
        let parts: Vec<ExprId> = parts
            .into_iter()
            .enumerate()
            .map(|(own, part)| if own == number { lam } else { site.below(1, part, &[]) })
            .collect();
        let Node::Prim(prim, _) = site.node() else { continue };
        let made = site.store().prim(prim, &parts);
        let result = site.store().let_(new_bound, value, made);
        site.found(number, result);
    }
}

/// `(build n (lam i (if c a b)))` to `(if c (build n (lam i a)) (build n (lam i b)))`, where c is the same in each round; and in other
/// loops.
fn hoist_if(site: &mut Site<'_>) {
    for (number, var, body) in lambdas(site) {
        let Node::If(condition, then, otherwise) = site.program.store.node(body) else { continue };
        if site.program.store.mentions(condition, var) || !site.effects.is_harmless(site.program, condition) {
            continue;
        }
        let condition = site.below(0, condition, &[]);
        let expr = site.expr;
        let [then, otherwise] = [then, otherwise].map(|arm| {
            let lam = site.store().lam(var, arm);
            site.store().with_part(expr, number, lam)
        });
        let result = site.store().if_(condition, then, otherwise);
        site.found(number, result);
    }
}

/// `(fold (lam s b) init (map (lam x a) v))` to `(fold (lam t (let (s (tuple (get$1$2 t) (let (x (get$2$2 t)) a))) b)) init v)`.
fn fold_of_map(site: &mut Site<'_>) {
    let (Some(lam), Some(init), Some(mapped)) = (site.part(0), site.part(1), site.part(2)) else { return };
    let (Node::Lam(state, body), Node::Prim(Prim::Map, args)) =
        (site.program.store.node(lam), site.program.store.node(mapped))
    else {
        return;
    };
    let (inner, vector) = (site.program.store.list(args)[0], site.program.store.list(args)[1]);
    let Node::Lam(item, element) = site.program.store.node(inner) else { return };
    // The elements are made one by one between the steps.
    if !site.is_total(inner) && !site.is_total(lam) {
        return;
    }
    let (item_type, state_type) = (site.program.store.var_type(item), site.program.store.var_type(state));
    let init_type = site.program.store.ty(init);
    let pair_type = site.store().types.tuple(&[init_type, item_type]);
    let (pair, new_item, new_state) = (site.var(0, pair_type), site.var(1, item_type), site.var(1, state_type));
    let element = site.below(2, element, &[(item, new_item)]);
    let body = site.below(2, body, &[(state, new_state)]);
    let store = site.store();
    let whole = store.var(pair);
    let (before, raw) = (store.get(0, whole), store.get(1, whole));
    let element = store.let_(new_item, raw, element);
    let both = store.tuple(&[before, element]);
    let body = store.let_(new_state, both, body);
    let lam = store.lam(pair, body);
    let result = store.prim(Prim::Fold, &[lam, init, vector]);
    site.found(0, result);
}
