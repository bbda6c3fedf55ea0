//! Which terms of a sum a C++ compiler computes for several indices at once.

use crate::ir::{ExprId, Node, Prim, Store, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether the body of a lambda over an Integer is arithmetic, and functions without branches, on elements that lie side by side.
pub(super) fn is_wide(store: &Store, lam: ExprId) -> bool {
    let Node::Lam(index, body) = store.node(lam) else { return false };
    let mut term = Term { store, index, moving: FxHashSet::from_iter([index]), values: FxHashMap::default() };
    term.is_wide(body)
}

struct Term<'a> {
    store: &'a Store,
    index: VarId,
    /// Variables that are not the same for all indices.
    moving: FxHashSet<VarId>,
    values: FxHashMap<VarId, ExprId>,
}

impl Term<'_> {
    fn is_wide(&mut self, expr: ExprId) -> bool {
        let store = self.store;
        match store.node(expr) {
            _ if !self.moves(expr) => true,
            Node::Let(var, value, body) => {
                if self.moves(value) {
                    self.moving.insert(var);
                }
                self.values.insert(var, value);
                self.is_wide(value) && self.is_wide(body)
            }
            Node::Prim(Prim::Index, args) => {
                let (index, tensor) = (store.list(args)[0], store.list(args)[1]);
                !self.moves(tensor) && self.is_next_each_time(index)
            }
            Node::Prim(prim, _) if !is_plain(prim) || store.ty(expr) == TypeId::INTEGER && prim == Prim::Div => false,
            Node::Var(_) | Node::If(..) | Node::Prim(..) => {
                store.children(expr).into_iter().all(|part| self.is_wide(part))
            }
            _ => false,
        }
    }

    /// Whether an expression is not the same for all indices.
    fn moves(&self, expr: ExprId) -> bool {
        self.store.free_vars(expr).iter().any(|var| self.moving.contains(var))
    }

    /// Whether neighbouring indices take neighbouring elements, or the same one.
    fn is_next_each_time(&self, index: ExprId) -> bool {
        let parts = match self.store.node(index) {
            Node::Tuple(parts) => self.store.list(parts),
            _ => &[index],
        };
        let Some((last, others)) = parts.split_last() else { return true };
        !others.iter().any(|part| self.moves(*part)) && (!self.moves(*last) || self.counts(*last))
    }

    /// Whether an Integer is the index of the sum, or so much more or less.
    fn counts(&self, expr: ExprId) -> bool {
        match self.store.node(expr) {
            Node::Var(var) => var == self.index || self.values.get(&var).is_some_and(|value| self.counts(*value)),
            Node::Prim(prim @ (Prim::Add | Prim::Sub), args) => {
                let (a, b) = (self.store.list(args)[0], self.store.list(args)[1]);
                match (self.moves(a), self.moves(b)) {
                    (true, false) => self.counts(a),
                    (false, true) => prim == Prim::Add && self.counts(b),
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

/// Functions of scalars that are an instruction, or that the runtime has without branches.
fn is_plain(prim: Prim) -> bool {
    use Prim::{Abs, Add, And, Div, Exp, Gt, Gte, Lt, Lte, Mul, Neg, Or, Sqrt, Sub, Tanh, ToFloat};
    let is_instruction = matches!(prim, Neg | Add | Sub | Mul | Div | Abs | Sqrt | ToFloat);
    is_instruction || matches!(prim, Gt | Lt | Gte | Lte | And | Or | Exp | Tanh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Body;
    use crate::{Sources, compile};

    /// Whether the term of the first sum in lanes of a function is wide.
    fn wide(term: &str) -> bool {
        let text = format!(
            "(def f Float ((n : Integer) (k : Integer) (v : Vec Float) (m : Tensor 2 Float)) (sumbuild$4 n (lam (i : Integer) {term})))"
        );
        let program = compile(&Sources::with("test", text).unwrap()).unwrap();
        let store = &program.store;
        let Body::Expr(_, body) = program.defs().last().unwrap().body else { panic!("no body") };
        let is_sum = |part: &ExprId| matches!(store.node(*part), Node::Prim(Prim::Sumbuild4, _));
        let sum = store.post_order(body).into_iter().find(is_sum).unwrap();
        is_wide(store, store.children(sum)[1])
    }

    #[test]
    fn arithmetic_on_neighbouring_elements_is_wide() {
        assert!(wide("(mul (index (tuple k (add (mul k 3) i)) m) (index i v))"));
        assert!(wide("(let (x (index (sub i k) v)) (if (gt x 0.0) (exp x) (div x 2.0)))"));
        assert!(wide("(let (j (add i 1)) (mul (log (index k v)) (index j v)))"));
    }

    #[test]
    fn other_terms_are_not() {
        assert!(!wide("(index (tuple i k) m)"), "a column");
        assert!(!wide("(index (sub k i) v)"), "backwards");
        assert!(!wide("(index (mul 2 i) v)"), "every other element");
        assert!(!wide("(log (index i v))"), "a function of the library");
        assert!(!wide("(sumbuild i (lam (j : Integer) (index j v)))"), "a loop");
    }
}
