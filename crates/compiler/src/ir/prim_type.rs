//! The typing rules of the primitives.

use super::prim::Prim;
use super::types::{Type, TypeId, Types};

/// The type of a primitive applied to arguments of these types, or None if it does not take them.
pub fn result(types: &mut Types, prim: Prim, args: &[TypeId]) -> Option<TypeId> {
    match prim {
        Prim::Neg | Prim::Add | Prim::Sub | Prim::Mul | Prim::Div => numbers(prim, args),
        Prim::Gt | Prim::Lt | Prim::Gte | Prim::Lte => numbers(prim, args).map(|_| TypeId::BOOL),
        Prim::Pow => (args[0] == TypeId::FLOAT && is_number(args[1])).then_some(TypeId::FLOAT),
        Prim::And | Prim::Or => exactly(args, &[TypeId::BOOL, TypeId::BOOL], TypeId::BOOL),
        Prim::ToFloat | Prim::Ranhashdoub => exactly(args, &[TypeId::INTEGER], TypeId::FLOAT),
        Prim::Polygamma => exactly(args, &[TypeId::INTEGER, TypeId::FLOAT], TypeId::FLOAT),
        _ if prim.is_function() => exactly(args, &[TypeId::FLOAT], TypeId::FLOAT),
        _ if prim >= Prim::LmApply => linear_map(types, prim, args),
        _ => tensor(types, prim, args),
    }
}

fn exactly(args: &[TypeId], expected: &[TypeId], result: TypeId) -> Option<TypeId> {
    (args == expected).then_some(result)
}

fn is_number(ty: TypeId) -> bool {
    ty == TypeId::FLOAT || ty == TypeId::INTEGER
}

fn numbers(prim: Prim, args: &[TypeId]) -> Option<TypeId> {
    let arity = if prim == Prim::Neg { 1 } else { 2 };
    let first = *args.first()?;
    (args.len() == arity && is_number(first) && args.iter().all(|arg| *arg == first)).then_some(first)
}

fn all_equal(args: &[TypeId]) -> Option<TypeId> {
    let first = *args.first()?;
    args.iter().all(|arg| *arg == first).then_some(first)
}

fn lam(types: &Types, ty: TypeId) -> Option<(TypeId, TypeId)> {
    match types.get(ty) {
        Type::Lam(from, to) => Some((from, to)),
        _ => None,
    }
}

fn tensor_of(types: &Types, ty: TypeId) -> Option<(u32, TypeId)> {
    match types.get(ty) {
        Type::Tensor(rank, element) => Some((rank, element)),
        _ => None,
    }
}

/// The element type and rank of a loop over indices below `size`.
fn over_indices(types: &Types, size: TypeId, body: TypeId) -> Option<(u32, TypeId)> {
    let (index, element) = lam(types, body)?;
    Some((types.rank_of_index(size).filter(|_| index == size)?, element))
}

fn tensor(types: &mut Types, prim: Prim, args: &[TypeId]) -> Option<TypeId> {
    match (prim, args) {
        (Prim::Build, &[size, body]) => {
            let (rank, element) = over_indices(types, size, body)?;
            Some(types.tensor(rank, element))
        }
        (Prim::Sumbuild, &[size, body]) => {
            over_indices(types, size, body).map(|(_, element)| element).filter(|ty| types.is_additive(*ty))
        }
        (Prim::Sumbuild4 | Prim::Sumbuild8, &[TypeId::INTEGER, body]) => {
            over_indices(types, TypeId::INTEGER, body).map(|(_, element)| element).filter(|ty| *ty == TypeId::FLOAT)
        }
        (Prim::Fold, &[body, init, vector]) => {
            let ((from, to), (rank, element)) = (lam(types, body)?, tensor_of(types, vector)?);
            (rank == 1 && to == init && from == types.tuple(&[init, element])).then_some(init)
        }
        (Prim::Map, &[body, over]) => {
            let ((from, to), (rank, element)) = (lam(types, body)?, tensor_of(types, over)?);
            (from == element).then(|| types.tensor(rank, to))
        }
        (Prim::Map2, &[body, first, second]) => {
            let ((from, to), (rank, a), (other, b)) =
                (lam(types, body)?, tensor_of(types, first)?, tensor_of(types, second)?);
            (rank == other && from == types.tuple(&[a, b])).then(|| types.tensor(rank, to))
        }
        (Prim::Index, &[index, over]) => {
            let (rank, element) = tensor_of(types, over)?;
            (types.rank_of_index(index) == Some(rank)).then_some(element)
        }
        (Prim::Size, &[over]) => tensor_of(types, over).map(|(rank, _)| types.index(rank)),
        (Prim::Sum, &[over]) => tensor_of(types, over).map(|(_, element)| element).filter(|ty| types.is_additive(*ty)),
        (Prim::Unzip, &[over]) => unzip(types, over),
        (Prim::Delta, &[i, j, element]) => (i == j && types.rank_of_index(i).is_some()).then_some(element),
        (Prim::DeltaVec, &[size, index, element]) => {
            let rank = types.rank_of_index(size).filter(|_| size == index)?;
            Some(types.tensor(rank, element))
        }
        (Prim::ConstVec, &[size, element]) => types.rank_of_index(size).map(|rank| types.tensor(rank, element)),
        (Prim::Diag, &[TypeId::INTEGER, TypeId::INTEGER, body]) => {
            let (index, element) = lam(types, body)?;
            let row = types.vec(element);
            (index == TypeId::INTEGER).then(|| types.vec(row))
        }
        (Prim::VecInit, _) => all_equal(args).map(|element| types.vec(element)),
        (Prim::BuildFromSparse, &[size, count, body]) => {
            let (_, pair) = over_indices(types, count, body)?;
            from_sparse(types, size, pair)
        }
        (Prim::BuildFromSparseTupled, &[sizes, count, body]) => from_sparse_tupled(types, sizes, count, body),
        _ => any(types, prim, args),
    }
}

