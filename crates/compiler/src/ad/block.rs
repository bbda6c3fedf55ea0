//! Straight-line code in the making: bindings one after another, whose values are named once and then mentioned freely.

use super::purity::Parts;
use crate::error::{Error, ErrorKind};
use crate::ir::{Derivation, ExprId, ExprList, FunId, Node, Prim, Program, Store, Type, TypeId, VarId};
use crate::source::Span;

/// A variable and its value.
pub(super) type Binding = (VarId, ExprId);

/// An expression that may be mentioned any number of times: it costs nothing.
pub(super) fn is_atom(store: &Store, expr: ExprId) -> bool {
    match store.node(expr) {
        Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => true,
        Node::Get(_, tuple) => is_atom(store, tuple),
        Node::Tuple(fields) => store.list(fields).iter().all(|field| is_atom(store, *field)),
        _ => false,
    }
}

/// A field of a tuple, without the tuple where its fields are known.
pub(super) fn field(store: &mut Store, number: u32, tuple: ExprId) -> ExprId {
    match store.node(tuple) {
        Node::Tuple(fields) => store.list(fields)[number as usize],
        _ => store.get(number, tuple),
    }
}

/// Whether there is a real number in values of the type, so that it has derivatives.
pub(super) fn is_smooth(store: &Store, ty: TypeId) -> bool {
    fn search(store: &Store, ty: TypeId, seen: &mut Vec<TypeId>) -> bool {
        if seen.contains(&ty) {
            return false;
        }
        seen.push(ty);
        match store.types.get(ty) {
            Type::Float | Type::Any | Type::LinearMap(..) => true,
            Type::Integer | Type::Bool | Type::String | Type::Lam(..) => false,
            Type::Tuple(fields) => store.types.list(fields).iter().any(|field| search(store, *field, seen)),
            Type::Tensor(_, element) => search(store, element, seen),
            Type::Data(data) => store.types.data(data).constructors.iter().any(|(_, held)| search(store, *held, seen)),
        }
    }
    search(store, ty, &mut vec![])
}

/// The zero of the tangent type with the shape of `value`, an atom; the value is mentioned only where the shape depends on it.
pub(super) fn zero(store: &mut Store, value: ExprId) -> ExprId {
    let ty = store.ty(value);
    match store.types.get(ty) {
        Type::Float => store.float(0.0),
        Type::Integer | Type::Bool | Type::String => store.tuple(&[]),
        Type::Tuple(fields) => {
            let count = store.types.list(fields).len() as u32;
            let fields: Vec<ExprId> = (0..count)
                .map(|number| {
                    let part = field(store, number, value);
                    zero(store, part)
                })
                .collect();
            store.tuple(&fields)
        }
        _ => store.prim(Prim::Zero, &[value]),
    }
}

/// What a value holds that has a certain constructor; `like` has the type of it, and stands in for other constructors.
pub(super) fn held(store: &mut Store, value: ExprId, constructor: usize, like: ExprId) -> ExprId {
    let Type::Data(data) = store.types.get(store.ty(value)) else { return value };
    let types: Vec<TypeId> = store.types.data(data).constructors.iter().map(|(_, held)| *held).collect();
    let otherwise = zero(store, like);
    let arms: Vec<ExprId> = types
        .iter()
        .enumerate()
        .map(|(number, ty)| {
            let var = store.fresh("held", *ty);
            let body = if number == constructor { store.var(var) } else { otherwise };
            store.lam(var, body)
        })
        .collect();
    store.match_(value, &arms)
}

/// The sum of two tangents.
pub(super) fn sum(store: &mut Store, a: ExprId, b: ExprId) -> ExprId {
    let prim = match store.types.get(store.ty(a)) {
        Type::Float => Prim::Add,
        Type::LinearMap(..) => Prim::LmAdd,
        _ => Prim::TsAdd,
    };
    store.prim(prim, &[a, b])
}

/// The variable of the accumulator that a place is part of.
pub(super) fn root(store: &Store, mut place: ExprId) -> Option<VarId> {
    loop {
        place = match store.node(place) {
            Node::Var(var) => return Some(var),
            Node::Get(_, whole) => whole,
            Node::Prim(Prim::Index, args) => store.list(args)[1],
            _ => return None,
        }
    }
}

/// A program, and the straight-line code that is being written for it.
pub(super) struct Code<'a> {
    pub(super) program: &'a mut Program,
    /// Where the derivation is asked for.
    pub(super) span: Span,
    /// What is known of what was written.
    pub(super) parts: Parts,
    bindings: Vec<Binding>,
}

impl<'a> Code<'a> {
    pub(super) fn new(program: &'a mut Program, span: Span) -> Self {
        Self { program, span, parts: Parts::default(), bindings: vec![] }
    }

    pub(super) fn store(&mut self) -> &mut Store {
        &mut self.program.store
    }

    /// Names a value.
    pub(super) fn emit(&mut self, expr: ExprId) -> ExprId {
        if is_atom(&self.program.store, expr) {
            return expr;
        }
        let ty = self.program.store.ty(expr);
        let var = self.program.store.fresh("t", ty);
        self.bind(var, expr);
        self.program.store.var(var)
    }

    pub(super) fn prim(&mut self, prim: Prim, args: &[ExprId]) -> ExprId {
        let expr = self.program.store.prim(prim, args);
        self.emit(expr)
    }

    pub(super) fn bind(&mut self, var: VarId, value: ExprId) {
        self.bindings.push((var, value));
    }

