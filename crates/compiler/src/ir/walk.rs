//! Going over expressions.

use super::expr::{ExprId, ExprList, Node, VarId};
use super::store::Store;
use rustc_hash::FxHashSet;

/// Lists of so many expressions are copied without an allocation.
const SHORT: usize = 6;

impl Store {
    /// Calls `visit` with each direct part of a node, in order of evaluation.
    pub fn for_each_child(&self, node: Node, mut visit: impl FnMut(ExprId)) {
        match node {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => {}
            Node::Tuple(list) | Node::Prim(_, list) => self.list(list).iter().copied().for_each(visit),
            Node::Get(_, a) | Node::Lam(_, a) | Node::Call(_, a) | Node::Construct(_, _, a) => visit(a),
            Node::Let(_, a, b) | Node::Assert(a, b) => [a, b].into_iter().for_each(visit),
            Node::If(a, b, c) => [a, b, c].into_iter().for_each(visit),
            Node::Match(a, arms) => {
                visit(a);
                self.list(arms).iter().copied().for_each(visit);
            }
        }
    }

    /// The direct parts of an expression, in order of evaluation.
    pub fn children(&self, expr: ExprId) -> Vec<ExprId> {
        let mut children = vec![];
        self.for_each_child(self.node(expr), |child| children.push(child));
        children
    }

    /// The expression with each direct part replaced, in order of evaluation; it keeps its place in the source.
    pub fn map_children(&mut self, expr: ExprId, mut change: impl FnMut(&mut Self, ExprId) -> ExprId) -> ExprId {
        let node = self.node(expr);
        let change = &mut change;
        let new = match node {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => return expr,
            Node::Tuple(fields) => Node::Tuple(self.map_list(fields, change)),
            Node::Prim(prim, args) => Node::Prim(prim, self.map_list(args, change)),
            Node::Get(field, a) => Node::Get(field, change(self, a)),
            Node::Lam(var, a) => Node::Lam(var, change(self, a)),
            Node::Call(fun, a) => Node::Call(fun, change(self, a)),
            Node::Construct(data, constructor, a) => Node::Construct(data, constructor, change(self, a)),
            Node::Let(var, a, b) => Node::Let(var, change(self, a), change(self, b)),
            Node::Assert(a, b) => Node::Assert(change(self, a), change(self, b)),
            Node::If(a, b, c) => Node::If(change(self, a), change(self, b), change(self, c)),
            Node::Match(a, arms) => Node::Match(change(self, a), self.map_list(arms, change)),
        };
        if new == node {
            return expr;
        }
        let made = self.make(new);
        self.inherit_origin(made, expr);
        made
    }

    fn map_list(&mut self, list: ExprList, change: &mut impl FnMut(&mut Self, ExprId) -> ExprId) -> ExprList {
        let old = self.list(list).to_vec();
        let new: Vec<ExprId> = old.into_iter().map(|child| change(self, child)).collect();
        self.make_list(&new)
    }

    /// A direct part of an expression by its number, in order of evaluation.
    pub fn part(&self, expr: ExprId, number: usize) -> Option<ExprId> {
        match self.node(expr) {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => None,
            Node::Tuple(list) | Node::Prim(_, list) => self.list(list).get(number).copied(),
            Node::Get(_, a) | Node::Lam(_, a) | Node::Call(_, a) | Node::Construct(_, _, a) => [a].get(number).copied(),
            Node::Let(_, a, b) | Node::Assert(a, b) => [a, b].get(number).copied(),
            Node::If(a, b, c) => [a, b, c].get(number).copied(),
            Node::Match(a, _) if number == 0 => Some(a),
            Node::Match(_, arms) => self.list(arms).get(number - 1).copied(),
        }
    }

    /// The expression with one direct part replaced by another of the same type.
    pub fn with_part(&mut self, expr: ExprId, number: usize, part: ExprId) -> ExprId {
        debug_assert_eq!(
            self.part(expr, number).map(|old| self.ty(old)),
            Some(self.ty(part)),
            "a part of the same type"
        );
        let pick = |own: usize, old: ExprId| if own == number { part } else { old };
        let node = match self.node(expr) {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => return expr,
            Node::Tuple(list) => Node::Tuple(self.list_with(list, number, part)),
            Node::Prim(prim, list) => Node::Prim(prim, self.list_with(list, number, part)),
            Node::Get(field, _) => Node::Get(field, part),
            Node::Lam(var, _) => Node::Lam(var, part),
            Node::Call(fun, _) => Node::Call(fun, part),
            Node::Construct(data, constructor, _) => Node::Construct(data, constructor, part),
            Node::Let(var, a, b) => Node::Let(var, pick(0, a), pick(1, b)),
            Node::Assert(a, b) => Node::Assert(pick(0, a), pick(1, b)),
            Node::If(a, b, c) => Node::If(pick(0, a), pick(1, b), pick(2, c)),
            Node::Match(_, arms) if number == 0 => Node::Match(part, arms),
            Node::Match(a, arms) => Node::Match(a, self.list_with(arms, number - 1, part)),
        };
        let ty = self.ty(expr);
        self.intern(node, ty)
    }

    fn list_with(&mut self, list: ExprList, number: usize, part: ExprId) -> ExprList {
        let mut short = [part; SHORT];
        let old = self.list(list);
        if let Some(new) = short.get_mut(..old.len()) {
            new.copy_from_slice(old);
            new[number] = part;
            return self.make_list(new);
        }
        let mut new = old.to_vec();
        new[number] = part;
        self.make_list(&new)
    }

    /// Every expression that is part of `root`, each once, parts before the whole. Does not recurse.
    pub fn post_order(&self, root: ExprId) -> Vec<ExprId> {
        let (mut order, mut seen) = (vec![], FxHashSet::default());
        let mut stack = vec![(root, false)];
        while let Some((expr, is_done)) = stack.pop() {
            if is_done {
                order.push(expr);
            } else if seen.insert(expr) {
                stack.push((expr, true));
                let from = stack.len();
                self.for_each_child(self.node(expr), |child| stack.push((child, false)));
                stack[from..].reverse();
            }
        }
        order
    }

    /// The variable that an expression binds in its last part.
    pub fn bound_by(&self, expr: ExprId) -> Option<VarId> {
        match self.node(expr) {
            Node::Let(var, ..) | Node::Lam(var, _) => Some(var),
            _ => None,
        }
    }

    /// Whether the variable is free in the expression. Takes time in proportion to the parts that may mention it.
    pub fn mentions(&self, expr: ExprId, var: VarId) -> bool {
        let (mut seen, mut stack) = (FxHashSet::default(), vec![expr]);
        while let Some(expr) = stack.pop() {
            if !self.may_mention(expr, var) || !seen.insert(expr) {
                continue;
            }
            match self.node(expr) {
                Node::Var(found) if found == var => return true,
                Node::Lam(bound, _) if bound == var => {}
                Node::Let(bound, value, _) if bound == var => stack.push(value),
                node => self.for_each_child(node, |child| stack.push(child)),
            }
        }
        false
    }
}
