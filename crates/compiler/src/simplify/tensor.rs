//! Primitives over tensors: everything that goes by elements becomes `build`, `sumbuild` and `index`, and these meet.

use super::normal::{Normalizer, is_atom};
use crate::ir::{ExprId, Node, Prim, Type, TypeId, VarId};

/// Steps, and elements that are loaded, of an element that is computed again wherever it is wanted.
const CHEAP: u32 = 6;
const LOADS: u32 = 1;

impl Normalizer<'_> {
    /// A primitive; its arguments are atoms, or lambdas as in the source.
    pub(super) fn tensor(&mut self, prim: Prim, args: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        match prim {
            Prim::Map => self.elementwise(args[0], &args[1..], from, name),
            Prim::Map2 => {
                self.check_sizes(args[1], args[2], from);
                self.elementwise(args[0], &args[1..], from, name)
            }
            Prim::ConstVec => self.over_indices(Prim::Build, args[0], from, name, |_, _| args[1]),
            Prim::DeltaVec if self.has_trivial_shape(args[2]) => {
                self.over_indices(Prim::Build, args[0], from, name, |normal, index| {
                    normal.store().prim(Prim::Delta, &[index, args[1], args[2]])
                })
            }
            Prim::Delta if args[0] == args[1] && self.is_discrete(args[0]) => args[2],
            Prim::Delta if self.has_trivial_shape(args[2]) => {
                let zero = self.zero(args[2]);
                let same = self.store().prim(Prim::Eq, &[args[0], args[1]]);
                let chosen = self.store().if_(same, args[2], zero);
                self.again(chosen, from, name)
            }
            Prim::Sum if self.has_trivial_shape(from) => {
                let size = self.size(args[0], from);
                self.over_indices(Prim::Sumbuild, size, from, name, |normal, index| {
                    normal.store().prim(Prim::Index, &[index, args[0]])
                })
            }
            Prim::TsAdd => self.ts_add(args[0], args[1], from, name),
            Prim::TsNeg => self.ts_numbers(None, args[0], from, name),
            Prim::TsScale => self.ts_numbers(Some(args[0]), args[1], from, name),
            Prim::TsDot => self.ts_dot(args[0], args[1], from, name),
            Prim::Size => self.size(args[0], from),
            Prim::Index => self.index(args[0], args[1], from, name),
            Prim::Zero if self.has_trivial_shape(args[0]) || self.is_tuple(args[0]) => self.tangent_zero(args[0], from),
            Prim::Eq | Prim::Ne if args[0] == args[1] && self.is_discrete(args[0]) => {
                self.store().bool(prim == Prim::Eq)
            }
            Prim::Inline | Prim::Copydown => args[0],
            Prim::MapAccum if self.unused_field(name, 1) => self.fold_of(args, from, name),
            Prim::Fold | Prim::MapAccum => {
                let over = self.cheap_build(args[2]).unwrap_or(args[2]);
                self.finish(prim, &[args[0], args[1], over], from, name)
            }
            _ if prim.lanes().is_some() => self.sumbuild(prim, args, from, name),
            _ => self.finish(prim, args, from, name),
        }
    }

    /// Normal form of an expression over atoms.
    fn again(&mut self, expr: ExprId, from: ExprId, name: Option<VarId>) -> ExprId {
        self.store().inherit_origin(expr, from);
        match name {
            Some(name) => self.named(expr, name),
            None => self.atom(expr),
        }
    }

    fn has_trivial_shape(&self, expr: ExprId) -> bool {
        self.program.store.types.has_trivial_shape(self.program.store.ty(expr))
    }

    fn is_tuple(&self, expr: ExprId) -> bool {
        self.program.store.types.fields(self.program.store.ty(expr)).is_some()
    }

    /// Whether values of the type that are the same are equal: there is no Float in it.
    fn is_discrete(&self, expr: ExprId) -> bool {
        match self.program.store.types.get(self.program.store.ty(expr)) {
            Type::Integer | Type::Bool => true,
            Type::Tuple(list) => {
                self.program.store.types.list(list).iter().all(|ty| matches!(*ty, TypeId::INTEGER | TypeId::BOOL))
            }
            _ => false,
        }
    }

    fn is_tensor(&self, expr: ExprId) -> bool {
        matches!(self.program.store.types.get(self.program.store.ty(expr)), Type::Tensor(..))
    }

    /// A loop over a new index.
    fn over_indices(
        &mut self,
        prim: Prim,
        size: ExprId,
        from: ExprId,
        name: Option<VarId>,
        body: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> ExprId {
        let ty = self.program.store.ty(size);
        let var = self.store().fresh("i", ty);
        let index = self.store().var(var);
        let body = body(self, index);
        self.store().inherit_origin(body, from);
        let lam = self.store().lam(var, body);
        let made = self.store().prim(prim, &[size, lam]);
        self.again(made, from, name)
    }

    /// `map` and `map2` by their elements.
    fn elementwise(&mut self, lam: ExprId, over: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        let Node::Lam(var, body) = self.program.store.node(lam) else { return from };
        let size = self.size(over[0], from);
        self.over_indices(Prim::Build, size, from, name, |normal, index| {
            let parts: Vec<ExprId> =
                over.iter().map(|tensor| normal.store().prim(Prim::Index, &[index, *tensor])).collect();
            let element = if let [one] = parts[..] { one } else { normal.store().tuple(&parts) };
            normal.store().let_(var, element, body)
        })
    }

    fn check_sizes(&mut self, a: ExprId, b: ExprId, from: ExprId) {
        let (a, b) = (self.size(a, from), self.size(b, from));
        if a != b {
            let same = self.store().prim(Prim::Eq, &[a, b]);
            let same = self.again(same, from, None);
            let unit = self.store().tuple(&[]);
            let check = self.store().assert(same, unit);
            self.again(check, from, None);
        }
    }

    /// The size of a tensor, without the tensor where that is possible.
    fn size(&mut self, tensor: ExprId, from: ExprId) -> ExprId {
        let known = match self.value_of(tensor).map(|value| self.program.store.node(value)) {
            Some(Node::Prim(Prim::Build, args)) => Some(self.program.store.list(args)[0]),
            Some(Node::Prim(Prim::VecInit, args)) => {
                let count = self.program.store.list(args).len() as i64;
                Some(self.store().integer(count))
            }
            Some(Node::Prim(Prim::Zero, args)) => {
                let like = self.program.store.list(args)[0];
                Some(self.size(like, from))
            }
            _ => self.size_of_field(tensor, from),
        };
        known.unwrap_or_else(|| {
            let size = self.store().prim(Prim::Size, &[tensor]);
            self.emit(size, from, None)
        })
    }

    /// The size of a tensor that is a field of something known.
    fn size_of_field(&mut self, tensor: ExprId, from: ExprId) -> Option<ExprId> {
        let Node::Get(field, whole) = self.program.store.node(tensor) else { return None };
        let Node::Prim(prim, args) = self.program.store.node(self.value_of(whole)?) else { return None };
        let args = self.program.store.list(args).to_vec();
        match (prim, field) {
            (Prim::Unzip, _) => Some(self.size(args[0], from)),
            (Prim::Accumulate, 0) if self.is_tensor(args[0]) => Some(self.size(args[0], from)),
            (Prim::MapAccum, 1) => Some(self.size(args[2], from)),
            _ => None,
        }
    }

    /// An element; that of a `build` is computed where that is cheap.
    fn index(&mut self, index: ExprId, tensor: ExprId, from: ExprId, name: Option<VarId>) -> ExprId {
        if let (false, Some(value)) = (self.checks_bounds(), self.value_of(tensor)) {
            match self.program.store.node(value) {
                Node::Prim(Prim::Build, args) => {
                    let lam = self.program.store.list(args)[1];
                    if let Some(element) = self.cheap_element(lam, index) {
                        return element;
                    }
                }
                Node::Prim(Prim::Zero, _) if self.has_trivial_shape(from) => return self.zero(from),
                Node::Prim(Prim::VecInit, args) => {
                    if let Node::Integer(number) = self.program.store.node(index) {
                        let element = usize::try_from(number).ok();
                        let element = element.and_then(|number| self.program.store.list(args).get(number).copied());
                        if let Some(element) = element {
                            return element;
                        }
                    }
                }
                _ => {}
            }
        }
        let element = self.store().prim(Prim::Index, &[index, tensor]);
        self.emit(element, from, name)
    }

    fn cheap_element(&mut self, lam: ExprId, index: ExprId) -> Option<ExprId> {
        let Node::Lam(var, body) = self.program.store.node(lam) else { return None };
        if !self.is_cheap(body) || !self.facts.is_total(self.program, body) {
            return None;
        }
        let outer = self.env.insert(var, index);
        let element = self.atom(body);
        self.restore(var, outer);
        Some(element)
    }

    /// The `build` that a tensor is, if nobody need make it.
    fn cheap_build(&mut self, tensor: ExprId) -> Option<ExprId> {
        let value = self.value_of(tensor)?;
        let Node::Prim(Prim::Build, args) = self.program.store.node(value) else { return None };
        let lam = self.program.store.list(args)[1];
        let Node::Lam(_, body) = self.program.store.node(lam) else { return None };
        let is_cheap = self.is_cheap(body) && self.facts.is_total(self.program, value);
        is_cheap.then(|| self.store().refresh(value))
    }

    /// Whether an expression is a few steps that take no time to speak of.
    fn is_cheap(&self, expr: ExprId) -> bool {
        let store = &self.program.store;
        if store.size(expr) > 4 * CHEAP {
            return false;
        }
        let (mut steps, mut loads) = (0, 0);
        for part in store.post_order(expr) {
            steps += match store.node(part) {
                Node::Prim(prim, _) => match prim {
                    Prim::Neg | Prim::Add | Prim::Sub | Prim::Mul | Prim::ToFloat | Prim::Abs => 1,
                    Prim::Gt | Prim::Lt | Prim::Gte | Prim::Lte | Prim::And | Prim::Or => 1,
                    Prim::Eq | Prim::Ne if store.types.has_trivial_shape(store.ty(store.children(part)[0])) => 1,
                    Prim::Index => {
                        loads += 1;
                        1
                    }
                    Prim::Size => 1,
                    _ => return false,
                },
                Node::If(..) => 1,
                Node::Call(..) | Node::Match(..) | Node::Construct(..) | Node::Lam(..) | Node::Assert(..) => {
                    return false;
                }
                _ => 0,
            };
        }
        steps <= CHEAP && loads <= LOADS
    }

    /// The zero of the type of an expression, all of whose values have one shape.
    fn zero(&mut self, like: ExprId) -> ExprId {
        let ty = self.program.store.ty(like);
        self.zero_of(ty)
    }

    fn zero_of(&mut self, ty: TypeId) -> ExprId {
        match self.program.store.types.get(ty) {
            Type::Float => self.store().float(0.0),
            Type::Integer => self.store().integer(0),
            Type::Bool => self.store().bool(false),
            Type::String => self.store().string(""),
            Type::Tuple(list) => {
                let fields = self.program.store.types.list(list).to_vec();
                let fields: Vec<ExprId> = fields.into_iter().map(|field| self.zero_of(field)).collect();
                self.store().tuple(&fields)
            }
            _ => self.store().tuple(&[]),
        }
    }

    /// `($zero x)` by its fields.
    fn tangent_zero(&mut self, like: ExprId, from: ExprId) -> ExprId {
        if self.has_trivial_shape(like) {
            let ty = self.program.store.ty(like);
            let tangent = self.store().types.tangent(ty);
            return self.zero_of(tangent);
        }
        let Some(count) = self.program.store.types.fields(self.program.store.ty(like)).map(<[_]>::len) else {
            let zero = self.store().prim(Prim::Zero, &[like]);
            return self.emit(zero, from, None);
        };
        let fields: Vec<ExprId> = (0..count as u32)
            .map(|number| {
                let part = self.field(number, like);
                self.tangent_zero(part, from)
            })
            .collect();
        self.store().tuple(&fields)
    }

    fn ts_add(&mut self, a: ExprId, b: ExprId, from: ExprId, name: Option<VarId>) -> ExprId {
        let (of_a, of_b) = (self.program.store.ty(a), self.program.store.ty(b));
        match self.program.store.types.get(of_a) {
            _ if of_b == TypeId::UNIT => a,
            Type::Float => self.scalar(Prim::Add, &[a, b], from, name),
            Type::Tuple(list) => {
                let count = self.program.store.types.list(list).len() as u32;
                let fields: Vec<ExprId> = (0..count)
                    .map(|number| {
                        let (a, b) = (self.field(number, a), self.field(number, b));
                        self.ts_add(a, b, from, None)
                    })
                    .collect();
                self.store().tuple(&fields)
            }
            Type::Tensor(..) => {
                self.check_sizes(a, b, from);
                let size = self.size(a, from);
                self.over_indices(Prim::Build, size, from, name, |normal, index| {
                    let store = normal.store();
                    let (a, b) = (store.prim(Prim::Index, &[index, a]), store.prim(Prim::Index, &[index, b]));
                    store.prim(Prim::TsAdd, &[a, b])
                })
            }
            _ => self.finish(Prim::TsAdd, &[a, b], from, name),
        }
    }

    /// `ts_scale` by a factor, or `ts_neg` without one.
    fn ts_numbers(&mut self, factor: Option<ExprId>, x: ExprId, from: ExprId, name: Option<VarId>) -> ExprId {
        let prim = if factor.is_some() { Prim::TsScale } else { Prim::TsNeg };
        let with = |x: ExprId| factor.into_iter().chain([x]).collect::<Vec<_>>();
        match self.program.store.types.get(self.program.store.ty(x)) {
            Type::Float if factor.is_some() => self.scalar(Prim::Mul, &with(x), from, name),
            Type::Float => self.scalar(Prim::Neg, &[x], from, name),
            Type::Tuple(list) => {
                let count = self.program.store.types.list(list).len() as u32;
                let fields: Vec<ExprId> = (0..count)
                    .map(|number| {
                        let part = self.field(number, x);
                        self.ts_numbers(factor, part, from, None)
                    })
                    .collect();
                self.store().tuple(&fields)
            }
            Type::Tensor(..) => {
                let size = self.size(x, from);
                self.over_indices(Prim::Build, size, from, name, |normal, index| {
                    let part = normal.store().prim(Prim::Index, &[index, x]);
                    normal.store().prim(prim, &with(part))
                })
            }
            _ => self.finish(prim, &with(x), from, name),
        }
    }

    fn ts_dot(&mut self, a: ExprId, b: ExprId, from: ExprId, name: Option<VarId>) -> ExprId {
        match self.program.store.types.get(self.program.store.ty(a)) {
            Type::Float => self.scalar(Prim::Mul, &[a, b], from, name),
            Type::Tensor(..) => {
                self.check_sizes(a, b, from);
                let size = self.size(a, from);
                let sum = self.over_indices(Prim::Sumbuild, size, from, None, |normal, index| {
                    let store = normal.store();
                    let (a, b) = (store.prim(Prim::Index, &[index, a]), store.prim(Prim::Index, &[index, b]));
                    store.prim(Prim::TsDot, &[a, b])
                });
                // An inner product starts from 0.0, a sum from its first term.
                let start = self.store().float(0.0);
                self.scalar(Prim::Add, &[start, sum], from, name)
            }
            _ => self.finish(Prim::TsDot, &[a, b], from, name),
        }
    }

    /// `$mapAccum` for its state only.
    fn fold_of(&mut self, args: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        let Node::Lam(var, body) = self.program.store.node(args[0]) else { return from };
        let state = self.store().get(0, body);
        let lam = self.store().lam(var, state);
        let folded = self.store().prim(Prim::Fold, &[lam, args[1], args[2]]);
        let folded = self.again(folded, from, name);
        // Nobody asks for the rest.
        let ty = self.program.store.ty(from);
        let rest = self.program.store.types.fields(ty).map_or(TypeId::UNIT, |fields| fields[1]);
        let rest = self.store().fresh("unused", rest);
        let rest = self.store().var(rest);
        self.store().tuple(&[folded, rest])
    }

    /// Sums of nothing but zeros, and of nothing at all.
    fn sumbuild(&mut self, prim: Prim, args: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        let lam = self.index_loop_body(args[1]);
        let body = match self.program.store.node(lam) {
            Node::Lam(_, body) => body,
            _ => from,
        };
        let is_zero = match self.program.store.node(body) {
            Node::Tuple(parts) => self.program.store.list(parts).is_empty(),
            Node::Float(value) => value == 0.0.into(),
            Node::Integer(value) => value == 0,
            _ => false,
        };
        if is_zero && self.facts.is_size(self.program, args[0]) {
            return body;
        }
        let made = self.store().prim(prim, &[args[0], lam]);
        let made = self.emit(made, from, name);
        debug_assert!(is_atom(&self.program.store, made), "what is bound has a name");
        made
    }
}
