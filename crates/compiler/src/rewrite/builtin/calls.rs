//! Calls in the place of which the function may stand.

use super::{Builtin, Root, Site};
use crate::ir::{Body, Class, FunId, Node, Program};

pub(super) const RULES: &[Builtin] = &[Builtin {
    name: "inline_call",
    class: Class::Exact,
    big: false,
    subject: "calls",
    roots: &[Root::Call],
    find: inline_call,
}];

/// `(f a)` to `(let (x a) body of f)`, unless f calls itself.
fn inline_call(site: &mut Site<'_>) {
    let Node::Call(fun, arg) = site.node() else { return };
    let Some(Body::Expr(param, body)) = site.program.def(fun).map(|def| def.body) else { return };
    if calls(site.program, body, fun) {
        return;
    }
    let ty = site.program.store.ty(arg);
    let var = site.var(0, ty);
    let body = site.below(1, body, &[(param, var)]);
    let result = site.store().let_(var, arg, body);
    site.found(0, result);
}

fn calls(program: &Program, body: crate::ir::ExprId, fun: FunId) -> bool {
    let store = &program.store;
    store.post_order(body).into_iter().any(|part| matches!(store.node(part), Node::Call(of, _) if of == fun))
}
