//! Forward mode: every value with its tangent.

use super::block::{Binding, Code, sum};
use super::desugar::{desugar, tangent_part};
use super::scalar::partials;
use crate::error::Error;
use crate::ir::{Derivation, ExprId, FunId, Node, Prim, Program, Type, TypeId, VarId};
use crate::source::Span;
use crate::stack;
use rustc_hash::FxHashMap;

/// A value and its tangent; none is zero. Both are atoms.
pub(super) type Dual = (ExprId, Option<ExprId>);
pub(super) type Result<T> = std::result::Result<T, Error>;

/// Writes the body of a `fwd`.
pub(super) struct Forward<'a> {
    pub(super) code: Code<'a>,
    pub(super) env: FxHashMap<VarId, Dual>,
}

/// The parameter and body of `[fwd f]`, or with the value of `[fwdt f]`, given those of f.
pub(super) fn derive(
    program: &mut Program,
    span: Span,
    (param, body): (VarId, ExprId),
    with_value: bool,
) -> Result<(VarId, ExprId)> {
    let mut forward = Forward { code: Code::new(program, span), env: FxHashMap::default() };
    let code = &mut forward.code;
    let ty = code.program.store.var_type(param);
    let tangent = code.program.store.types.tangent(ty);
    let both = code.program.store.types.tuple(&[ty, tangent]);
    let (whole, at) = code.fresh("x_dx", both);
    let (value, change) = (code.field(0, at), code.field(1, at));
    let change = code.is_smooth(ty).then_some(change);
    forward.env.insert(param, (value, change));
    let outer = forward.code.open();
    let dual = forward.dual(body, with_value)?;
    let tangent = forward.tangent(dual);
    let result = if with_value { forward.code.tuple(&[dual.0, tangent]) } else { tangent };
    let bindings = forward.code.close(outer);
    Ok((whole, forward.code.block(&bindings, result)))
}

/// `[fwdt f]` of a function whose `fwd` the program defines.
pub(super) fn by_fwd(program: &mut Program, of: FunId, span: Span) -> Result<(VarId, ExprId)> {
    let fwd = super::require(program, Derivation::Fwd, of, span)?;
    let (both, _) = program.store.signature(fwd).unwrap_or((TypeId::UNIT, TypeId::UNIT));
    let store = &mut program.store;
    let param = store.fresh("x_dx", both);
    let whole = store.var(param);
    let at = store.get(0, whole);
    let (value, tangent) = (store.call(of, at), store.call(fwd, whole));
    Ok((param, store.tuple(&[value, tangent])))
}

