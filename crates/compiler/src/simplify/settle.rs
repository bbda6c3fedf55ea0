//! From normal form back to trees: what nobody needs goes, what is needed once goes where it is needed, and a loop that makes a
//! tensor joins the loop that takes it apart.

use super::facts::Facts;
use super::uses::Uses;
use crate::ir::{ExprId, Node, Prim, Program, VarId};
use crate::stack;
use rustc_hash::FxHashMap;

pub(super) struct Settler<'a> {
    program: &'a mut Program,
    facts: &'a mut Facts,
    uses: &'a Uses,
    /// Expressions that take the place of a variable, all at one mention.
    inline: FxHashMap<VarId, ExprId>,
    /// Lambdas of `build`s that take the place of an index into the variable.
    joined: FxHashMap<VarId, ExprId>,
}

impl<'a> Settler<'a> {
    pub(super) fn new(program: &'a mut Program, facts: &'a mut Facts, uses: &'a Uses) -> Self {
        Self { program, facts, uses, inline: FxHashMap::default(), joined: FxHashMap::default() }
    }

    pub(super) fn settle(&mut self, expr: ExprId) -> ExprId {
        stack::grow(|| self.settle_here(expr))
    }

    fn settle_here(&mut self, mut expr: ExprId) -> ExprId {
        let mut kept = vec![];
        while let Node::Let(var, value, body) = self.program.store.node(expr) {
            let mentions = self.uses.get(var);
            let depth = self.uses.depth.get(&var).copied().unwrap_or(0);
            let is_total = self.facts.is_total(self.program, value);
            if mentions.count == 0 && is_total {
                // Nobody needs it.
            } else if mentions.count == 1 && mentions.depth == depth && is_total {
                let value = self.settle(value);
                self.inline.insert(var, value);
            } else if let Some(lam) = self.joins(var, value, body) {
                self.joined.insert(var, lam);
            } else {
                let value = self.settle(value);
                kept.push((var, value));
            }
            expr = body;
        }
        // What is computed last need not be named: a call stays the last step of its function.
        let last = match (self.program.store.node(expr), kept.last()) {
            (Node::Var(result), Some((var, value))) if result == *var && self.uses.get(*var).count == 1 => Some(*value),
            _ => None,
        };
        let result = match last {
            Some(value) => {
                kept.pop();
                value
            }
            None => self.step(expr),
        };
        self.program.store.lets(&kept, result)
    }

    fn step(&mut self, expr: ExprId) -> ExprId {
        match self.program.store.node(expr) {
            Node::Var(var) => self.inline.get(&var).copied().unwrap_or(expr),
            Node::Get(field, tuple) => {
                let tuple = self.settle(tuple);
                match self.program.store.node(tuple) {
                    Node::Tuple(fields) => self.program.store.list(fields)[field as usize],
                    _ => self.program.store.get(field, tuple),
                }
            }
            Node::Prim(Prim::Index, args) => {
                let (index, tensor) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
                let lam = match self.program.store.node(tensor) {
                    Node::Var(var) => self.joined.get(&var).copied(),
                    _ => None,
                };
                match lam.map(|lam| self.program.store.node(lam)) {
                    Some(Node::Lam(var, body)) => {
                        let index = self.settle(index);
                        let body = self.settle(body);
                        self.program.store.let_(var, index, body)
                    }
                    _ => self.children(expr),
                }
            }
            _ => self.children(expr),
        }
    }

    fn children(&mut self, expr: ExprId) -> ExprId {
        let children: Vec<ExprId> =
            self.program.store.children(expr).into_iter().map(|child| self.settle(child)).collect();
        let mut children = children.into_iter();
        self.program.store.map_children(expr, |_, child| children.next().unwrap_or(child))
    }

    /// The lambda of a `build` whose elements are each taken once, by a loop over the same indices. The elements may fail a little
    /// later then, but never after something that is seen.
    fn joins(&mut self, var: VarId, value: ExprId, rest: ExprId) -> Option<ExprId> {
        let Node::Prim(Prim::Build, args) = self.program.store.node(value) else { return None };
        let (size, lam) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
        let mentions = self.uses.get(var);
        let taken = self.uses.loops.get(&mentions.by?)?;
        let depth = self.uses.depth.get(&var).copied().unwrap_or(0);
        let fits = mentions.count == 1 && taken.size == size && taken.depth == depth + 1 && mentions.depth == depth + 1;
        if !fits || !self.facts.is_pure(self.program, value) {
            return None;
        }
        let is_safe = self.facts.is_total(self.program, value) || !self.facts.acts(self.program, rest);
        is_safe.then_some(lam)
    }
}
