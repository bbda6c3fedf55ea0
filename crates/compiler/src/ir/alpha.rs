//! Equality up to the names of bound variables.

use super::expr::{ExprId, Node, VarId};
use super::store::Store;
use crate::stack;
use rustc_hash::FxHashMap;

impl Store {
    /// The expression with each bound variable replaced by one that depends only on its type and on how many binders are around, so
    /// that expressions that differ in names only have one canonical form. Takes time in proportion to the expression as a tree,
    /// less what is closed and shared. The result is a key, and a valid expression; free variables stay.
    pub fn canonical(&mut self, expr: ExprId) -> ExprId {
        Canonical { store: self, names: FxHashMap::default(), closed: FxHashMap::default() }.visit(expr, 0)
    }

    /// A part of a canonical form as it is where `depth` binders are around. `names` are the variables that were bound around it, and
    /// what binds them now.
    pub(crate) fn canonical_below(&mut self, part: ExprId, depth: u32, names: &[(VarId, VarId)]) -> ExprId {
        let changed = names.iter().copied().filter(|(old, new)| old != new && self.may_mention(part, *old));
        let names: FxHashMap<VarId, VarId> = changed.collect();
        if names.is_empty() && !self.has_binders(part) {
            return part;
        }
        Canonical { store: self, names, closed: FxHashMap::default() }.visit(part, depth)
    }

    /// Whether two expressions differ in the names of bound variables only.
    pub fn alpha_equal(&mut self, a: ExprId, b: ExprId) -> bool {
        a == b || (self.ty(a) == self.ty(b) && self.size(a) == self.size(b) && self.canonical(a) == self.canonical(b))
    }
}

struct Canonical<'a> {
    store: &'a mut Store,
    /// The new name of each variable that is bound here.
    names: FxHashMap<VarId, VarId>,
    /// Results that depend on the depth only.
    closed: FxHashMap<(ExprId, u32), ExprId>,
}

impl Canonical<'_> {
    fn visit(&mut self, expr: ExprId, depth: u32) -> ExprId {
        let is_closed = self.store.is_closed(expr);
        if is_closed && !self.store.has_binders(expr) {
            return expr;
        }
        if let Some(done) = self.closed.get(&(expr, depth)).filter(|_| is_closed) {
            return *done;
        }
        let new = stack::grow(|| self.rename(expr, depth));
        if is_closed {
            self.closed.insert((expr, depth), new);
        }
        new
    }

    fn rename(&mut self, expr: ExprId, depth: u32) -> ExprId {
        let new = match self.store.node(expr) {
            Node::Var(var) => match self.names.get(&var) {
                Some(name) => self.store.var(*name),
                None => expr,
            },
            Node::Lam(var, body) => {
                let (var, body) = self.below(var, body, depth);
                self.store.lam(var, body)
            }
            Node::Let(var, value, body) => {
                let value = self.visit(value, depth);
                let (var, body) = self.below(var, body, depth);
                self.store.let_(var, value, body)
            }
            _ => {
                let children: Vec<ExprId> =
                    self.store.children(expr).into_iter().map(|child| self.visit(child, depth)).collect();
                let mut children = children.into_iter();
                self.store.map_children(expr, |_, child| children.next().unwrap_or(child))
            }
        };
        self.store.inherit_origin(new, expr);
        new
    }

    fn below(&mut self, var: VarId, body: ExprId, depth: u32) -> (VarId, ExprId) {
        let name = self.store.canonical_var(depth, self.store.var_type(var), self.store.accumulates(var));
        let outer = self.names.insert(var, name);
        let body = self.visit(body, depth + 1);
        match outer {
            Some(outer) => self.names.insert(var, outer),
            None => self.names.remove(&var),
        };
        (name, body)
    }
}
