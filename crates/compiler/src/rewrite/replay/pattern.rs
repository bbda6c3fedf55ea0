//! Rules as data, applied by substitution: slow and obvious. Every variable is bound once in the expression, so nothing is captured.

use crate::ir::{ExprId, Node, Rule, Store, Type, TypeId, Types, VarId};
use crate::rewrite::set::translate;
use rustc_hash::FxHashMap;

/// What matching a side found.
#[derive(Default)]
struct Match {
    /// What the variables of the rule stand for.
    vars: FxHashMap<VarId, ExprId>,
    /// What stands for the variables that the left side binds.
    binders: FxHashMap<VarId, VarId>,
}

/// What a rule makes of an expression; `patterns` is the store that the rule is in. None if the rule says nothing about it.
pub(super) fn apply(patterns: &Store, rule: &Rule, store: &mut Store, expr: ExprId) -> Option<ExprId> {
    let mut found = Match::default();
    if !matches(patterns, rule, rule.lhs, store, expr, &mut found) {
        return None;
    }
    let made = build(patterns, rule, rule.rhs, store, &found, &mut vec![])?;
    let known = store.free_vars(expr);
    let is_closed = store.free_vars(made).iter().all(|var| known.contains(var));
    (is_closed && store.ty(made) == store.ty(expr)).then_some(made)
}

fn matches(patterns: &Store, rule: &Rule, pattern: ExprId, store: &mut Store, expr: ExprId, found: &mut Match) -> bool {
    if let Node::Var(var) = patterns.node(pattern) {
        if !rule.vars.contains(&var) {
            return found.binders.get(&var).is_some_and(|bound| store.node(expr) == Node::Var(*bound));
        }
        if let Some(before) = found.vars.get(&var) {
            return store.alpha_equal(*before, expr);
        }
        found.vars.insert(var, expr);
        return is_of_type(&patterns.types, patterns.var_type(var), &store.types, store.ty(expr));
    }
    if let (Some(of_pattern), Some(of_expr)) = (patterns.bound_by(pattern), store.bound_by(expr)) {
        found.binders.insert(of_pattern, of_expr);
        let is_lam = matches!(patterns.node(pattern), Node::Lam(..));
        let has_type =
            is_of_type(&patterns.types, patterns.var_type(of_pattern), &store.types, store.var_type(of_expr));
        if is_lam && !has_type {
            return false;
        }
    }
    let (parts, of) = (patterns.children(pattern), store.children(expr));
    is_same_step(patterns, patterns.node(pattern), store, store.node(expr))
        && parts.len() == of.len()
        && parts.into_iter().zip(of).all(|(part, of)| matches(patterns, rule, part, store, of, found))
}

/// Whether two steps are the same but for their parts.
fn is_same_step(patterns: &Store, pattern: Node, store: &Store, node: Node) -> bool {
    match (pattern, node) {
        (Node::Integer(a), Node::Integer(b)) => a == b,
        (Node::Float(a), Node::Float(b)) => a == b,
        (Node::Bool(a), Node::Bool(b)) => a == b,
        (Node::String(a), Node::String(b)) => patterns.text(a) == store.text(b),
        (Node::Get(a, _), Node::Get(b, _)) => a == b,
        (Node::Call(a, _), Node::Call(b, _)) => patterns.show_fun(a) == store.show_fun(b),
        (Node::Prim(a, _), Node::Prim(b, _)) => a == b,
        (Node::Construct(a, m, _), Node::Construct(b, n, _)) => (a, m) == (b, n),
        (Node::Tuple(_), Node::Tuple(_))
        | (Node::Let(..), Node::Let(..))
        | (Node::If(..), Node::If(..))
        | (Node::Assert(..), Node::Assert(..))
        | (Node::Lam(..), Node::Lam(..))
        | (Node::Match(..), Node::Match(..)) => true,
        _ => false,
    }
}

