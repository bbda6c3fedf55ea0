//! Natural gradients: the gradient by the metric of each parameter that is declared to be of a space, and steps along tangents.

use super::{Result, require};
use crate::ir::{Derivation, ExprId, FunId, Prim, Program, Space, Spaced, Store, TypeId, VarId};
use crate::source::Span;

/// What is done to a part: its space, the part of the argument, and that of the gradient or the tangent.
struct ByParts {
    of_space: fn(&Space) -> FunId,
    elsewhere: fn(&mut Store, ExprId, ExprId) -> ExprId,
}

/// `[nat f]`: `[rev f]`, by the metric of the spaces of the argument.
pub(super) fn gradient(program: &mut Program, of: FunId, span: Span) -> Result<(VarId, ExprId)> {
    let rev = require(program, Derivation::Rev, of, span)?;
    let arg = program.store.signature(rev).map_or(TypeId::UNIT, |(arg, _)| arg);
    let spaced = program.spaced(of).clone();
    let store = &mut program.store;
    let param = store.fresh("x_dt", arg);
    let whole = store.var(param);
    let (at, gradient) = (store.get(0, whole), store.call(rev, whole));
    let parts = ByParts { of_space: |space| space.sharp, elsewhere: |_, _, gradient| gradient };
    Ok((param, parts.apply(store, &spaced, at, gradient)))
}

/// `[retract f]`: the argument of f, moved by a tangent.
pub(super) fn movement(program: &mut Program, of: FunId) -> (VarId, ExprId) {
    let arg = program.store.signature(of).map_or(TypeId::UNIT, |(arg, _)| arg);
    let spaced = program.spaced(of).clone();
    let store = &mut program.store;
    let tangent = store.types.tangent(arg);
    let both = store.types.tuple(&[arg, tangent]);
    let param = store.fresh("x_dx", both);
    let whole = store.var(param);
    let (at, by) = (store.get(0, whole), store.get(1, whole));
    let parts = ByParts { of_space: |space| space.retract, elsewhere: moved };
    (param, parts.apply(store, &spaced, at, by))
}

/// A value of no space, moved; what has no Floats stays.
fn moved(store: &mut Store, at: ExprId, by: ExprId) -> ExprId {
    store.try_prim(Prim::TsAdd, &[at, by]).unwrap_or(at)
}

impl ByParts {
    fn apply(&self, store: &mut Store, spaced: &Spaced, at: ExprId, by: ExprId) -> ExprId {
        match spaced {
            Spaced::Flat => (self.elsewhere)(store, at, by),
            Spaced::Space(space) => {
                let arg = store.tuple(&[at, by]);
                store.call((self.of_space)(space), arg)
            }
            Spaced::Tuple(fields) => self.with_vars(store, at, by, |parts, store, at, by| {
                let made: Vec<ExprId> = (0..)
                    .zip(fields)
                    .map(|(field, spaced)| {
                        let (at, by) = (store.get(field, at), store.get(field, by));
                        parts.apply(store, spaced, at, by)
                    })
                    .collect();
                store.tuple(&made)
            }),
            Spaced::Tensor(rank, element) => self.with_vars(store, at, by, |parts, store, at, by| {
                let index = store.types.index(*rank);
                let counter = store.fresh("i", index);
                let place = store.var(counter);
                let (x, dx) = (store.prim(Prim::Index, &[place, at]), store.prim(Prim::Index, &[place, by]));
                let made = parts.apply(store, element, x, dx);
                let (size, lam) = (store.prim(Prim::Size, &[at]), store.lam(counter, made));
                store.prim(Prim::Build, &[size, lam])
            }),
        }
    }

    /// Binds the argument and what comes with it, since their parts are taken one by one.
    fn with_vars(
        &self,
        store: &mut Store,
        at: ExprId,
        by: ExprId,
        made: impl FnOnce(&Self, &mut Store, ExprId, ExprId) -> ExprId,
    ) -> ExprId {
        let (x, dx) = (store.fresh("x", store.ty(at)), store.fresh("dx", store.ty(by)));
        let (x_var, dx_var) = (store.var(x), store.var(dx));
        let body = made(self, store, x_var, dx_var);
        store.lets(&[(x, at), (dx, by)], body)
    }
}
