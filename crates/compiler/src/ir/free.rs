//! The free variables of an expression.

use super::expr::{ExprId, Node, VarId};
use super::store::Store;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How often parts are visited again, on average, before the search goes over to sets of variables.
const MOST_VISITS: usize = 8;

impl Store {
    /// The free variables of an expression, sorted. Takes time in proportion to its parts, unless large parts are shared between many scopes:
    /// then to the sum of the answers for all parts. To ask for one variable, [`Store::mentions`] is faster.
    pub fn free_vars(&self, expr: ExprId) -> Rc<[VarId]> {
        match self.node(expr) {
            Node::Var(var) => [var].into(),
            _ if self.is_closed(expr) => [].into(),
            _ => self.free_vars_knowing(expr, &FxHashMap::default()),
        }
    }

    /// The same where the free variables of some parts are known.
    pub(crate) fn free_vars_knowing(&self, expr: ExprId, known: &Known) -> Rc<[VarId]> {
        Search::default().run(self, expr, known).unwrap_or_else(|| self.free_vars_by_parts(expr))
    }

    /// The same from the free variables of each part.
    fn free_vars_by_parts(&self, expr: ExprId) -> Rc<[VarId]> {
        let mut free: FxHashMap<ExprId, Rc<[VarId]>> = FxHashMap::default();
        for part in self.post_order(expr) {
            let set = self.free_of_node(self.node(part), &free);
            free.insert(part, set);
        }
        free[&expr].clone()
    }

    fn free_of_node(&self, node: Node, of: &FxHashMap<ExprId, Rc<[VarId]>>) -> Rc<[VarId]> {
        match node {
            Node::Var(var) => [var].into(),
            Node::Lam(var, body) => without(&of[&body], var),
            Node::Let(var, value, body) => union(&of[&value], &without(&of[&body], var)),
            _ => {
                let mut all: Rc<[VarId]> = [].into();
                self.for_each_child(node, |child| all = union(&all, &of[&child]));
                all
            }
        }
    }
}

/// Free variables by part.
type Known = FxHashMap<ExprId, Rc<[VarId]>>;

/// A step of the search.
enum Task {
    Visit(ExprId),
    Open(VarId),
    Close(VarId),
}

/// A search through the expression that knows which binders are open. What was visited is visited again only if a binder that was open then
/// is no longer.
#[derive(Default)]
struct Search {
    free: FxHashSet<VarId>,
    /// How many open binders each variable has.
    bound: FxHashMap<VarId, u32>,
    /// The open binders, each time that one is opened with a number of its own.
    open: Vec<u64>,
    opened: u64,
    /// How many binders were open at the last visit, and the number of the innermost.
    seen: FxHashMap<ExprId, (usize, u64)>,
    visits: usize,
}

impl Search {
    /// None if it would take too long.
    fn run(mut self, store: &Store, root: ExprId, known: &Known) -> Option<Rc<[VarId]>> {
        let mut tasks = vec![Task::Visit(root)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(expr) => match known.get(&expr) {
                    Some(free) => free.iter().for_each(|var| self.found(*var)),
                    None => self.visit(store, expr, &mut tasks),
                },
                Task::Open(var) => {
                    self.opened += 1;
                    self.open.push(self.opened);
                    *self.bound.entry(var).or_default() += 1;
                }
                Task::Close(var) => {
                    self.open.pop();
                    *self.bound.entry(var).or_default() -= 1;
                }
            }
            if self.visits > 1000 + MOST_VISITS * self.seen.len() {
                return None;
            }
        }
        let mut free: Vec<VarId> = self.free.into_iter().collect();
        free.sort_unstable();
        Some(free.into())
    }

    fn visit(&mut self, store: &Store, expr: ExprId, tasks: &mut Vec<Task>) {
        let node = store.node(expr);
        if let Node::Var(var) = node {
            return self.found(var);
        }
        if store.is_closed(expr) || self.is_seen(expr) {
            return;
        }
        self.visits += 1;
        let from = tasks.len();
        match node {
            Node::Let(var, value, body) => {
                tasks.extend([Task::Visit(value), Task::Open(var), Task::Visit(body), Task::Close(var)]);
            }
            Node::Lam(var, body) => tasks.extend([Task::Open(var), Task::Visit(body), Task::Close(var)]),
            _ => store.for_each_child(node, |child| tasks.push(Task::Visit(child))),
        }
        tasks[from..].reverse();
    }

    fn found(&mut self, var: VarId) {
        if self.bound.get(&var).is_none_or(|count| *count == 0) {
            self.free.insert(var);
        }
    }

    /// Whether every binder that was open at the last visit still is.
    fn is_seen(&mut self, expr: ExprId) -> bool {
        if let Some((depth, innermost)) = self.seen.get(&expr).copied()
            && (depth == 0 || self.open.get(depth - 1) == Some(&innermost))
        {
            return true;
        }
        self.seen.insert(expr, (self.open.len(), self.open.last().copied().unwrap_or(0)));
        false
    }
}

fn without(set: &Rc<[VarId]>, var: VarId) -> Rc<[VarId]> {
    if set.binary_search(&var).is_err() {
        return set.clone();
    }
    set.iter().copied().filter(|other| *other != var).collect()
}

/// The union of two sorted sets, sharing the larger one where it holds the other.
fn union(a: &Rc<[VarId]>, b: &Rc<[VarId]>) -> Rc<[VarId]> {
    let (large, small) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let new: Vec<VarId> = small.iter().copied().filter(|var| large.binary_search(var).is_err()).collect();
    if new.is_empty() {
        return large.clone();
    }
    let mut all: Vec<VarId> = large.iter().copied().chain(new).collect();
    all.sort_unstable();
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Prim, TypeId};

    /// The part that is shared is seen first below a binder of its variable, then beside it.
    #[test]
    fn a_part_may_be_bound_in_one_place_and_free_in_another() {
        let mut store = Store::default();
        let (x, y) = (store.fresh("x", TypeId::FLOAT), store.fresh("y", TypeId::FLOAT));
        let (at_x, at_y) = (store.var(x), store.var(y));
        let shared = store.prim(Prim::Mul, &[at_x, at_y]);
        let bound = store.let_(x, at_y, shared);
        assert_eq!(store.free_vars(bound)[..], [y]);
        let both = store.prim(Prim::Add, &[bound, shared]);
        assert_eq!(store.free_vars(both)[..], [x, y]);
        assert_eq!(store.free_vars_by_parts(both), store.free_vars(both));
    }

    /// An expression whose tree is far larger than its parts.
    #[test]
    fn sharing_between_scopes_does_not_take_the_time_of_the_tree() {
        let mut store = Store::default();
        let x = store.fresh("x", TypeId::FLOAT);
        let mut expr = store.var(x);
        for _ in 0..60 {
            let (a, b) = (store.fresh("a", TypeId::FLOAT), store.fresh("b", TypeId::FLOAT));
            let one = store.float(1.0);
            let [first, second] = [a, b].map(|var| {
                let at = store.var(var);
                let sum = store.prim(Prim::Add, &[expr, at]);
                store.let_(var, one, sum)
            });
            expr = store.prim(Prim::Mul, &[first, second]);
        }
        assert_eq!(store.free_vars(expr)[..], [x]);
    }
}
