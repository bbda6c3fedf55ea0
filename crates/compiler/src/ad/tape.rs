//! What a block saves for its way back, and what is cheaper to compute again.

use super::block::{Binding, field};
use super::purity::Parts;
use crate::ir::{ExprId, Node, Prim, Store, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the way back through a block needs of the way there.
pub(super) struct Tape {
    /// Variables whose values are saved, in order.
    pub(super) saved: Vec<VarId>,
    /// Bindings to compute again.
    again: Vec<Binding>,
}

/// Whether an expression over atoms costs no more than loading it would: parts, sizes, and sums and products of numbers.
fn is_cheap(store: &Store, expr: ExprId) -> bool {
    match store.node(expr) {
        Node::Prim(prim, args) => match prim {
            Prim::Index | Prim::Size => true,
            // This one cannot fail.
            Prim::Div => matches!(store.node(store.list(args)[1]), Node::Integer(divisor) if divisor != 0),
            Prim::Neg | Prim::Add | Prim::Sub | Prim::Mul | Prim::ToFloat => true,
            Prim::Gt | Prim::Lt | Prim::Gte | Prim::Lte | Prim::And | Prim::Or => true,
            Prim::Eq | Prim::Ne => store.ty(store.children(expr)[0]) == TypeId::INTEGER,
            _ => false,
        },
        _ => super::block::is_atom(store, expr),
    }
}

/// The number that is compared with a constant: it is saved in the place of the answer, so that loops compute, and save, numbers only,
/// several of which C++ compilers take at once.
fn compared(store: &Store, expr: ExprId) -> Option<VarId> {
    let Node::Prim(Prim::Gt | Prim::Lt | Prim::Gte | Prim::Lte, args) = store.node(expr) else { return None };
    let &[a, b] = store.list(args) else { return None };
    match (store.node(a), store.node(b)) {
        (Node::Var(var), Node::Float(_)) | (Node::Float(_), Node::Var(var)) => Some(var),
        _ => None,
    }
}

impl Tape {
    /// The tape of a block with these bindings, whose way back is `backward`. Of the variables that the way back cannot see,
    /// `params` come from around the block and cannot be computed again.
    pub(super) fn new(
        store: &Store,
        parts: &mut Parts,
        params: &[VarId],
        forward: &[Binding],
        backward: ExprId,
    ) -> Self {
        let inner: FxHashMap<VarId, ExprId> = forward.iter().copied().collect();
        let is_inner = |var: &VarId| inner.contains_key(var) || params.contains(var);
        let mut cheap: FxHashSet<VarId> = FxHashSet::default();
        for (var, value) in forward {
            let can = |part: &VarId| !is_inner(part) || cheap.contains(part);
            if is_cheap(store, *value) && parts.free(store, *value).iter().all(can) {
                cheap.insert(*var);
            }
        }
        let mut wanted: FxHashSet<VarId> = parts.free(store, backward).iter().copied().filter(is_inner).collect();
        // What follows from other things that are saved need not be saved.
        for (var, value) in forward.iter().rev() {
            let free = parts.free(store, *value);
            let follows = || free.iter().all(|part| !is_inner(part) || cheap.contains(part) || wanted.contains(part));
            if wanted.contains(var) && !cheap.contains(var) && is_cheap(store, *value) {
                if let Some(number) =
                    compared(store, *value).filter(|number| is_inner(number) && !cheap.contains(number))
                {
                    wanted.insert(number);
                    cheap.insert(*var);
                } else if follows() {
                    cheap.insert(*var);
                }
            }
        }
        let mut again = vec![];
        for (var, value) in forward.iter().rev().filter(|(var, _)| cheap.contains(var)) {
            if wanted.contains(var) {
                wanted.extend(parts.free(store, *value).iter().copied().filter(is_inner));
                again.push((*var, *value));
            }
        }
        again.reverse();
        let order = params.iter().chain(forward.iter().map(|(var, _)| var));
        let saved = order.filter(|var| wanted.contains(var) && !cheap.contains(var)).copied().collect();
        Self { saved, again }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.saved.is_empty()
    }

    /// The saved values as one.
    pub(super) fn pack(&self, store: &mut Store) -> ExprId {
        let vars: Vec<ExprId> = self.saved.iter().map(|var| store.var(*var)).collect();
        if let [one] = vars[..] { one } else { store.tuple(&vars) }
    }

    /// The bindings that bring back what was saved, given the packed value, an atom.
    pub(super) fn unpack(&self, store: &mut Store, packed: ExprId) -> Vec<Binding> {
        let mut bindings: Vec<Binding> = match self.saved[..] {
            [one] => vec![(one, packed)],
            _ => (0..).zip(&self.saved).map(|(number, var)| (*var, field(store, number, packed))).collect(),
        };
        bindings.extend(&self.again);
        bindings
    }
}
