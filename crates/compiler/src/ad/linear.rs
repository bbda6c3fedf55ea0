//! `(lmApply m ds)` without the linear map, where m is put together from primitives, derivatives and bindings: `(lmApply (lmCompose m n) ds)`
//! is `(lmApply m (lmApply n ds))`, `(lmApply ([D f] x) ds)` is `([fwd f] x ds)`. What is left has derivatives of its own.

use super::block::{field, is_atom};
use super::desugar::{applied, looped, named, tangent_part};
use super::{calls::calls, purity, require};
use crate::error::Error;
use crate::ir::{Derivation, ExprId, FunId, FunName, Node, Prim, Program, Store, Type, TypeId, VarId};
use crate::source::Span;
use crate::stack;
use rustc_hash::FxHashMap;

pub(super) type Result<T> = std::result::Result<T, Error>;

/// Which way a map is applied.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// `lmApply`
    There,
    /// `lmApplyR`
    Back,
}

/// An expression with as few linear maps as possible.
pub(super) fn eliminate(program: &mut Program, body: ExprId, span: Span) -> Result<ExprId> {
    let store = &program.store;
    let applies = |part: &ExprId| match store.node(*part) {
        Node::Prim(Prim::LmApply | Prim::LmApplyR, _) => true,
        Node::Call(_, arg) => has_maps(store, store.ty(arg)),
        _ => false,
    };
    if !store.post_order(body).iter().any(applies) {
        return Ok(body);
    }
    Elimination { program, span, maps: FxHashMap::default(), done: FxHashMap::default() }.expr(body)
}

pub(super) struct Elimination<'a> {
    pub(super) program: &'a mut Program,
    span: Span,
    /// What variables stand for that hold linear maps.
    maps: FxHashMap<VarId, ExprId>,
    done: FxHashMap<ExprId, ExprId>,
}