fn unzip(types: &mut Types, over: TypeId) -> Option<TypeId> {
    let (rank, element) = tensor_of(types, over)?;
    let fields = types.fields(element)?.to_vec();
    let parts: Vec<TypeId> = fields.iter().map(|field| types.tensor(rank, *field)).collect();
    Some(types.tuple(&parts))
}

/// `size` is a size, where the zero of an element needs no example, or the result with `(Tuple)` for every scalar.
fn from_sparse(types: &mut Types, size: TypeId, pair: TypeId) -> Option<TypeId> {
    let &[index, element] = types.fields(pair)? else { return None };
    let rank = types.rank_of_index(index)?;
    let result = types.tensor(rank, element);
    if !types.is_additive(element) {
        return None;
    }
    let is_size = size == index && types.has_trivial_shape(element);
    (is_size || size == types.skeleton(result)).then_some(result)
}

fn from_sparse_tupled(types: &mut Types, sizes: TypeId, count: TypeId, body: TypeId) -> Option<TypeId> {
    let (_, pairs) = over_indices(types, count, body)?;
    let (sizes, pairs) = (types.fields(sizes)?.to_vec(), types.fields(pairs)?.to_vec());
    if sizes.len() != pairs.len() {
        return None;
    }
    let parts: Option<Vec<TypeId>> =
        sizes.iter().zip(&pairs).map(|(size, pair)| from_sparse(types, *size, *pair)).collect();
    parts.map(|parts| types.tuple(&parts))
}

fn any(types: &mut Types, prim: Prim, args: &[TypeId]) -> Option<TypeId> {
    match (prim, args) {
        (Prim::Shape, &[x]) => Some(types.shape(x)),
        (Prim::Zero, &[x]) => Some(types.tangent(x)),
        (Prim::TsNeg | Prim::Trace | Prim::Inline | Prim::Copydown, &[x]) => Some(x),
        (Prim::TsAdd, &[x, dx]) => (types.tangent(x) == dx).then_some(x),
        (Prim::TsScale, &[TypeId::FLOAT, x]) => Some(x),
        (Prim::TsDot, &[x, y]) => (x == y).then_some(TypeId::FLOAT),
        (Prim::Accumulate, &[zero, body]) => {
            let (from, to) = lam(types, body)?;
            (from == zero && types.is_additive(zero)).then(|| types.tuple(&[zero, to]))
        }
        (Prim::AddTo, &[place, x]) => (place == x).then_some(TypeId::UNIT),
        (Prim::MapAccum, &[body, init, vector]) => map_accum(types, body, init, vector),
        (Prim::Eq | Prim::Ne, &[x, y]) => (x == y).then_some(TypeId::BOOL),
        (Prim::Print, _) => Some(TypeId::INTEGER),
        (Prim::Check, &[f, reverse, s, again, ds, dt]) => {
            let ((from, to), (reverse_from, reverse_to)) = (lam(types, f)?, lam(types, reverse)?);
            let (tangent, cotangent) = (types.tangent(s), types.tangent(to));
            let fits = from == s && again == s && ds == tangent && dt == cotangent && reverse_to == tangent;
            (fits && reverse_from == types.tuple(&[s, dt])).then_some(TypeId::FLOAT)
        }
        _ => None,
    }
}

