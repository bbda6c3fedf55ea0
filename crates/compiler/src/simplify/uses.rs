//! Who mentions a variable, and where.

use crate::ir::{ExprId, Node, Prim, Store, VarId};
use crate::stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// What nobody asks for.
#[derive(Default)]
pub(super) struct Unused {
    /// Accumulators that are only added to.
    pub(super) accumulators: FxHashSet<VarId>,
    /// Fields of the values of variables.
    pub(super) fields: FxHashSet<(VarId, u32)>,
}

/// The mentions of a variable.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mentions {
    pub(super) count: u32,
    /// The number of loops around the last one.
    pub(super) depth: u32,
    /// Fields of which only they are mentioned, one bit each; all, if the whole is mentioned.
    fields: u64,
    /// If the last one is an index into it by a loop variable: that variable.
    pub(super) by: Option<VarId>,
}

/// A loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub(super) size: ExprId,
    pub(super) depth: u32,
}

/// The mentions of all variables of an expression.
#[derive(Default)]
pub(super) struct Uses {
    pub(super) of: FxHashMap<VarId, Mentions>,
    /// The number of loops around each binder.
    pub(super) depth: FxHashMap<VarId, u32>,
    /// `build` and `sumbuild`, by the variables of their lambdas.
    pub(super) loops: FxHashMap<VarId, Loop>,
    /// Accumulators, with the variable that their result is bound to.
    accumulators: Vec<(VarId, Option<VarId>)>,
    /// Mentions of accumulators that are no places to add to.
    read: FxHashSet<VarId>,
}

impl Uses {
    pub(super) fn of(store: &Store, expr: ExprId) -> Self {
        let mut uses = Self::default();
        uses.visit(store, expr, 0);
        uses
    }

    pub(super) fn get(&self, var: VarId) -> Mentions {
        self.of.get(&var).copied().unwrap_or_default()
    }

    /// What nobody asks for.
    pub(super) fn unused(&self) -> Unused {
        let mut unused = Unused::default();
        for (var, mentions) in &self.of {
            unused
                .fields
                .extend((0..u64::BITS).filter(|field| mentions.fields >> field & 1 == 0).map(|field| (*var, field)));
        }
        for (accumulator, result) in &self.accumulators {
            let wanted = result.is_none_or(|result| self.get(result).fields & 1 != 0);
            if !wanted && !self.read.contains(accumulator) {
                unused.accumulators.insert(*accumulator);
            }
        }
        unused
    }

    fn mention(&mut self, var: VarId, depth: u32, fields: u64, by: Option<VarId>) {
        let mentions = self.of.entry(var).or_default();
        mentions.count += 1;
        mentions.depth = depth;
        mentions.fields |= fields;
        mentions.by = by;
    }

    fn visit(&mut self, store: &Store, expr: ExprId, depth: u32) {
        stack::grow(|| self.visit_here(store, expr, depth));
    }

    fn visit_here(&mut self, store: &Store, mut expr: ExprId, depth: u32) {
        while let Node::Let(var, value, body) = store.node(expr) {
            self.depth.insert(var, depth);
            if let Node::Prim(Prim::Accumulate, args) = store.node(value) {
                let lam = store.list(args)[1];
                self.accumulators.extend(store.bound_by(lam).map(|accumulator| (accumulator, Some(var))));
            }
            self.visit(store, value, depth);
            expr = body;
        }
        match store.node(expr) {
            Node::Var(var) => {
                self.read.insert(var);
                self.mention(var, depth, u64::MAX, None);
            }
            Node::Get(field, whole) => match store.node(whole) {
                Node::Var(var) => {
                    self.read.insert(var);
                    self.mention(var, depth, 1 << field.min(63), None);
                }
                _ => self.visit(store, whole, depth),
            },
            Node::Lam(var, body) => {
                self.depth.insert(var, depth);
                self.visit(store, body, depth);
            }
            Node::Prim(prim, args) => self.prim(store, prim, store.list(args), depth),
            node => store.for_each_child(node, |child| self.visit(store, child, depth)),
        }
    }

    fn prim(&mut self, store: &Store, prim: Prim, args: &[ExprId], depth: u32) {
        match (prim, args) {
            (Prim::Index, &[index, tensor]) => {
                self.visit(store, index, depth);
                match (store.node(index), store.node(tensor)) {
                    (Node::Var(by), Node::Var(var)) => {
                        self.read.insert(var);
                        self.mention(var, depth, u64::MAX, Some(by));
                    }
                    _ => self.visit(store, tensor, depth),
                }
            }
            (Prim::AddTo, &[place, value]) => {
                self.place(store, place, depth);
                self.visit(store, value, depth);
            }
            (Prim::Accumulate, &[zero, lam]) => {
                self.visit(store, zero, depth);
                self.visit(store, lam, depth);
            }
            _ => {
                for arg in args {
                    match store.node(*arg) {
                        Node::Lam(var, body) => {
                            if prim.is_over_indices() {
                                self.loops.insert(var, Loop { size: args[0], depth: depth + 1 });
                            }
                            self.depth.insert(var, depth + 1);
                            self.visit(store, body, depth + 1);
                        }
                        _ => self.visit(store, *arg, depth),
                    }
                }
            }
        }
    }

    /// A place to add to: its root is not read.
    fn place(&mut self, store: &Store, place: ExprId, depth: u32) {
        match store.node(place) {
            Node::Var(var) => self.mention(var, depth, u64::MAX, None),
            Node::Get(_, whole) => self.place(store, whole, depth),
            Node::Prim(Prim::Index, args) => {
                let (index, whole) = (store.list(args)[0], store.list(args)[1]);
                self.visit(store, index, depth);
                self.place(store, whole, depth);
            }
            _ => self.visit(store, place, depth),
        }
    }
}