/// Whether a type of one store is what a pattern in another asks for.
fn is_of_type(patterns: &Types, pattern: TypeId, types: &Types, ty: TypeId) -> bool {
    match (patterns.get(pattern), types.get(ty)) {
        (Type::Any, _) => true,
        (Type::Tuple(a), Type::Tuple(b)) => {
            let (a, b) = (patterns.list(a), types.list(b));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_of_type(patterns, *a, types, *b))
        }
        (Type::Tensor(m, a), Type::Tensor(n, b)) => m == n && is_of_type(patterns, a, types, b),
        (Type::Lam(a, b), Type::Lam(c, d)) | (Type::LinearMap(a, b), Type::LinearMap(c, d)) => {
            is_of_type(patterns, a, types, c) && is_of_type(patterns, b, types, d)
        }
        (a, b) => a == b,
    }
}

/// The right side; `around` are the variables that it binds around the place, by the names that the rule gives them.
fn build(
    patterns: &Store,
    rule: &Rule,
    pattern: ExprId,
    store: &mut Store,
    found: &Match,
    around: &mut Vec<(String, VarId)>,
) -> Option<ExprId> {
    let inner = |around: &[(String, VarId)], name: &str| around.iter().rev().find(|(n, _)| n == name).map(|(_, v)| *v);
    match patterns.node(pattern) {
        Node::Var(var) if !rule.vars.contains(&var) => {
            let bound = inner(around, patterns.var_name(var))?;
            Some(store.var(bound))
        }
        Node::Var(var) => {
            let mut expr = *found.vars.get(&var)?;
            // What the left side bound is bound by the right side now, if that has a binder of the same name.
            let mut binders: Vec<(VarId, VarId)> = found.binders.iter().map(|(a, b)| (*a, *b)).collect();
            binders.sort_unstable();
            for (of_pattern, of_expr) in binders {
                if let Some(now) = inner(around, patterns.var_name(of_pattern)) {
                    let now = store.var(now);
                    expr = store.substitute(expr, of_expr, now);
                }
            }
            Some(expr)
        }
        Node::Let(var, value, body) => {
            let value = build(patterns, rule, value, store, found, around)?;
            let name = patterns.var_name(var).to_owned();
            let new = store.fresh(&name, store.ty(value));
            around.push((name, new));
            let body = build(patterns, rule, body, store, found, around)?;
            around.pop();
            Some(store.let_(new, value, body))
        }
        Node::Lam(var, body) => {
            let name = patterns.var_name(var).to_owned();
            let matched = found.binders.iter().find(|(of_pattern, _)| patterns.var_name(**of_pattern) == name);
            let ty = match matched {
                Some((_, of_expr)) => store.var_type(*of_expr),
                None => translate(&patterns.types, &mut store.types, patterns.var_type(var)),
            };
            let new = store.fresh(&name, ty);
            around.push((name, new));
            let body = build(patterns, rule, body, store, found, around)?;
            around.pop();
            Some(store.lam(new, body))
        }
        node => {
            let parts = patterns.children(pattern);
            let parts: Vec<ExprId> = parts
                .into_iter()
                .map(|part| build(patterns, rule, part, store, found, around))
                .collect::<Option<_>>()?;
            remake(patterns, node, store, &parts)
        }
    }
}

/// The same step of other parts.
fn remake(patterns: &Store, node: Node, store: &mut Store, parts: &[ExprId]) -> Option<ExprId> {
    Some(match (node, parts) {
        (Node::Integer(value), _) => store.integer(value),
        (Node::Float(value), _) => store.float(value.get()),
        (Node::Bool(value), _) => store.bool(value),
        (Node::String(text), _) => store.string(patterns.text(text)),
        (Node::Tuple(_), _) => store.tuple(parts),
        (Node::Get(field, _), [a]) if store.types.fields(store.ty(*a)).is_some() => store.get(field, *a),
        (Node::If(..), [a, b, c]) if store.ty(*b) == store.ty(*c) => store.if_(*a, *b, *c),
        (Node::Assert(..), [a, b]) => store.assert(*a, *b),
        (Node::Call(fun, _), [a]) if store.signature(fun).is_some_and(|(arg, _)| arg == store.ty(*a)) => {
            store.call(fun, *a)
        }
        (Node::Prim(prim, _), _) => store.try_prim(prim, parts)?,
        (Node::Construct(data, number, _), [a]) => store.construct(data, number, *a),
        (Node::Match(..), [value, arms @ ..]) => store.match_(*value, arms),
        _ => return None,
    })
}
