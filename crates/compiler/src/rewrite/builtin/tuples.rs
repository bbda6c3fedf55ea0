//! Tuples of any length.

use super::{Builtin, Root, Site};
use crate::ir::{Class, ExprId, Node, Prim};

pub(super) const RULES: &[Builtin] = &[
    tuples("select_of_tuple", false, &[Root::Get], select_of_tuple),
    tuples("add_tuples", true, &[Root::Prim(Prim::TsAdd)], add_tuples),
    tuples("mul_tuple_scalar", true, &[Root::Prim(Prim::TsScale)], mul_tuple_scalar),
    tuples("sumbuild_of_tuple", true, &[Root::Prim(Prim::Sumbuild)], sumbuild_of_tuple),
];

const fn tuples(name: &'static str, big: bool, roots: &'static [Root], find: fn(&mut Site<'_>)) -> Builtin {
    Builtin { name, class: Class::Exact, big, subject: "tuples", roots, find }
}

/// The fields of a tuple that is written as one.
fn fields(site: &Site<'_>, expr: Option<ExprId>) -> Option<Vec<ExprId>> {
    match site.program.store.node(expr?) {
        Node::Tuple(parts) => Some(site.program.store.list(parts).to_vec()),
        _ => None,
    }
}

/// `(get$i$n (tuple e ...))` to the field.
fn select_of_tuple(site: &mut Site<'_>) {
    let Node::Get(field, whole) = site.node() else { return };
    let Some(parts) = fields(site, Some(whole)) else { return };
    let mut others = (0..).zip(&parts).filter(|(number, _)| *number != field);
    if others.all(|(_, other)| site.is_total(*other)) {
        site.found(0, parts[field as usize]);
    }
}

/// `(ts_add (tuple a ...) (tuple b ...))` to `(tuple (ts_add a b) ...)`.
fn add_tuples(site: &mut Site<'_>) {
    let (left, right) = (site.part(0), site.part(1));
    let (Some(left), Some(right)) = (fields(site, left), fields(site, right)) else { return };
    // Each field of the right one goes before all that follow its neighbour in the left one.
    let in_order = right.iter().enumerate().all(|(number, b)| left[number + 1..].iter().all(|a| site.may_swap(*a, *b)));
    if !in_order {
        return;
    }
    let sums: Vec<ExprId> = left.iter().zip(&right).map(|(a, b)| site.store().prim(Prim::TsAdd, &[*a, *b])).collect();
    // A sum may fail where sizes differ, before what follows is evaluated.
    let may_fail = sums.iter().any(|sum| !site.is_total(*sum)) && site.effects.keeps_failures();
    if !may_fail {
        let result = site.store().tuple(&sums);
        site.found(0, result);
    }
}

/// `(ts_scale r (tuple a ...))` to `(tuple (ts_scale r a) ...)`.
fn mul_tuple_scalar(site: &mut Site<'_>) {
    let (factor, whole) = (site.part(0), site.part(1));
    let (Some(factor), Some(parts)) = (factor, fields(site, whole)) else { return };
    if site.is_pure(factor) && (!parts.is_empty() || site.is_total(factor)) {
        let products: Vec<ExprId> =
            parts.iter().map(|part| site.store().prim(Prim::TsScale, &[factor, *part])).collect();
        let result = site.store().tuple(&products);
        site.found(0, result);
    }
}

/// `(sumbuild n (lam i (tuple a ...)))` to `(tuple (sumbuild n (lam i a)) ...)`.
fn sumbuild_of_tuple(site: &mut Site<'_>) {
    let (Some(size), Some(lam)) = (site.part(0), site.part(1)) else { return };
    let Node::Lam(var, body) = site.program.store.node(lam) else { return };
    let Some(parts) = fields(site, Some(body)).filter(|parts| !parts.is_empty()) else { return };
    if !site.is_pure(size) || (parts.len() > 1 && !site.is_total(site.expr)) {
        return;
    }
    let sums: Vec<ExprId> = parts
        .iter()
        .map(|part| {
            let lam = site.store().lam(var, *part);
            site.store().prim(Prim::Sumbuild, &[size, lam])
        })
        .collect();
    let result = site.store().tuple(&sums);
    site.found(0, result);
}
