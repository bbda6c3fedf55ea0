//! `lmFold` applied: the derivative of a fold, as folds.

use super::block::field;
use super::desugar::{applied, looped, named};
use super::linear::{Elimination, Result, Way};
use crate::ir::{ExprId, Prim, Store, VarId};

/// The arguments of `lmFold`.
pub(super) struct Fold {
    /// The zero of the scope.
    pub(super) zero: ExprId,
    /// (acc, x) -> acc
    pub(super) f: ExprId,
    /// (acc, x) -> the map from (scope, (acc, x)) to acc
    pub(super) g: ExprId,
    pub(super) init: ExprId,
    pub(super) vector: ExprId,
}

/// A lambda in the making: its variable, mentioned.
fn param(store: &mut Store, name: &str, like: &[ExprId]) -> (VarId, ExprId) {
    let types: Vec<_> = like.iter().map(|part| store.ty(*part)).collect();
    let ty = store.types.tuple(&types);
    let var = store.fresh(name, ty);
    (var, store.var(var))
}

/// An element of a vector as an example of its type.
fn element(store: &mut Store, vector: ExprId) -> ExprId {
    let zero = store.integer(0);
    store.prim(Prim::Index, &[zero, vector])
}

impl Elimination<'_> {
    /// Folds over pairs of values and tangents.
    pub(super) fn fold_there(&mut self, fold: &Fold, to: ExprId) -> Result<Option<ExprId>> {
        let store = self.store();
        let ((init, mut bound), (vector, more)) = (named(store, fold.init), named(store, fold.vector));
        bound.extend(more);
        let (scope, inputs) = (field(store, 0, to), field(store, 1, to));
        let (dinit, dvector) = (field(store, 0, inputs), field(store, 1, inputs));
        let size = store.prim(Prim::Size, &[vector]);
        let pairs = looped(store, Prim::Build, size, |store, index| {
            let pair = [vector, dvector].map(|over| store.prim(Prim::Index, &[index, over]));
            store.tuple(&pair)
        });
        let start = store.tuple(&[init, dinit]);
        let pair = element(store, pairs);
        let (step, at) = param(store, "acc_x", &[start, pair]);
        let (state, pair) = (store.get(0, at), store.get(1, at));
        let input = [store.get(0, state), store.get(0, pair)];
        let input = store.tuple(&input);
        let change = [store.get(1, state), store.get(1, pair)];
        let change = store.tuple(&change);
        let change = store.tuple(&[scope, change]);
        let value = applied(store, fold.f, input);
        let map = applied(store, fold.g, input);
        let Some(change) = self.apply(Way::There, map, change)? else { return Ok(None) };
        let store = self.store();
        let both = store.tuple(&[value, change]);
        let lam = store.lam(step, both);
        let folded = store.prim(Prim::Fold, &[lam, start, pairs]);
        let result = store.get(1, folded);
        Ok(Some(store.lets(&bound, result)))
    }

    /// Folds there, keeping each state, and back from the last element to the first.
    pub(super) fn fold_back(&mut self, fold: &Fold, to: ExprId) -> Result<Option<ExprId>> {
        let store = self.store();
        let (vector, mut bound) = named(store, fold.vector);
        let states = states(store, fold, vector);
        let (states, more) = named(store, states);
        bound.extend(more);
        let size = store.prim(Prim::Size, &[vector]);
        let (size, more) = named(store, size);
        bound.extend(more);
        let start = store.tuple(&[to, fold.zero]);
        let zero = store.integer(0);
        let (step, at) = param(store, "dacc_k", &[start, zero]);
        let (state, number) = (store.get(0, at), store.get(1, at));
        let index = from_the_end(store, size, number);
        let input = [states, vector].map(|over| store.prim(Prim::Index, &[index, over]));
        let input = store.tuple(&input);
        let map = applied(store, fold.g, input);
        let cotangent = store.get(0, state);
        let Some(back) = self.apply(Way::Back, map, cotangent)? else { return Ok(None) };
        let store = self.store();
        let (back, binding) = named(store, back);
        let (to_scope, inputs) = (store.get(0, back), store.get(1, back));
        let scope = store.get(1, state);
        let scope = store.prim(Prim::TsAdd, &[scope, to_scope]);
        let (dacc, dx) = (store.get(0, inputs), store.get(1, inputs));
        let next = store.tuple(&[dacc, scope]);
        let both = store.tuple(&[next, dx]);
        let body = store.lets(&binding, both);
        let lam = store.lam(step, body);
        let numbers = self.count(size);
        let store = self.store();
        let done = store.prim(Prim::MapAccum, &[lam, start, numbers]);
        let (done, more) = named(store, done);
        bound.extend(more);
        let (last, backwards) = (store.get(0, done), store.get(1, done));
        let dvector = looped(store, Prim::Build, size, |store, index| {
            let from = from_the_end(store, size, index);
            store.prim(Prim::Index, &[from, backwards])
        });
        let (dinit, scope) = (store.get(0, last), store.get(1, last));
        let inputs = store.tuple(&[dinit, dvector]);
        let result = store.tuple(&[scope, inputs]);
        Ok(Some(store.lets(&bound, result)))
    }
}

/// The state before each step.
fn states(store: &mut Store, fold: &Fold, vector: ExprId) -> ExprId {
    let example = element(store, vector);
    let (step, at) = param(store, "acc_x", &[fold.init, example]);
    let next = applied(store, fold.f, at);
    let state = store.get(0, at);
    let both = store.tuple(&[next, state]);
    let lam = store.lam(step, both);
    let done = store.prim(Prim::MapAccum, &[lam, fold.init, vector]);
    store.get(1, done)
}

fn from_the_end(store: &mut Store, size: ExprId, number: ExprId) -> ExprId {
    let one = store.integer(1);
    let last = store.prim(Prim::Sub, &[size, one]);
    store.prim(Prim::Sub, &[last, number])
}