fn map_accum(types: &mut Types, body: TypeId, init: TypeId, vector: TypeId) -> Option<TypeId> {
    let ((from, to), (1, element)) = (lam(types, body)?, tensor_of(types, vector)?) else { return None };
    let &[state, made] = types.fields(to)? else { return None };
    let fits = state == init && from == types.tuple(&[init, element]);
    let all = types.vec(made);
    fits.then(|| types.tuple(&[init, all]))
}

fn map_of(types: &Types, ty: TypeId) -> Option<(TypeId, TypeId)> {
    match types.get(ty) {
        Type::LinearMap(from, to) => Some((from, to)),
        _ => None,
    }
}

fn linear_map(types: &mut Types, prim: Prim, args: &[TypeId]) -> Option<TypeId> {
    match (prim, args) {
        (Prim::LmApply, &[map, ds]) => {
            let (from, to) = map_of(types, map)?;
            (types.tangent(from) == ds).then(|| types.tangent(to))
        }
        (Prim::LmApplyR, &[dt, map]) => {
            let (from, to) = map_of(types, map)?;
            (types.tangent(to) == dt).then(|| types.tangent(from))
        }
        (Prim::LmVCat, _) => {
            let (from, to) = unzip_maps(types, args)?;
            let (from, to) = (all_equal(&from)?, types.tuple(&to));
            Some(types.linear_map(from, to))
        }
        (Prim::LmHCat, _) => {
            let (from, to) = unzip_maps(types, args)?;
            let (from, to) = (types.tuple(&from), all_equal(&to)?);
            Some(types.linear_map(from, to))
        }
        (Prim::LmVCatV, &[over]) => {
            let (rank, element) = tensor_of(types, over)?;
            let (from, to) = map_of(types, element)?;
            let to = types.tensor(rank, to);
            Some(types.linear_map(from, to))
        }
        (Prim::LmHCatV, &[over]) => {
            let (rank, element) = tensor_of(types, over)?;
            let (from, to) = map_of(types, element)?;
            let from = types.tensor(rank, from);
            Some(types.linear_map(from, to))
        }
        (Prim::LmCompose, &[outer, inner]) => {
            let ((b, c), (a, same)) = (map_of(types, outer)?, map_of(types, inner)?);
            (b == same).then(|| types.linear_map(a, c))
        }
        (Prim::LmAdd, &[a, b]) => map_of(types, a).filter(|_| a == b).map(|_| a),
        (Prim::LmScale, &[x, TypeId::FLOAT]) | (Prim::LmOne, &[x]) => Some(types.linear_map(x, x)),
        (Prim::LmScaleR, &[x]) => Some(types.linear_map(TypeId::FLOAT, x)),
        (Prim::LmDot, &[x]) => Some(types.linear_map(x, TypeId::FLOAT)),
        (Prim::LmZero, &[x, y]) => Some(types.linear_map(x, y)),
        (Prim::LmVariant, &[map]) => map_of(types, map).map(|_| map),
        (Prim::LmFold, &[zero, f, g, init, vector]) => lm_fold(types, zero, (f, g), init, vector),
        _ => None,
    }
}

fn unzip_maps(types: &Types, maps: &[TypeId]) -> Option<(Vec<TypeId>, Vec<TypeId>)> {
    maps.iter().map(|map| map_of(types, *map)).collect()
}

fn lm_fold(types: &mut Types, zero: TypeId, (f, g): (TypeId, TypeId), init: TypeId, vector: TypeId) -> Option<TypeId> {
    let ((from, to), (again, map)) = (lam(types, f)?, lam(types, g)?);
    let (scope_and_step, result) = map_of(types, map)?;
    let &[scope, step] = types.fields(scope_and_step)? else { return None };
    let (1, element) = tensor_of(types, vector)? else { return None };
    let expected = types.tuple(&[init, element]);
    let fits = from == expected && again == expected && step == expected && to == init && result == init;
    if !fits || types.tangent(scope) != zero {
        return None;
    }
    let inputs = types.tuple(&[init, vector]);
    let source = types.tuple(&[scope, inputs]);
    Some(types.linear_map(source, init))
}