impl Forward<'_> {
    /// The tangent, written out where it is zero.
    pub(super) fn tangent(&mut self, (value, tangent): Dual) -> ExprId {
        match tangent {
            Some(tangent) => tangent,
            None => {
                let zero = self.code.zero(value);
                self.code.emit(zero)
            }
        }
    }

    pub(super) fn value(&mut self, expr: ExprId) -> Result<ExprId> {
        Ok(self.dual(expr, true)?.0)
    }

    /// A value with its tangent. The value counts only if it is needed or has no tangent: loops leave it out otherwise.
    pub(super) fn dual(&mut self, expr: ExprId, is_needed: bool) -> Result<Dual> {
        let made = stack::grow(|| self.dual_here(expr, is_needed));
        self.code.placed(made, expr)
    }

    fn dual_here(&mut self, expr: ExprId, is_needed: bool) -> Result<Dual> {
        match self.code.program.store.node(expr) {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) => Ok((expr, None)),
            Node::Var(var) => Ok(self.env[&var]),
            Node::Tuple(fields) => {
                let fields = self.code.args(fields);
                let duals = fields.iter().map(|field| self.dual(*field, is_needed)).collect::<Result<Vec<Dual>>>()?;
                Ok(self.tuple(&duals))
            }
            Node::Get(number, tuple) => {
                let (value, tangent) = self.dual(tuple, is_needed)?;
                let part = self.part(value, tangent, is_needed, |code, whole| code.field(number, whole));
                Ok(part)
            }
            Node::Let(var, value, body) => {
                let (value, tangent) = self.dual(value, true)?;
                self.env.insert(var, (value, tangent));
                self.dual(body, is_needed)
            }
            Node::If(condition, then, otherwise) => {
                let condition = self.value(condition)?;
                let arms = [self.arm(then, is_needed)?, self.arm(otherwise, is_needed)?];
                let arms = self.join(arms.into(), is_needed);
                let made = self.code.store().if_(condition, arms.0[0], arms.0[1]);
                Ok(self.split(made, arms.1, is_needed))
            }
            Node::Assert(condition, body) => {
                let (condition, unit) = (self.value(condition)?, self.code.tuple(&[]));
                let check = self.code.store().assert(condition, unit);
                self.code.store().inherit_origin(check, expr);
                self.code.emit(check);
                self.dual(body, is_needed)
            }
            Node::Lam(..) => self.code.fail("a lambda", "it stands where no primitive takes it"),
            Node::Call(fun, arg) => self.call(fun, arg, is_needed),
            Node::Construct(data, constructor, arg) => {
                let (held, tangent) = self.dual(arg, true)?;
                let made = self.code.store().construct(data, constructor, held);
                let value = self.code.emit(made);
                let ty = self.code.ty(value);
                let ty = self.code.store().types.tangent(ty);
                let Type::Data(tangent_data) = self.code.store().types.get(ty) else { return Ok((value, None)) };
                let tangent = tangent.map(|held| {
                    let made = self.code.store().construct(tangent_data, constructor, held);
                    self.code.emit(made)
                });
                Ok((value, tangent))
            }
            Node::Match(over, arms) => self.match_(over, &self.code.args(arms), is_needed),
            Node::Prim(prim, args) => {
                let args = self.code.args(args);
                let dual = self.prim(prim, &args, is_needed)?;
                Ok(dual)
            }
        }
    }

    pub(super) fn tuple(&mut self, duals: &[Dual]) -> Dual {
        let values: Vec<ExprId> = duals.iter().map(|dual| dual.0).collect();
        let value = self.code.tuple(&values);
        if duals.iter().all(|dual| dual.1.is_none()) {
            return (value, None);
        }
        let tangents: Vec<ExprId> = duals.iter().map(|dual| self.tangent(*dual)).collect();
        (value, Some(self.code.tuple(&tangents)))
    }

    /// The same part of a value and of its tangent.
    fn part(
        &mut self,
        value: ExprId,
        tangent: Option<ExprId>,
        is_needed: bool,
        part: impl Fn(&mut Code<'_>, ExprId) -> ExprId,
    ) -> Dual {
        let tangent = tangent.map(|tangent| {
            let part = part(&mut self.code, tangent);
            self.code.emit(part)
        });
        if tangent.is_some() && !is_needed {
            return (value, tangent);
        }
        let value = part(&mut self.code, value);
        (self.code.emit(value), tangent)
    }

    /// A branch, in a block of its own.
    pub(super) fn arm(&mut self, body: ExprId, is_needed: bool) -> Result<(Vec<Binding>, Dual)> {
        let outer = self.code.open();
        let dual = self.dual(body, is_needed);
        let bindings = self.code.close(outer);
        Ok((bindings, dual?))
    }

    /// Branches as expressions, all with tangents or none with; and whether they have.
    pub(super) fn join(&mut self, arms: Vec<(Vec<Binding>, Dual)>, is_needed: bool) -> (Vec<ExprId>, bool) {
        let is_smooth = arms.iter().any(|(_, dual)| dual.1.is_some());
        let made = arms.into_iter().map(|(bindings, dual)| self.arm_value(bindings, dual, is_smooth, is_needed));
        (made.collect(), is_smooth)
    }

    fn arm_value(&mut self, bindings: Vec<Binding>, dual: Dual, is_smooth: bool, is_needed: bool) -> ExprId {
        let outer = self.code.open();
        self.code.append(bindings);
        let result = match (is_smooth, is_needed) {
            (false, _) => dual.0,
            (true, false) => self.tangent(dual),
            (true, true) => {
                let tangent = self.tangent(dual);
                self.code.tuple(&[dual.0, tangent])
            }
        };
        let bindings = self.code.close(outer);
        self.code.block(&bindings, result)
    }

    /// A value made by [`Forward::join`], named and taken apart.
    pub(super) fn split(&mut self, made: ExprId, is_smooth: bool, is_needed: bool) -> Dual {
        let made = self.code.emit(made);
        match (is_smooth, is_needed) {
            (false, _) => (made, None),
            (true, false) => (made, Some(made)),
            (true, true) => (self.code.field(0, made), Some(self.code.field(1, made))),
        }
    }

    fn match_(&mut self, over: ExprId, arms: &[ExprId], is_needed: bool) -> Result<Dual> {
        let (value, tangent) = self.dual(over, true)?;
        let mut made = vec![];
        let mut vars = vec![];
        for (number, arm) in (0..).zip(arms) {
            let (var, body) = self.code.lambda(*arm);
            let (held, at) = self.code.fresh_like(var);
            vars.push(held);
            let outer = self.code.open();
            let change = tangent.map(|tangent| self.held_tangent(tangent, number, at));
            self.env.insert(var, (at, change));
            let dual = self.dual(body, is_needed);
            made.push((self.code.close(outer), dual?));
        }
        let (bodies, is_smooth) = self.join(made, is_needed);
        let arms: Vec<ExprId> = vars.iter().zip(bodies).map(|(var, body)| self.code.store().lam(*var, body)).collect();
        let matched = self.code.store().match_(value, &arms);
        Ok(self.split(matched, is_smooth, is_needed))
    }

    /// What the tangent of a value with this constructor holds; other constructors it never has.
    fn held_tangent(&mut self, tangent: ExprId, constructor: usize, held: ExprId) -> ExprId {
        let taken = super::block::held(self.code.store(), tangent, constructor, held);
        self.code.emit(taken)
    }

    /// A call: `[fwdt g]` where the value counts too, so that nothing is computed twice however deep calls nest.
    fn call(&mut self, fun: FunId, arg: ExprId, is_needed: bool) -> Result<Dual> {
        self.code.refuse_functions(fun, arg)?;
        let (arg, tangent) = self.dual(arg, true)?;
        let Some(tangent) = tangent.filter(|_| self.has_smooth_result(fun)) else {
            let value = self.code.store().call(fun, arg);
            return Ok((self.code.emit(value), None));
        };
        let derivation = if is_needed { Derivation::Fwdt } else { Derivation::Fwd };
        let forward = super::require(self.code.program, derivation, fun, self.code.span)?;
        let both = self.code.tuple(&[arg, tangent]);
        let made = self.code.store().call(forward, both);
        Ok(self.split(made, true, is_needed))
    }

    fn has_smooth_result(&self, fun: FunId) -> bool {
        self.code.program.store.signature(fun).is_none_or(|(_, result)| self.code.is_smooth(result))
    }

    fn prim(&mut self, prim: Prim, args: &[ExprId], is_needed: bool) -> Result<Dual> {
        if prim.is_function() {
            return self.scalar(prim, args);
        }
        if let Some(plain) = desugar(self.code.store(), prim, args) {
            return self.dual(plain, is_needed);
        }
        match prim {
            Prim::Build | Prim::Sumbuild => self.over_indices(prim, args, is_needed),
            Prim::Fold | Prim::MapAccum => self.fold(prim, args),
            Prim::Accumulate => self.accumulate(args),
            Prim::AddTo => self.add_to(args),
            Prim::Print => {
                let values: Vec<ExprId> = args.iter().map(|arg| self.value(*arg)).collect::<Result<_>>()?;
                Ok((self.code.prim(prim, &values), None))
            }
            _ => self.strict(prim, args),
        }
    }

    fn scalar(&mut self, prim: Prim, args: &[ExprId]) -> Result<Dual> {
        let duals = args.iter().map(|arg| self.dual(*arg, true)).collect::<Result<Vec<Dual>>>()?;
        let values: Vec<ExprId> = duals.iter().map(|dual| dual.0).collect();
        let value = self.code.prim(prim, &values);
        if duals.iter().all(|dual| dual.1.is_none()) {
            return Ok((value, None));
        }
        if let Some(own) = self.code.overridden(Derivation::Fwd, prim, &values) {
            let tangents: Vec<ExprId> = duals.iter().map(|dual| self.tangent(*dual)).collect();
            let (at, change) = if let ([at], [change]) = (&values[..], &tangents[..]) {
                (*at, *change)
            } else {
                (self.code.tuple(&values), self.code.tuple(&tangents))
            };
            let both = self.code.tuple(&[at, change]);
            let change = self.code.store().call(own, both);
            return Ok((value, Some(self.code.emit(change))));
        }
        let partials = partials(self.code.store(), prim, &values, value);
        let mut total: Option<ExprId> = None;
        for (partial, (_, tangent)) in partials.into_iter().zip(&duals) {
            let Some(part) = tangent.and_then(|tangent| partial.apply(self.code.store(), tangent)) else { continue };
            let part = self.code.emit(part);
            total = Some(self.add(total, part));
        }
        Ok((value, total))
    }

    pub(super) fn add(&mut self, total: Option<ExprId>, part: ExprId) -> ExprId {
        let Some(total) = total else { return part };
        let both = sum(self.code.store(), total, part);
        self.code.emit(both)
    }

    /// Primitives that take values only.
    fn strict(&mut self, prim: Prim, args: &[ExprId]) -> Result<Dual> {
        let duals = args.iter().map(|arg| self.dual(*arg, true)).collect::<Result<Vec<Dual>>>()?;
        let values: Vec<ExprId> = duals.iter().map(|dual| dual.0).collect();
        let value = self.code.prim(prim, &values);
        // What holds no Float may come out of a tuple that does: its tangent is there, and says nothing.
        let is_smooth = |value: ExprId| self.code.is_smooth(self.code.ty(value));
        let duals: Vec<Dual> = duals.into_iter().map(|dual| (dual.0, dual.1.filter(|_| is_smooth(dual.0)))).collect();
        let tangents: Vec<Option<ExprId>> = duals.iter().map(|dual| dual.1).collect();
        if tangents.iter().all(Option::is_none) {
            return Ok((value, None));
        }
        let tangent = match (prim, &values[..], &tangents[..]) {
            (Prim::Size | Prim::Shape | Prim::Zero | Prim::Eq | Prim::Ne, ..) => None,
            (Prim::Index, &[index, _], &[_, Some(change)]) => Some(self.code.prim(prim, &[index, change])),
            (Prim::Delta | Prim::DeltaVec, &[a, b, _], &[.., Some(change)]) => {
                Some(self.code.prim(prim, &[a, b, change]))
            }
            (Prim::ConstVec, &[size, _], &[_, Some(change)]) => Some(self.code.prim(prim, &[size, change])),
            (Prim::VecInit, ..) => {
                let all: Vec<ExprId> = duals.iter().map(|dual| self.tangent(*dual)).collect();
                Some(self.code.prim(prim, &all))
            }
            (Prim::TsNeg, _, &[Some(change)]) => Some(self.code.prim(prim, &[change])),
            (Prim::Trace | Prim::Inline | Prim::Copydown, _, &[change]) => change,
            (Prim::TsAdd, _, &[a, b]) => a.into_iter().chain(b).fold(None, |total, part| Some(self.add(total, part))),
            (Prim::TsScale, &[factor, x], &[by_factor, by_x]) => {
                let by_factor = by_factor.map(|change| (change, self.plain(x)));
                let parts = by_factor.into_iter().chain(by_x.map(|change| (factor, change)));
                self.sum_of(Prim::TsScale, parts.collect())
            }
            (Prim::TsDot, &[x, y], &[dx, dy]) => {
                let parts = [dx.map(|change| (change, self.plain(y))), dy.map(|change| (self.plain(x), change))];
                self.sum_of(Prim::TsDot, parts.into_iter().flatten().collect())
            }
            _ => self.linear(prim, &duals)?,
        };
        Ok((value, tangent))
    }

    fn plain(&mut self, value: ExprId) -> ExprId {
        let part = tangent_part(self.code.store(), value);
        self.code.emit(part)
    }

    fn sum_of(&mut self, prim: Prim, parts: Vec<(ExprId, ExprId)>) -> Option<ExprId> {
        parts.into_iter().fold(None, |total, (a, b)| {
            let part = self.code.prim(prim, &[a, b]);
            Some(self.add(total, part))
        })
    }
}
