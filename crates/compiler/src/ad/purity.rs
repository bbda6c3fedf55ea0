//! What can be left out without anybody seeing it, and which variables a part needs. What is found out about large parts is kept, since the
//! blocks around them ask again.

use super::block::{Binding, root};
use crate::ir::{Body, Derivation, ExprId, FunId, FunName, Node, Prim, Program, Store, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Parts from this size on, in nodes, are remembered.
const LARGE: u32 = 32;
/// Unless they have more free variables than this.
const MOST_FREE: usize = 256;

/// What an expression does besides giving a value.
#[derive(Clone)]
struct Effects {
    /// It prints, traces or asserts, or calls what does.
    always: bool,
    /// The accumulators around it that it adds to.
    adds_to: Rc<[VarId]>,
}

/// What is known of parts.
#[derive(Default)]
pub(super) struct Parts {
    free: FxHashMap<ExprId, Rc<[VarId]>>,
    effects: FxHashMap<ExprId, Effects>,
}

impl Parts {
    /// The free variables of an expression.
    pub(super) fn free(&mut self, store: &Store, expr: ExprId) -> Rc<[VarId]> {
        if let Some(known) = self.free.get(&expr) {
            return known.clone();
        }
        let free = store.free_vars_knowing(expr, &self.free);
        if store.size(expr) >= LARGE && free.len() <= MOST_FREE {
            self.free.insert(expr, free.clone());
        }
        free
    }

    /// The bindings that are needed for `result`, or act.
    pub(super) fn live(&mut self, program: &mut Program, bindings: &[Binding], result: ExprId) -> Vec<Binding> {
        let mut wanted: FxHashSet<VarId> = self.free(&program.store, result).iter().copied().collect();
        let mut kept = vec![];
        for (var, value) in bindings.iter().rev() {
            if wanted.contains(var) || self.acts(program, *value) {
                wanted.extend(self.free(&program.store, *value).iter());
                kept.push((*var, *value));
            }
        }
        kept.reverse();
        kept
    }

    /// Whether the expression prints, traces, asserts, or adds to an accumulator from outside.
    pub(super) fn acts(&mut self, program: &mut Program, expr: ExprId) -> bool {
        let functions = std::mem::take(program.acting());
        let mut search = Search { program, functions, is_open: false };
        let effects = search.effects(self, expr);
        *program.acting() = search.functions;
        effects.always || !effects.adds_to.is_empty()
    }
}

struct Search<'a> {
    program: &'a Program,
    functions: FxHashMap<FunId, bool>,
    /// Whether an answer relied on a function that is still being made.
    is_open: bool,
}

impl Search<'_> {
    fn effects(&mut self, parts: &mut Parts, expr: ExprId) -> Effects {
        if let Some(known) = parts.effects.get(&expr) {
            return known.clone();
        }
        let (always, roots) = self.search(parts, expr);
        let mut adds_to: Vec<VarId> = if roots.is_empty() {
            vec![]
        } else {
            parts.free(&self.program.store, expr).iter().copied().filter(|var| roots.contains(var)).collect()
        };
        adds_to.dedup();
        let effects = Effects { always, adds_to: adds_to.into() };
        if self.program.store.size(expr) >= LARGE && !self.is_open {
            parts.effects.insert(expr, effects.clone());
        }
        effects
    }

    /// Whether some part always acts, and the accumulators that parts add to.
    fn search(&mut self, parts: &Parts, expr: ExprId) -> (bool, FxHashSet<VarId>) {
        let store = &self.program.store;
        let (mut roots, mut seen, mut stack) = (FxHashSet::default(), FxHashSet::default(), vec![expr]);
        while let Some(part) = stack.pop() {
            if !seen.insert(part) {
                continue;
            }
            if let Some(known) = parts.effects.get(&part) {
                if known.always {
                    return (true, roots);
                }
                roots.extend(known.adds_to.iter());
                continue;
            }
            match store.node(part) {
                Node::Assert(..) | Node::Prim(Prim::Print | Prim::Trace, _) => return (true, roots),
                Node::Prim(Prim::AddTo, args) => roots.extend(root(store, store.list(args)[0])),
                Node::Call(fun, _) if self.function_acts(fun) => return (true, roots),
                _ => {}
            }
            store.for_each_child(store.node(part), |child| stack.push(child));
        }
        (false, roots)
    }

    fn function_acts(&mut self, fun: FunId) -> bool {
        if let Some(known) = self.functions.get(&fun) {
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
        self.functions.insert(fun, false);
        let was_open = std::mem::take(&mut self.is_open);
        let effects = crate::stack::grow(|| self.effects(&mut Parts::default(), body));
        let acts = effects.always || !effects.adds_to.is_empty();
        if self.is_open {
            self.functions.remove(&fun);
        } else {
            self.functions.insert(fun, acts);
        }
        self.is_open |= was_open;
        acts
    }
}
