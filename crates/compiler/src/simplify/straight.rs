//! A number that is only added to whole, one term after the other, needs no accumulator: it is a sum of values.

use crate::ir::{ExprId, Node, Prim, Store, TypeId, VarId};

type Bindings = Vec<(VarId, ExprId)>;

/// What `($accumulate zero (lam (accumulator) body))` gives, as values, if every `$addTo` is a step of the body itself or of a branch.
pub(super) fn summed(store: &mut Store, zero: ExprId, accumulator: VarId, body: ExprId) -> Option<ExprId> {
    if store.ty(zero) != TypeId::FLOAT {
        return None;
    }
    let (bindings, total, result) = Straight { store, accumulator }.block(zero, body)?;
    let both = store.tuple(&[total, result]);
    Some(store.lets(&bindings, both))
}

struct Straight<'a> {
    store: &'a mut Store,
    accumulator: VarId,
}

impl Straight<'_> {
    /// The bindings of a block, the total after them, and the value of the block.
    fn block(&mut self, mut total: ExprId, mut expr: ExprId) -> Option<(Bindings, ExprId, ExprId)> {
        let mut bindings = vec![];
        while let Node::Let(var, value, rest) = self.store.node(expr) {
            total = self.step(var, value, total, &mut bindings)?;
            expr = rest;
        }
        if self.store.ty(expr) == TypeId::UNIT {
            let last = self.store.fresh("t", TypeId::UNIT);
            total = self.step(last, expr, total, &mut bindings)?;
            expr = self.store.tuple(&[]);
        }
        (!self.mentions(expr)).then_some((bindings, total, expr))
    }

    /// The total after one binding.
    fn step(&mut self, var: VarId, value: ExprId, total: ExprId, bindings: &mut Bindings) -> Option<ExprId> {
        if !self.mentions(value) {
            bindings.push((var, value));
            return Some(total);
        }
        let after = match self.store.node(value) {
            Node::Prim(Prim::AddTo, args) => {
                let (place, term) = (self.store.list(args)[0], self.store.list(args)[1]);
                let is_whole = self.store.node(place) == Node::Var(self.accumulator);
                (is_whole && !self.mentions(term)).then(|| self.store.prim(Prim::Add, &[total, term]))?
            }
            Node::If(condition, then, otherwise)
                if self.store.ty(value) == TypeId::UNIT && !self.mentions(condition) =>
            {
                let then = self.branch(total, then, bindings)?;
                let otherwise = self.branch(total, otherwise, bindings)?;
                self.store.if_(condition, then, otherwise)
            }
            _ => return None,
        };
        let sum = self.store.fresh("sum", TypeId::FLOAT);
        bindings.push((sum, after));
        let unit = self.store.tuple(&[]);
        bindings.push((var, unit));
        Some(self.store.var(sum))
    }

    /// The total after a branch. Where the branch only adds, the sum is computed before, whether it is wanted or not: so nothing branches.
    fn branch(&mut self, total: ExprId, branch: ExprId, around: &mut Bindings) -> Option<ExprId> {
        let (bindings, total, _) = self.block(total, branch)?;
        let is_cheap = |store: &Store, value: ExprId| match store.node(value) {
            Node::Tuple(parts) => store.list(parts).is_empty(),
            Node::Prim(Prim::Add, args) => store.list(args).iter().all(|arg| store.size(*arg) == 1),
            _ => false,
        };
        if bindings.iter().all(|(_, value)| is_cheap(self.store, *value)) {
            around.extend(bindings);
            return Some(total);
        }
        Some(self.store.lets(&bindings, total))
    }

    fn mentions(&self, expr: ExprId) -> bool {
        self.store.mentions(expr, self.accumulator)
    }
}