    pub(super) fn append(&mut self, bindings: Vec<Binding>) {
        if self.bindings.is_empty() {
            self.bindings = bindings;
        } else {
            self.bindings.extend(bindings);
        }
    }

    /// Starts a block; gives what is written so far, to be handed to [`Code::close`].
    pub(super) fn open(&mut self) -> Vec<Binding> {
        std::mem::take(&mut self.bindings)
    }

    /// Ends a block; gives what was written in it.
    pub(super) fn close(&mut self, outer: Vec<Binding>) -> Vec<Binding> {
        std::mem::replace(&mut self.bindings, outer)
    }

    /// A block as an expression, without what nobody needs.
    pub(super) fn block(&mut self, bindings: &[Binding], result: ExprId) -> ExprId {
        let live = self.parts.live(self.program, bindings, result);
        self.program.store.lets(&live, result)
    }

    /// A new variable and its mention.
    pub(super) fn fresh_like(&mut self, var: VarId) -> (VarId, ExprId) {
        let fresh = self.program.store.fresh_like(var);
        (fresh, self.program.store.var(fresh))
    }

    /// As [`Code::fresh_like`].
    pub(super) fn fresh(&mut self, name: &str, ty: TypeId) -> (VarId, ExprId) {
        let fresh = self.program.store.fresh(name, ty);
        (fresh, self.program.store.var(fresh))
    }

    pub(super) fn field(&mut self, number: u32, tuple: ExprId) -> ExprId {
        field(&mut self.program.store, number, tuple)
    }

    pub(super) fn tuple(&mut self, fields: &[ExprId]) -> ExprId {
        self.program.store.tuple(fields)
    }

    /// Every field of a tuple.
    pub(super) fn fields(&mut self, tuple: ExprId) -> Vec<ExprId> {
        let count = self.program.store.types.fields(self.program.store.ty(tuple)).map_or(0, <[_]>::len);
        (0..count as u32).map(|number| self.field(number, tuple)).collect()
    }

    /// A value and what goes with it, under names of their own: a tape can then save one without the other.
    pub(super) fn pair(&mut self, both: ExprId) -> (ExprId, ExprId) {
        let (value, other) = (self.field(0, both), self.field(1, both));
        match self.program.store.node(both) {
            Node::Tuple(_) => (value, other),
            _ => (self.named(value), self.name(other)),
        }
    }

    /// An atom as the tuple of its parts, each under a new name.
    pub(super) fn named(&mut self, value: ExprId) -> ExprId {
        if let Type::Tuple(_) = self.program.store.types.get(self.ty(value)) {
            let parts: Vec<ExprId> = self.fields(value).into_iter().map(|part| self.named(part)).collect();
            return self.tuple(&parts);
        }
        self.name(value)
    }

    fn name(&mut self, value: ExprId) -> ExprId {
        let ty = self.ty(value);
        let (var, at) = self.fresh("x", ty);
        self.bind(var, value);
        at
    }

    pub(super) fn zero(&mut self, value: ExprId) -> ExprId {
        zero(&mut self.program.store, value)
    }

    pub(super) fn is_smooth(&self, ty: TypeId) -> bool {
        is_smooth(&self.program.store, ty)
    }

    pub(super) fn ty(&self, expr: ExprId) -> TypeId {
        self.program.store.ty(expr)
    }

    /// The arguments of a primitive.
    pub(super) fn args(&self, list: ExprList) -> Vec<ExprId> {
        self.program.store.list(list).to_vec()
    }

    /// The variable and the body of a lambda.
    pub(super) fn lambda(&self, lam: ExprId) -> (VarId, ExprId) {
        match self.program.store.node(lam) {
            Node::Lam(var, body) => (var, body),
            _ => unreachable!("the checker lets only lambdas through here"),
        }
    }

    /// What cannot be derived, and why.
    pub(super) fn fail<T>(&self, what: &str, reason: &str) -> Result<T, Error> {
        let kind = ErrorKind::NotDerivable { fun: what.to_owned(), reason: reason.to_owned() };
        Err(Error::new(self.span, kind))
    }

    /// An error with the place in the function where it cannot be derived, unless it has one.
    pub(super) fn placed<T>(&self, result: Result<T, Error>, at: ExprId) -> Result<T, Error> {
        let is_open = |error: &Error| error.labels.is_empty() && matches!(error.kind, ErrorKind::NotDerivable { .. });
        result.map_err(|error| match self.program.store.origin(at) {
            Some(span) if is_open(&error) && span != error.span => error.with_label(span, "here"),
            _ => error,
        })
    }

    /// Refuses calls of external functions that take functions: there is no name for their derivatives.
    pub(super) fn refuse_functions(&self, fun: FunId, arg: ExprId) -> Result<(), Error> {
        let store = &self.program.store;
        let one = [store.ty(arg)];
        let types = store.types.fields(one[0]).unwrap_or(&one);
        match types.iter().any(|ty| matches!(store.types.get(*ty), Type::Lam(..))) {
            true => self.fail(&store.show_fun(fun), "it is external and takes functions"),
            false => Ok(()),
        }
    }

    /// The derivation of a function of scalars that the program defines itself.
    pub(super) fn overridden(&mut self, derivation: Derivation, prim: Prim, args: &[ExprId]) -> Option<FunId> {
        let types: Vec<TypeId> = args.iter().map(|arg| self.ty(*arg)).collect();
        let store = &mut self.program.store;
        let arg = if let [one] = types[..] { one } else { store.types.tuple(&types) };
        let name = store.symbol(prim.name());
        let base = store.base(name, arg);
        let derived = store.derived(derivation, base);
        self.program.def(derived).map(|_| derived)
    }
}
