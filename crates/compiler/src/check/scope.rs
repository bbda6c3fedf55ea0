//! Variables in scope.

use crate::ir::{Symbol, VarId};
use rustc_hash::FxHashMap;

/// What each name means here; the innermost binding is the last.
#[derive(Default)]
pub(super) struct Scope {
    vars: FxHashMap<Symbol, Vec<VarId>>,
}

impl Scope {
    pub(super) fn push(&mut self, name: Symbol, var: VarId) {
        self.vars.entry(name).or_default().push(var);
    }

    pub(super) fn pop(&mut self, name: Symbol) {
        if let Some(vars) = self.vars.get_mut(&name) {
            vars.pop();
        }
    }

    pub(super) fn get(&self, name: Symbol) -> Option<VarId> {
        self.vars.get(&name)?.last().copied()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.vars.clear();
    }

    /// The names that mean something, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = Symbol> {
        self.vars.iter().filter(|(_, vars)| !vars.is_empty()).map(|(name, _)| *name)
    }
}
