//! Primitives in terms of `build`, `sumbuild`, `index`, `$accumulate` and `$addTo`, so that these alone need rules.

use super::block::is_smooth;
use crate::ir::{ExprId, Node, Prim, Store, Type, TypeId, VarId};

/// The primitive, written out, if it is one of those. The result is an expression of the source language.
pub(super) fn desugar(store: &mut Store, prim: Prim, args: &[ExprId]) -> Option<ExprId> {
    Some(match (prim, args) {
        (Prim::Map, &[body, over]) => {
            let (over, bound) = named(store, over);
            let size = store.prim(Prim::Size, &[over]);
            let made = build(store, size, |store, index| {
                let element = store.prim(Prim::Index, &[index, over]);
                applied(store, body, element)
            });
            store.lets(&bound, made)
        }
        (Prim::Map2, &[body, first, second]) => map2(store, body, first, second),
        (Prim::Diag, &[rows, columns, body]) => {
            let (columns, bound) = named(store, columns);
            let made = build(store, rows, |store, index| {
                let element = applied(store, body, index);
                store.prim(Prim::DeltaVec, &[columns, index, element])
            });
            store.lets(&bound, made)
        }
        (Prim::Sum, &[over]) => {
            let (over, bound) = named(store, over);
            let size = store.prim(Prim::Size, &[over]);
            let total = looped(store, Prim::Sumbuild, size, |store, index| store.prim(Prim::Index, &[index, over]));
            store.lets(&bound, total)
        }
        // Rounding is another one then.
        (Prim::Sumbuild4 | Prim::Sumbuild8, _) => store.prim(Prim::Sumbuild, args),
        (Prim::Unzip, &[over]) => unzip(store, over),
        (Prim::BuildFromSparse | Prim::BuildFromSparseTupled, &[size, count, body]) => {
            sparse(store, prim, size, count, body)
        }
        (Prim::Check, &[f, reverse, s, again, ds, dt]) => check(store, (f, reverse), (s, again), ds, dt),
        _ => return None,
    })
}

/// |dt . (f(s+ds) - f(s)) - rev_f(s, dt) . ds|
fn check(
    store: &mut Store,
    (f, reverse): (ExprId, ExprId),
    (s, again): (ExprId, ExprId),
    ds: ExprId,
    dt: ExprId,
) -> ExprId {
    let mut bound = vec![];
    let mut name = |store: &mut Store, value| {
        let (at, binding) = named(store, value);
        bound.extend(binding);
        at
    };
    let [s, again, ds, dt] = [s, again, ds, dt].map(|value| name(store, value));
    let moved = store.prim(Prim::TsAdd, &[s, ds]);
    let moved = name(store, moved);
    let [here, there] = [s, moved].map(|at| {
        let value = applied(store, f, at);
        let value = name(store, value);
        tangent_part(store, value)
    });
    let back = store.prim(Prim::TsNeg, &[here]);
    let change = store.prim(Prim::TsAdd, &[there, back]);
    let expected = store.prim(Prim::TsDot, &[dt, change]);
    let pair = store.tuple(&[again, dt]);
    let gradient = applied(store, reverse, pair);
    let found = store.prim(Prim::TsDot, &[gradient, ds]);
    let difference = store.prim(Prim::Sub, &[expected, found]);
    let size = store.prim(Prim::Abs, &[difference]);
    store.lets(&bound, size)
}

/// A variable for a value, and its binding.
pub(super) fn named(store: &mut Store, value: ExprId) -> (ExprId, Vec<(VarId, ExprId)>) {
    let ty = store.ty(value);
    let var = store.fresh("t", ty);
    (store.var(var), vec![(var, value)])
}

/// A lambda applied.
pub(super) fn applied(store: &mut Store, lam: ExprId, arg: ExprId) -> ExprId {
    let Node::Lam(var, body) = store.node(lam) else { return lam };
    store.let_(var, arg, body)
}

fn build(store: &mut Store, size: ExprId, element: impl FnOnce(&mut Store, ExprId) -> ExprId) -> ExprId {
    looped(store, Prim::Build, size, element)
}

/// A loop over the indices below a size.
pub(super) fn looped(
    store: &mut Store,
    prim: Prim,
    size: ExprId,
    element: impl FnOnce(&mut Store, ExprId) -> ExprId,
) -> ExprId {
    let ty = store.ty(size);
    let index = store.fresh("i", ty);
    let at = store.var(index);
    let element = element(store, at);
    let lam = store.lam(index, element);
    store.prim(prim, &[size, lam])
}

fn map2(store: &mut Store, body: ExprId, first: ExprId, second: ExprId) -> ExprId {
    let ((first, mut bound), (second, more)) = (named(store, first), named(store, second));
    bound.extend(more);
    let (size, other) = (store.prim(Prim::Size, &[first]), store.prim(Prim::Size, &[second]));
    let fits = store.prim(Prim::Eq, &[size, other]);
    let made = build(store, size, |store, index| {
        let pair = [store.prim(Prim::Index, &[index, first]), store.prim(Prim::Index, &[index, second])];
        let pair = store.tuple(&pair);
        applied(store, body, pair)
    });
    let checked = store.assert(fits, made);
    store.lets(&bound, checked)
}

fn unzip(store: &mut Store, over: ExprId) -> ExprId {
    let Type::Tensor(_, element) = store.types.get(store.ty(over)) else { return over };
    let count = store.types.fields(element).map_or(0, <[TypeId]>::len) as u32;
    let (over, bound) = named(store, over);
    let size = store.prim(Prim::Size, &[over]);
    let fields: Vec<ExprId> = (0..count)
        .map(|number| {
            build(store, size, |store, index| {
                let element = store.prim(Prim::Index, &[index, over]);
                store.get(number, element)
            })
        })
        .collect();
    let fields = store.tuple(&fields);
    store.lets(&bound, fields)
}