impl Elimination<'_> {
    pub(super) fn store(&mut self) -> &mut Store {
        &mut self.program.store
    }

    fn expr(&mut self, expr: ExprId) -> Result<ExprId> {
        if let Some(done) = self.done.get(&expr) {
            return Ok(*done);
        }
        let made = stack::grow(|| self.expr_here(expr))?;
        self.done.insert(expr, made);
        Ok(made)
    }

    fn expr_here(&mut self, expr: ExprId) -> Result<ExprId> {
        match self.program.store.node(expr) {
            Node::Let(var, value, body) if has_maps(&self.program.store, self.program.store.ty(value)) => {
                self.binding(var, value, body)
            }
            Node::Prim(prim @ (Prim::LmApply | Prim::LmApplyR), args) => {
                let &[first, second] = self.program.store.list(args) else { return Ok(expr) };
                let (first, second) = (self.expr(first)?, self.expr(second)?);
                let (way, map, at) =
                    if prim == Prim::LmApply { (Way::There, first, second) } else { (Way::Back, second, first) };
                match self.apply(way, map, at)? {
                    Some(made) => Ok(made),
                    None => self.rebuilt(expr, vec![first, second]),
                }
            }
            Node::Get(number, tuple) => {
                let tuple = self.expr(tuple)?;
                let known = self.resolved(tuple);
                match (number, self.derivative_of(Derivation::Dt, known)) {
                    // The map may not be needed.
                    (0, Some((of, at))) => Ok(self.store().call(of, at)),
                    _ if self.has_atom(known, number) => Ok(field(self.store(), number, known)),
                    _ => self.rebuilt(expr, vec![tuple]),
                }
            }
            Node::Call(fun, arg) if has_maps(&self.program.store, self.program.store.ty(arg)) => {
                match self.inlined(fun, arg) {
                    Some(inlined) => self.expr(inlined),
                    None => {
                        let arg = self.expr(arg)?;
                        self.rebuilt(expr, vec![arg])
                    }
                }
            }
            _ => {
                let parts = self.program.store.children(expr);
                let parts = parts.into_iter().map(|part| self.expr(part)).collect::<Result<_>>()?;
                self.rebuilt(expr, parts)
            }
        }
    }

    fn rebuilt(&mut self, expr: ExprId, parts: Vec<ExprId>) -> Result<ExprId> {
        let mut parts = parts.into_iter();
        Ok(self.store().map_children(expr, |_, part| parts.next().unwrap_or(part)))
    }

    /// A binding of maps: it stays only where the maps are needed as values.
    fn binding(&mut self, var: VarId, value: ExprId, body: ExprId) -> Result<ExprId> {
        let value = self.expr(value)?;
        if purity::Parts::default().acts(self.program, value) {
            let body = self.expr(body)?;
            return Ok(self.store().let_(var, value, body));
        }
        let (mut value, mut bound) = (self.written_out(value)?, vec![]);
        while let Node::Let(var, first, rest) = self.program.store.node(value) {
            self.maps.insert(var, first);
            bound.push((var, first));
            value = rest;
        }
        let value = self.with_named_parts(value, &mut bound);
        self.maps.insert(var, value);
        let mut body = self.expr(body)?;
        if self.program.store.mentions(body, var) {
            body = self.store().let_(var, value, body);
        }
        Ok(self.store().lets(&bound, body))
    }

    /// The value of a binding of maps, with binders of its own; a call that is no derivative is written out.
    fn written_out(&mut self, value: ExprId) -> Result<ExprId> {
        if let Node::Call(fun, arg) = self.program.store.node(value)
            && !is_derivative(self, value)
            && let Some(inlined) = self.inlined(fun, arg)
        {
            return self.expr(inlined);
        }
        Ok(if let Node::Let(..) = self.program.store.node(value) { self.store().refresh(value) } else { value })
    }

    /// An expression of maps with names for what is no map, which is computed once however often the maps are applied.
    fn with_named_parts(&mut self, expr: ExprId, bound: &mut Vec<(VarId, ExprId)>) -> ExprId {
        let store = &self.program.store;
        let is_map = match store.node(expr) {
            Node::Tuple(_) => true,
            Node::Prim(prim, _) => prim >= Prim::LmApply || prim == Prim::Build,
            Node::Call(..) => is_derivative(self, expr),
            _ => false,
        };
        if !is_map {
            return expr;
        }
        let parts = store.children(expr).into_iter().map(|part| {
            let store = &self.program.store;
            if is_atom(store, part) || matches!(store.node(part), Node::Lam(..)) {
                part
            } else if has_maps(store, store.ty(part)) {
                self.with_named_parts(part, bound)
            } else {
                let (at, binding) = named(self.store(), part);
                bound.extend(binding);
                at
            }
        });
        let parts: Vec<ExprId> = parts.collect();
        let mut parts = parts.into_iter();
        self.store().map_children(expr, |_, part| parts.next().unwrap_or(part))
    }

    fn has_atom(&self, tuple: ExprId, number: u32) -> bool {
        let store = &self.program.store;
        matches!(store.node(tuple), Node::Tuple(fields) if is_atom(store, store.list(fields)[number as usize]))
    }

    /// What a variable of maps stands for.
    fn resolved(&self, mut expr: ExprId) -> ExprId {
        while let Node::Var(var) = self.program.store.node(expr)
            && let Some(known) = self.maps.get(&var)
        {
            expr = *known;
        }
        expr
    }

    /// The function and the argument of a call of a derivation.
    fn derivative_of(&self, derivation: Derivation, expr: ExprId) -> Option<(FunId, ExprId)> {
        let Node::Call(fun, at) = self.program.store.node(expr) else { return None };
        match self.program.store.fun(fun) {
            FunName::Derived(found, of) if found == derivation && self.program.own_def(fun).is_none() => Some((of, at)),
            _ => None,
        }
    }

    /// A map applied to what need not be an atom; None if the map is not known.
    pub(super) fn apply(&mut self, way: Way, map: ExprId, to: ExprId) -> Result<Option<ExprId>> {
        if is_atom(&self.program.store, to) {
            return self.apply_to_atom(way, map, to);
        }
        let (at, bound) = named(self.store(), to);
        let made = self.apply_to_atom(way, map, at)?;
        Ok(made.map(|made| self.store().lets(&bound, made)))
    }

    fn apply_to_atom(&mut self, way: Way, map: ExprId, to: ExprId) -> Result<Option<ExprId>> {
        stack::grow(|| self.apply_here(way, map, to))
    }

    fn apply_here(&mut self, way: Way, map: ExprId, to: ExprId) -> Result<Option<ExprId>> {
        match self.program.store.node(map) {
            Node::Var(var) => match self.maps.get(&var).copied() {
                Some(known) => self.apply_to_atom(way, known, to),
                None => Ok(None),
            },
            Node::Let(var, value, body) if has_maps(&self.program.store, self.program.store.ty(value)) => {
                self.maps.insert(var, value);
                self.apply_to_atom(way, body, to)
            }
            Node::Let(var, value, body) => {
                let made = self.apply_to_atom(way, body, to)?;
                Ok(made.map(|made| self.store().let_(var, value, made)))
            }
            Node::Assert(condition, body) => {
                let made = self.apply_to_atom(way, body, to)?;
                Ok(made.map(|made| self.store().assert(condition, made)))
            }
            Node::If(condition, then, otherwise) => {
                let arms = self.apply_to_atom(way, then, to)?.zip(self.apply_to_atom(way, otherwise, to)?);
                Ok(arms.map(|(then, otherwise)| self.store().if_(condition, then, otherwise)))
            }
            Node::Get(number, tuple) => self.apply_field(way, number, tuple, to),
            Node::Prim(prim, args) => {
                let args = self.program.store.list(args).to_vec();
                self.apply_prim(way, prim, &args, to)
            }
            Node::Call(fun, arg) => self.apply_call(way, map, (fun, arg), to),
            _ => Ok(None),
        }
    }

    fn apply_field(&mut self, way: Way, number: u32, tuple: ExprId, to: ExprId) -> Result<Option<ExprId>> {
        let tuple = self.resolved(tuple);
        if let Some((of, at)) = self.derivative_of(Derivation::Dt, tuple) {
            return self.apply_derivative(way, of, at, to).map(Some);
        }
        let part = match self.program.store.node(tuple) {
            Node::Tuple(fields) => self.program.store.list(fields)[number as usize],
            Node::Let(var, value, body) => {
                let part = self.store().get(number, body);
                self.store().let_(var, value, part)
            }
            Node::If(condition, then, otherwise) => {
                let (then, otherwise) = (self.store().get(number, then), self.store().get(number, otherwise));
                self.store().if_(condition, then, otherwise)
            }
            _ => return Ok(None),
        };
        self.apply_to_atom(way, part, to)
    }

    /// A derivative, or a function that gives a map: its body.
    fn apply_call(
        &mut self,
        way: Way,
        call: ExprId,
        (fun, arg): (FunId, ExprId),
        to: ExprId,
    ) -> Result<Option<ExprId>> {
        if let Some((of, at)) = self.derivative_of(Derivation::D, call) {
            return self.apply_derivative(way, of, at, to).map(Some);
        }
        let Some(inlined) = self.inlined(fun, arg) else { return Ok(None) };
        let inlined = self.expr(inlined)?;
        self.apply_to_atom(way, inlined, to)
    }

    /// A call written out, with binders of its own, unless the function calls itself.
    fn inlined(&mut self, fun: FunId, arg: ExprId) -> Option<ExprId> {
        let (param, body) = self.program.lambda(fun)?;
        if calls(self.program, body, fun) {
            return None;
        }
        let fresh = self.store().fresh_like(param);
        let at = self.store().var(fresh);
        let body = self.store().refresh(body);
        let body = self.store().substitute(body, param, at);
        Some(self.store().let_(fresh, arg, body))
    }

    fn apply_derivative(&mut self, way: Way, of: FunId, at: ExprId, to: ExprId) -> Result<ExprId> {
        let derivation = if way == Way::There { Derivation::Fwd } else { Derivation::Rev };
        let derived = require(self.program, derivation, of, self.span)?;
        let both = self.store().tuple(&[at, to]);
        Ok(self.store().call(derived, both))
    }

    fn apply_prim(&mut self, way: Way, prim: Prim, args: &[ExprId], to: ExprId) -> Result<Option<ExprId>> {
        let is_there = way == Way::There;
        Ok(Some(match (prim, args) {
            (Prim::LmOne, _) => to,
            (Prim::LmZero, &[from, into]) => self.store().prim(Prim::Zero, &[if is_there { into } else { from }]),
            (Prim::LmScale, &[_, factor]) => self.store().prim(Prim::TsScale, &[factor, to]),
            (Prim::LmScaleR | Prim::LmDot, &[tangent]) => {
                self.by_tangent((prim == Prim::LmScaleR) == is_there, tangent, to)
            }
            (Prim::LmVariant | Prim::Inline | Prim::Copydown, &[map]) => return self.apply_to_atom(way, map, to),
            (Prim::LmCompose, &[outer, inner]) => {
                let (first, last) = if is_there { (inner, outer) } else { (outer, inner) };
                let Some(between) = self.apply_to_atom(way, first, to)? else { return Ok(None) };
                return self.apply(way, last, between);
            }
            (Prim::LmAdd, &[a, b]) => {
                let (Some(a), Some(b)) = (self.apply_to_atom(way, a, to)?, self.apply_to_atom(way, b, to)?) else {
                    return Ok(None);
                };
                super::block::sum(self.store(), a, b)
            }
            (Prim::LmVCat | Prim::LmHCat, _) => {
                return self.apply_fields(way, (prim == Prim::LmVCat) == is_there, args, to);
            }
            (Prim::LmVCatV | Prim::LmHCatV, &[maps]) => {
                return self.apply_elements(way, (prim == Prim::LmVCatV) == is_there, maps, to);
            }
            (Prim::LmFold, &[zero, f, g, init, vector]) => {
                let fold = super::linear_fold::Fold { zero, f, g, init, vector };
                return if is_there { self.fold_there(&fold, to) } else { self.fold_back(&fold, to) };
            }
            (Prim::Index, &[index, maps]) => {
                let maps = self.resolved(maps);
                let Node::Prim(Prim::Build, build) = self.program.store.node(maps) else { return Ok(None) };
                let lam = self.program.store.list(build)[1];
                let lam = self.store().refresh(lam);
                let element = applied(self.store(), lam, index);
                return self.apply_to_atom(way, element, to);
            }
            _ => return Ok(None),
        }))
    }

    /// A multiple of a tangent, or the inner product with it.
    fn by_tangent(&mut self, is_multiple: bool, tangent: ExprId, to: ExprId) -> ExprId {
        let store = self.store();
        let (at, bound) = if is_atom(store, tangent) { (tangent, vec![]) } else { named(store, tangent) };
        let plain = tangent_part(store, at);
        let made =
            if is_multiple { store.prim(Prim::TsScale, &[to, plain]) } else { store.prim(Prim::TsDot, &[plain, to]) };
        store.lets(&bound, made)
    }

    /// `lmVCat` and `lmHCat`: each map of the whole makes a field, or each map of its field makes a part of a sum.
    fn apply_fields(&mut self, way: Way, is_tuple: bool, maps: &[ExprId], to: ExprId) -> Result<Option<ExprId>> {
        let mut made = vec![];
        for (number, map) in (0..).zip(maps) {
            let part = if is_tuple { to } else { field(self.store(), number, to) };
            let Some(part) = self.apply(way, *map, part)? else { return Ok(None) };
            made.push(part);
        }
        if is_tuple {
            return Ok(Some(self.store().tuple(&made)));
        }
        Ok(made.into_iter().reduce(|total, part| super::block::sum(self.store(), total, part)))
    }

    /// `lmVCatV` and `lmHCatV` of a `build`: the same with the elements of a tensor.
    fn apply_elements(&mut self, way: Way, is_tensor: bool, maps: ExprId, to: ExprId) -> Result<Option<ExprId>> {
        let maps = self.resolved(maps);
        let Node::Prim(Prim::Build, build) = self.program.store.node(maps) else { return Ok(None) };
        let &[size, lam] = self.program.store.list(build) else { return Ok(None) };
        let lam = self.store().refresh(lam);
        let Node::Lam(index, map) = self.program.store.node(lam) else { return Ok(None) };
        let at = self.store().var(index);
        let part = if is_tensor { to } else { self.store().prim(Prim::Index, &[at, to]) };
        let Some(element) = self.apply(way, map, part)? else { return Ok(None) };
        let prim = if is_tensor { Prim::Build } else { Prim::Sumbuild };
        let lam = self.store().lam(index, element);
        Ok(Some(self.store().prim(prim, &[size, lam])))
    }

    /// The numbers below a size, as a vector.
    pub(super) fn count(&mut self, size: ExprId) -> ExprId {
        looped(self.store(), Prim::Build, size, |_, index| index)
    }
}

/// Whether an expression calls `[D f]` or `[Dt f]`.
fn is_derivative(elimination: &Elimination<'_>, expr: ExprId) -> bool {
    [Derivation::D, Derivation::Dt].into_iter().any(|kind| elimination.derivative_of(kind, expr).is_some())
}

/// Whether there are linear maps in values of the type.
fn has_maps(store: &Store, ty: TypeId) -> bool {
    match store.types.get(ty) {
        Type::LinearMap(..) => true,
        Type::Tuple(fields) => store.types.list(fields).iter().any(|field| has_maps(store, *field)),
        Type::Tensor(_, element) => has_maps(store, element),
        _ => false,
    }
}
