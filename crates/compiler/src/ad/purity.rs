//! What can be left out without anybody seeing it.

use super::block::{Binding, root};
use crate::ir::{Body, Derivation, ExprId, FunId, FunName, Node, Prim, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The bindings that are needed for `result`, or act.
pub(super) fn live(program: &mut Program, bindings: &[Binding], result: ExprId) -> Vec<Binding> {
    let mut wanted: FxHashSet<VarId> = program.store.free_vars(result).iter().copied().collect();
    let mut kept = vec![];
    for (var, value) in bindings.iter().rev() {
        if wanted.contains(var) || acts(program, *value) {
            wanted.extend(program.store.free_vars(*value).iter());
            kept.push((*var, *value));
        }
    }
    kept.reverse();
    kept
}

/// Whether the expression prints, traces, asserts, or adds to an accumulator from outside.
pub(super) fn acts(program: &mut Program, expr: ExprId) -> bool {
    let known = std::mem::take(program.acting());
    let mut search = Search { program, known, is_open: false };
    let acts = search.acts(expr);
    *program.acting() = search.known;
    acts
}

struct Search<'a> {
    program: &'a Program,
    known: FxHashMap<FunId, bool>,
    /// Whether an answer relied on a function that is still being made.
    is_open: bool,
}

impl Search<'_> {
    fn acts(&mut self, expr: ExprId) -> bool {
        let store = &self.program.store;
        store.post_order(expr).into_iter().any(|part| match store.node(part) {
            Node::Assert(..) | Node::Prim(Prim::Print | Prim::Trace, _) => true,
            Node::Prim(Prim::AddTo, args) => {
                root(store, store.list(args)[0]).is_some_and(|var| store.mentions(expr, var))
            }
            Node::Call(fun, _) => self.function_acts(fun),
            _ => false,
        })
    }

    fn function_acts(&mut self, fun: FunId) -> bool {
        if let Some(known) = self.known.get(&fun) {
            return *known;
        }
        match self.program.def(fun).map(|def| def.body) {
            Some(Body::Expr(_, body)) => self.body_acts(fun, body),
            Some(Body::LinearMap { .. }) => false,
            Some(Body::External) => true,
            None => self.undefined_acts(fun),
        }
    }

    /// A derivation that is still to be made acts if the function does.
    fn undefined_acts(&mut self, fun: FunId) -> bool {
        match self.program.store.fun(fun) {
            FunName::Derived(Derivation::D, _) => false,
            FunName::Derived(_, of) => self.function_acts(of),
            FunName::Base(..) => {
                self.is_open = true;
                true
            }
        }
    }

    fn body_acts(&mut self, fun: FunId, body: ExprId) -> bool {
        // A recursive call acts if the rest of the function does.
        self.known.insert(fun, false);
        let was_open = std::mem::take(&mut self.is_open);
        let acts = crate::stack::grow(|| self.acts(body));
        if self.is_open {
            self.known.remove(&fun);
        } else {
            self.known.insert(fun, acts);
        }
        self.is_open |= was_open;
        acts
    }
}
