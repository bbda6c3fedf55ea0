//! Forward mode of loops and accumulators.

use super::block::Code;
use super::desugar::looped;
use super::forward::{Dual, Forward, Result};
use crate::ir::{ExprId, Node, Prim};

impl Forward<'_> {
    /// `build` and `sumbuild`: of pairs, where the value is needed too.
    pub(super) fn over_indices(&mut self, prim: Prim, args: &[ExprId], is_needed: bool) -> Result<Dual> {
        let (size, (var, body)) = (self.value(args[0])?, self.code.lambda(args[1]));
        let (index, at) = self.code.fresh_like(var);
        self.env.insert(var, (at, None));
        let arm = self.arm(body, is_needed)?;
        let (bodies, is_smooth) = self.join(vec![arm], is_needed);
        let lam = self.code.store().lam(index, bodies[0]);
        let mut made = self.code.prim(prim, &[size, lam]);
        if is_smooth && is_needed && prim == Prim::Build {
            made = self.code.prim(Prim::Unzip, &[made]);
        }
        Ok(self.split(made, is_smooth, is_needed))
    }

    /// `fold` and `$mapAccum`: the state is a pair, and so are the elements.
    pub(super) fn fold(&mut self, prim: Prim, args: &[ExprId]) -> Result<Dual> {
        let (init, vector) = (self.dual(args[1], true)?, self.dual(args[2], true)?);
        let (init_change, vector_change) = (self.tangent(init), self.tangent(vector));
        let state = self.code.tuple(&[init.0, init_change]);
        let size = self.code.prim(Prim::Size, &[vector.0]);
        let pairs = looped(self.code.store(), Prim::Build, size, |store, index| {
            let both = [vector.0, vector_change].map(|over| store.prim(Prim::Index, &[index, over]));
            store.tuple(&both)
        });
        let pairs = self.code.emit(pairs);
        let (var, body) = self.code.lambda(args[0]);
        let (param, fields) = self.fold_param(state, pairs);
        let whole = |code: &mut Code<'_>, number| {
            let parts = fields.map(|pair| code.field(number, pair));
            code.tuple(&parts)
        };
        let (value, tangent) = (whole(&mut self.code, 0), whole(&mut self.code, 1));
        self.env.insert(var, (value, Some(tangent)));
        let outer = self.code.open();
        let dual = self.dual(body, true)?;
        let change = self.tangent(dual);
        let result = self.zipped(prim, dual.0, change);
        let bindings = self.code.close(outer);
        let step = self.code.block(&bindings, result);
        let step = self.code.store().lam(param, step);
        let made = self.code.prim(prim, &[step, state, pairs]);
        Ok(self.unzipped(prim, made))
    }

    /// The parameter of the new step, and its state and element, each a pair of value and tangent.
    fn fold_param(&mut self, state: ExprId, pairs: ExprId) -> (crate::ir::VarId, [ExprId; 2]) {
        let zero = self.code.store().integer(0);
        let element = self.code.store().prim(Prim::Index, &[zero, pairs]);
        let types = [self.code.ty(state), self.code.ty(element)];
        let ty = self.code.store().types.tuple(&types);
        let (param, at) = self.code.fresh("acc_x", ty);
        (param, [self.code.field(0, at), self.code.field(1, at)])
    }

    /// The result of a step: the state as a pair, and for `$mapAccum` what it makes as another.
    fn zipped(&mut self, prim: Prim, value: ExprId, change: ExprId) -> ExprId {
        if prim == Prim::Fold {
            return self.code.tuple(&[value, change]);
        }
        let pairs = [0, 1].map(|number| {
            let both = [self.code.field(number, value), self.code.field(number, change)];
            self.code.tuple(&both)
        });
        self.code.tuple(&pairs)
    }

    fn unzipped(&mut self, prim: Prim, made: ExprId) -> Dual {
        if prim == Prim::Fold {
            return (self.code.field(0, made), Some(self.code.field(1, made)));
        }
        let (state, all) = (self.code.field(0, made), self.code.field(1, made));
        let all = self.code.prim(Prim::Unzip, &[all]);
        let [value, change] = [0, 1].map(|number| {
            let both = [self.code.field(number, state), self.code.field(number, all)];
            self.code.tuple(&both)
        });
        (value, Some(change))
    }

    /// `$accumulate`: an accumulator for the tangent within that for the value.
    pub(super) fn accumulate(&mut self, args: &[ExprId]) -> Result<Dual> {
        let (start, (var, body)) = (self.dual(args[0], true)?, self.code.lambda(args[1]));
        let start_change = self.tangent(start);
        let (total, at) = self.code.fresh_like(var);
        let ty = self.code.ty(start_change);
        let (change, change_at) = self.code.fresh("dacc", ty);
        self.env.insert(var, (at, Some(change_at)));
        let arm = self.arm(body, true)?;
        let (bodies, is_smooth) = self.join(vec![arm], true);
        let inner = self.code.store().lam(change, bodies[0]);
        let inner = self.code.store().prim(Prim::Accumulate, &[start_change, inner]);
        let outer = self.code.store().lam(total, inner);
        let made = self.code.prim(Prim::Accumulate, &[start.0, outer]);
        let rest = self.code.field(1, made);
        let result = self.code.field(1, rest);
        let result = self.split(result, is_smooth, true);
        let totals = (self.code.field(0, made), Some(self.code.field(0, rest)));
        Ok(self.tuple(&[totals, result]))
    }

    pub(super) fn add_to(&mut self, args: &[ExprId]) -> Result<Dual> {
        let (places, (value, tangent)) = (self.places(args[0])?, self.dual(args[1], true)?);
        self.code.prim(Prim::AddTo, &[places.0, value]);
        if let (Some(place), Some(tangent)) = (places.1, tangent) {
            self.code.prim(Prim::AddTo, &[place, tangent]);
        }
        Ok((self.code.tuple(&[]), None))
    }

    /// A place in both accumulators.
    fn places(&mut self, place: ExprId) -> Result<Dual> {
        match self.code.program.store.node(place) {
            Node::Var(var) => Ok(self.env[&var]),
            Node::Get(number, whole) => {
                let whole = self.places(whole)?;
                let store = self.code.store();
                Ok((store.get(number, whole.0), whole.1.map(|whole| store.get(number, whole))))
            }
            Node::Prim(Prim::Index, list) => {
                let args = self.code.args(list);
                let (index, whole) = (self.value(args[0])?, self.places(args[1])?);
                let store = self.code.store();
                let value = store.prim(Prim::Index, &[index, whole.0]);
                Ok((value, whole.1.map(|whole| store.prim(Prim::Index, &[index, whole]))))
            }
            _ => self.code.fail("$addTo", "its first argument is no part of an accumulator"),
        }
    }
}