/// Zeros, which a sum over nothing gives in the right shape, and what is added to them.
fn sparse(store: &mut Store, prim: Prim, size: ExprId, count: ExprId, body: ExprId) -> ExprId {
    let result = store.prim(prim, &[size, count, body]);
    let ty = store.ty(result);
    let zeros = if prim == Prim::BuildFromSparse {
        zeros(store, ty, size)
    } else {
        let types = store.types.fields(ty).map(<[TypeId]>::to_vec).unwrap_or_default();
        let parts: Vec<ExprId> = (0..)
            .zip(types)
            .map(|(number, ty)| {
                let size = super::block::field(store, number, size);
                zeros(store, ty, size)
            })
            .collect();
        store.tuple(&parts)
    };
    let (zeros, start) = named(store, zeros);
    let total = store.fresh("total", ty);
    let place = store.var(total);
    let added = looped(store, Prim::Sumbuild, count, |store, index| {
        let (parts, bound) = {
            let value = applied(store, body, index);
            named(store, value)
        };
        let all = if prim == Prim::BuildFromSparse {
            add_at(store, place, zeros, parts)
        } else {
            let count = store.types.fields(ty).map_or(0, <[TypeId]>::len) as u32;
            let steps: Vec<ExprId> = (0..count)
                .map(|number| {
                    let (place, like) = (store.get(number, place), store.get(number, zeros));
                    let pair = store.get(number, parts);
                    add_at(store, place, like, pair)
                })
                .collect();
            let steps = store.tuple(&steps);
            let (_, done) = named(store, steps);
            let unit = store.tuple(&[]);
            store.lets(&done, unit)
        };
        store.lets(&bound, all)
    });
    let lam = store.lam(total, added);
    let both = store.prim(Prim::Accumulate, &[zeros, lam]);
    let total = store.get(0, both);
    store.lets(&start, total)
}

/// The zero of a type, given its size or the value with `()` for each scalar.
fn zeros(store: &mut Store, ty: TypeId, shape: ExprId) -> ExprId {
    match store.types.get(ty) {
        Type::Float => store.float(0.0),
        Type::Integer => store.integer(0),
        Type::Tuple(fields) => {
            let types = store.types.list(fields).to_vec();
            let parts: Vec<ExprId> = (0..)
                .zip(types)
                .map(|(number, ty)| {
                    // Below a size there are only scalars and tuples of them, which look at no shape.
                    let has_parts =
                        store.types.fields(store.ty(shape)).is_some_and(|parts| parts.len() > number as usize);
                    let part = if has_parts { super::block::field(store, number, shape) } else { shape };
                    zeros(store, ty, part)
                })
                .collect();
            store.tuple(&parts)
        }
        Type::Tensor(_, element) => {
            let is_skeleton = matches!(store.types.get(store.ty(shape)), Type::Tensor(..));
            let size = if is_skeleton { store.prim(Prim::Size, &[shape]) } else { shape };
            build(store, size, |store, index| {
                let part = if is_skeleton { store.prim(Prim::Index, &[index, shape]) } else { shape };
                zeros(store, element, part)
            })
        }
        // A sum type is its own shape.
        _ => {
            let nothing = store.float(0.0);
            store.prim(Prim::TsScale, &[nothing, shape])
        }
    }
}

/// Adds the second of a pair at the first, which may be out of range, of a tensor with the size of `like`.
fn add_at(store: &mut Store, place: ExprId, like: ExprId, pair: ExprId) -> ExprId {
    let (index, value) = (store.get(0, pair), store.get(1, pair));
    let size = store.prim(Prim::Size, &[like]);
    let inside = in_range(store, index, size);
    let part = store.prim(Prim::Index, &[index, place]);
    let (add, skip) = (store.prim(Prim::AddTo, &[part, value]), store.tuple(&[]));
    store.if_(inside, add, skip)
}

/// Whether a tensor of this size has this index.
pub(super) fn in_range(store: &mut Store, index: ExprId, size: ExprId) -> ExprId {
    let Some(rank) = store.types.fields(store.ty(index)).map(<[TypeId]>::len) else {
        let zero = store.integer(0);
        let (above, below) = (store.prim(Prim::Gte, &[index, zero]), store.prim(Prim::Lt, &[index, size]));
        return store.prim(Prim::And, &[above, below]);
    };
    let mut inside = store.bool(true);
    for number in 0..rank as u32 {
        let (index, size) = (store.get(number, index), store.get(number, size));
        let part = in_range(store, index, size);
        inside = store.prim(Prim::And, &[inside, part]);
    }
    inside
}

/// A value as a tangent, where its type is its own tangent type or made of tuples and tensors.
pub(super) fn tangent_part(store: &mut Store, value: ExprId) -> ExprId {
    let ty = store.ty(value);
    if store.types.tangent(ty) == ty {
        return value;
    }
    match store.types.get(ty) {
        Type::Tuple(fields) => {
            let count = store.types.list(fields).len() as u32;
            let fields: Vec<ExprId> = (0..count)
                .map(|number| {
                    let part = super::block::field(store, number, value);
                    tangent_part(store, part)
                })
                .collect();
            store.tuple(&fields)
        }
        Type::Tensor(_, element) if is_smooth(store, element) => {
            let size = store.prim(Prim::Size, &[value]);
            build(store, size, |store, index| {
                let element = store.prim(Prim::Index, &[index, value]);
                tangent_part(store, element)
            })
        }
        _ => store.prim(Prim::Zero, &[value]),
    }
}
