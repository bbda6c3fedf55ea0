//! Substitution without capture, and copies with binders of their own.

use super::expr::{ExprId, Node, VarId};
use super::store::Store;
use crate::stack;
use rustc_hash::{FxHashMap, FxHashSet};

impl Store {
    /// `expr` with `replacement` for the free occurrences of `var`. Binders that would capture a variable of the replacement are
    /// renamed. Copies of the replacement share its binders: see [`Store::refresh`].
    pub fn substitute(&mut self, expr: ExprId, var: VarId, replacement: ExprId) -> ExprId {
        Substitution { store: self, var, replacement, done: FxHashMap::default() }.apply(expr)
    }

    /// The same expression, up to the names of bound variables, with binders that nothing else has: for a second copy of an
    /// expression below a binder of the first, as when a recursive function is inlined.
    pub fn refresh(&mut self, expr: ExprId) -> ExprId {
        let order = self.post_order(expr);
        let bound: FxHashSet<VarId> = order.iter().filter_map(|part| self.bound_by(*part)).collect();
        // A variable that is bound in one part and free in another would be renamed with the binder: set it aside.
        let conflicts: Vec<VarId> = self.free_vars(expr).iter().copied().filter(|var| bound.contains(var)).collect();
        let mut aside = vec![];
        let mut body = expr;
        for var in conflicts {
            let placeholder = self.fresh_like(var);
            let stands = self.var(placeholder);
            body = self.substitute(body, var, stands);
            aside.push((placeholder, var));
        }
        body = self.rename_binders(body);
        for (placeholder, var) in aside {
            let original = self.var(var);
            body = self.substitute(body, placeholder, original);
        }
        body
    }

    /// Renames all bound variables, none of which is free anywhere in `root`.
    fn rename_binders(&mut self, root: ExprId) -> ExprId {
        let order = self.post_order(root);
        let mut names: FxHashMap<VarId, VarId> = FxHashMap::default();
        for part in &order {
            if let Some(var) = self.bound_by(*part) {
                let fresh = self.fresh_like(var);
                names.entry(var).or_insert(fresh);
            }
        }
        let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for part in order {
            let renamed = self.map_children(part, |_, child| done[&child]);
            let renamed = match self.node(renamed) {
                Node::Var(var) => names.get(&var).map(|new| self.var(*new)).unwrap_or(renamed),
                Node::Lam(var, body) => self.lam(names[&var], body),
                Node::Let(var, value, body) => self.let_(names[&var], value, body),
                _ => renamed,
            };
            self.inherit_origin(renamed, part);
            done.insert(part, renamed);
        }
        done[&root]
    }
}

struct Substitution<'a> {
    store: &'a mut Store,
    var: VarId,
    replacement: ExprId,
    done: FxHashMap<ExprId, ExprId>,
}

impl Substitution<'_> {
    fn apply(&mut self, expr: ExprId) -> ExprId {
        if !self.store.may_mention(expr, self.var) {
            return expr;
        }
        if let Some(done) = self.done.get(&expr) {
            return *done;
        }
        let new = stack::grow(|| self.replace(expr));
        self.done.insert(expr, new);
        new
    }

    fn replace(&mut self, expr: ExprId) -> ExprId {
        match self.store.node(expr) {
            Node::Var(var) if var == self.var => self.replacement,
            Node::Lam(var, _) if var == self.var => expr,
            Node::Lam(var, body) => {
                let (var, body) = self.below(var, body);
                let new = self.store.lam(var, body);
                self.placed(new, expr)
            }
            Node::Let(var, value, body) => {
                let value = self.apply(value);
                let (var, body) = if var == self.var { (var, body) } else { self.below(var, body) };
                let new = self.store.let_(var, value, body);
                self.placed(new, expr)
            }
            _ => {
                let children: Vec<ExprId> =
                    self.store.children(expr).into_iter().map(|child| self.apply(child)).collect();
                let mut children = children.into_iter();
                self.store.map_children(expr, |_, child| children.next().unwrap_or(child))
            }
        }
    }

    fn placed(&mut self, new: ExprId, old: ExprId) -> ExprId {
        self.store.inherit_origin(new, old);
        new
    }

    /// The body of a binder, which is renamed if it would capture.
    fn below(&mut self, var: VarId, body: ExprId) -> (VarId, ExprId) {
        if !self.store.mentions(self.replacement, var) {
            return (var, self.apply(body));
        }
        let fresh = self.store.fresh_like(var);
        let renamed = self.store.var(fresh);
        let body = self.store.substitute(body, var, renamed);
        (fresh, self.apply(body))
    }
}
