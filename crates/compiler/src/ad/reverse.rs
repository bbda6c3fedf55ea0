//! Reverse mode: the way there computes values, the way back sends cotangents to where the values came from.

use super::block::{Binding, Code, held};
use super::desugar::{desugar, in_range, tangent_part};
use super::place::{Direct, Flow, Place};
use super::scalar::partials;
use super::tape::Tape;
use crate::error::Error;
use crate::ir::{DataId, Derivation, ExprId, Node, Prim, Program, Type, TypeId, VarId};
use crate::source::Span;
use crate::stack;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) type Result<T> = std::result::Result<T, Error>;

/// What a variable of the source is in the code that is written.
#[derive(Clone)]
pub(super) struct Known {
    /// Its value, an atom.
    pub(super) value: ExprId,
    /// Where its cotangent goes.
    pub(super) place: Place,
    /// For an accumulator of the source: the cotangent of what it becomes, which is known on the way back.
    pub(super) source: Option<ExprId>,
}

/// Writes the two ways through an expression.
pub(super) struct Reverse<'a> {
    pub(super) code: Code<'a>,
    pub(super) env: FxHashMap<VarId, Known>,
    /// Accumulators that are added to from within loops or branches, or in parts.
    pub(super) captured: FxHashSet<VarId>,
    pub(super) direct: Direct,
    /// Whether the source, as far as it is read, adds to accumulators of its own, so that what gives nothing may still do something.
    pub(super) has_accumulators: bool,
    /// Nodes of functions that were written out where they are called.
    pub(super) inlined: u32,
}

/// A block of the source, as the two ways through it.
pub(super) struct Part {
    pub(super) forward: Vec<Binding>,
    pub(super) value: ExprId,
    /// The cotangent of the value on the way back.
    pub(super) cotangent: VarId,
    /// What the way back does and gives.
    pub(super) backward: ExprId,
    /// Whether the value has no way back.
    pub(super) is_inert: bool,
    pub(super) tape: Tape,
}

impl<'a> Reverse<'a> {
    pub(super) fn new(program: &'a mut Program, span: Span) -> Self {
        let code = Code::new(program, span);
        Self {
            code,
            env: FxHashMap::default(),
            captured: FxHashSet::default(),
            direct: Direct::default(),
            has_accumulators: false,
            inlined: 0,
        }
    }

    pub(super) fn know(&mut self, var: VarId, value: ExprId, place: Place) {
        self.env.insert(var, Known { value, place, source: None });
    }

    /// Both ways through the body of a loop, a branch or a function, in blocks of their own. `give` writes the end of the way back,
    /// given how the cotangent is sent.
    pub(super) fn part(
        &mut self,
        params: &[VarId],
        body: ExprId,
        give: impl FnOnce(&mut Self, &mut dyn FnMut(&mut Self)) -> ExprId,
    ) -> Result<Part> {
        let outer = self.open();
        let traced = self.trace(body);
        let forward = self.seal(outer);
        let (value, flow) = traced?;
        let ty = self.code.ty(value);
        let tangent = self.code.store().types.tangent(ty);
        let (cotangent, at) = self.code.fresh("dt", tangent);
        let mut flow = match flow {
            Flow::Inert => None,
            flow => Some(flow),
        };
        let is_inert = flow.is_none();
        let outer = self.open();
        let result = give(self, &mut |reverse| {
            if let Some(flow) = flow.take() {
                reverse.send(flow, at);
            }
        });
        let bindings = self.seal(outer);
        let backward = self.code.block(&bindings, result);
        let tape = Tape::new(&self.code.program.store, &mut self.code.parts, params, &forward, backward);
        Ok(Part { forward, value, cotangent, backward, is_inert, tape })
    }

    /// [`Reverse::part`] of a body whose parameters have no cotangents.
    pub(super) fn plain_part(&mut self, body: ExprId) -> Result<Part> {
        self.part(&[], body, |reverse, send| {
            send(reverse);
            reverse.code.tuple(&[])
        })
    }

    /// The way back of a part, given its cotangent and what was saved.
    pub(super) fn backward(&mut self, part: &Part, cotangent: ExprId, packed: ExprId) -> ExprId {
        let mut bindings = part.tape.unpack(self.code.store(), packed);
        bindings.push((part.cotangent, cotangent));
        self.code.block(&bindings, part.backward)
    }

    pub(super) fn value(&mut self, expr: ExprId) -> Result<ExprId> {
        Ok(self.trace(expr)?.0)
    }

    pub(super) fn values(&mut self, exprs: &[ExprId]) -> Result<(Vec<ExprId>, Vec<Flow>)> {
        let traced = exprs.iter().map(|expr| self.trace(*expr)).collect::<Result<Vec<_>>>()?;
        Ok(traced.into_iter().unzip())
    }

    /// Writes the way there through an expression. Gives its value, an atom, and the way back.
    pub(super) fn trace(&mut self, expr: ExprId) -> Result<(ExprId, Flow)> {
        let made = stack::grow(|| self.trace_here(expr));
        self.code.placed(made, expr)
    }

    fn trace_here(&mut self, expr: ExprId) -> Result<(ExprId, Flow)> {
        match self.code.program.store.node(expr) {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) => Ok((expr, Flow::Inert)),
            Node::Var(var) => {
                let known = self.env[&var].clone();
                Ok((known.value, known.place.into()))
            }
            Node::Tuple(fields) => {
                let (values, flows) = self.values(&self.code.args(fields))?;
                Ok((self.code.tuple(&values), fields_flow(flows)))
            }
            Node::Get(number, tuple) => self.get(number, tuple),
            Node::Let(var, value, body) => {
                let (value, flow) = self.trace(value)?;
                self.bound(var, value, flow, body)
            }
            Node::If(condition, then, otherwise) => self.if_(condition, then, otherwise),
            Node::Assert(condition, body) => {
                let (condition, unit) = (self.value(condition)?, self.code.tuple(&[]));
                let check = self.code.store().assert(condition, unit);
                self.code.store().inherit_origin(check, expr);
                self.code.emit(check);
                self.trace(body)
            }
            Node::Lam(..) => self.code.fail("a lambda", "it stands where no primitive takes it"),
            Node::Call(fun, arg) => self.call(fun, arg),
            Node::Construct(data, constructor, arg) => self.construct(data, constructor, arg),
            Node::Match(over, arms) => self.match_(over, &self.code.args(arms)),
            Node::Prim(prim, args) => self.prim(prim, &self.code.args(args), expr),
        }
    }

    fn get(&mut self, number: u32, tuple: ExprId) -> Result<(ExprId, Flow)> {
        let (whole, flow) = self.trace(tuple)?;
        let value = self.code.field(number, whole);
        let flow = match flow {
            Flow::Inert => Flow::Inert,
            Flow::To(Place::Fields(mut fields)) => fields.swap_remove(number as usize).into(),
            Flow::To(Place::At(place)) => Flow::To(Place::At(self.code.store().get(number, place))),
            Flow::Fields(mut flows) => flows.swap_remove(number as usize),
            flow => Flow::Back(Box::new(move |reverse, cotangent| {
                let mut parts: Vec<ExprId> = reverse.code.fields(whole);
                for (other, part) in (0..).zip(&mut parts) {
                    *part = if other == number {
                        cotangent
                    } else {
                        let zero = reverse.code.zero(*part);
                        reverse.code.emit(zero)
                    };
                }
                let all = reverse.code.tuple(&parts);
                reverse.send(flow, all);
            })),
        };
        Ok((value, flow))
    }

    /// The body of a binding. What comes from elsewhere as it is sends its cotangent there; the rest gets accumulators.
    pub(super) fn bound(&mut self, var: VarId, value: ExprId, flow: Flow, body: ExprId) -> Result<(ExprId, Flow)> {
        let name = self.code.program.store.var_name(var).to_owned();
        let (place, own, flow) = self.places(&name, value, flow);
        self.know(var, value, place);
        if matches!(flow, Flow::Inert) {
            return self.trace(body);
        }
        let (result, rest) = self.trace(body)?;
        if matches!(rest, Flow::Inert) && !self.has_accumulators {
            return Ok((result, Flow::Inert));
        }
        let back = Flow::Back(Box::new(move |reverse, cotangent| {
            let total = reverse.collect(&own, value, |reverse| reverse.send(rest, cotangent));
            reverse.send(flow, total);
        }));
        Ok((result, back))
    }

    /// Where cotangents of a value go; of these places, the accumulators of its own, and what becomes of what these collect.
    fn places(&mut self, name: &str, value: ExprId, flow: Flow) -> (Place, Place, Flow) {
        match flow {
            Flow::Inert => (Place::Nowhere, Place::Nowhere, Flow::Inert),
            Flow::To(place) if self.is_alias(&place, value) => (place, Place::Nowhere, Flow::Inert),
            Flow::Fields(flows) => {
                let (mut all, mut own, mut rest) = (vec![], vec![], vec![]);
                for (number, flow) in (0..).zip(flows) {
                    let part = self.code.field(number, value);
                    let (place, own_part, flow) = self.places(name, part, flow);
                    all.push(place);
                    own.push(own_part);
                    rest.push(flow);
                }
                (Place::Fields(all), Place::Fields(own), fields_flow(rest))
            }
            flow => {
                let place = self.new_place(name, value);
                (place.clone(), place, flow)
            }
        }
    }

    /// Whether to add to a place whenever a value that came from there is used. Numbers are summed first.
    fn is_alias(&self, place: &Place, value: ExprId) -> bool {
        match place {
            Place::At(at) => {
                let is_whole = matches!(self.code.program.store.node(*at), Node::Var(_));
                is_whole || !self.code.program.store.types.has_trivial_shape(self.code.ty(value))
            }
            _ => true,
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ExprId], expr: ExprId) -> Result<(ExprId, Flow)> {
        if prim.is_function() {
            return self.scalar(prim, args);
        }
        if let Some(plain) = desugar(self.code.store(), prim, args) {
            return self.trace(plain);
        }
        match prim {
            Prim::Build | Prim::Sumbuild => self.over_indices(prim, args),
            Prim::Fold | Prim::MapAccum => self.fold(prim, args),
            Prim::Accumulate => self.source_accumulate(args),
            Prim::AddTo => self.source_add(args),
            _ => self.strict(prim, args, expr),
        }
    }

    fn scalar(&mut self, prim: Prim, args: &[ExprId]) -> Result<(ExprId, Flow)> {
        let (values, mut flows) = self.values(args)?;
        let value = self.code.prim(prim, &values);
        if self.code.ty(value) != TypeId::FLOAT || flows.iter().all(|flow| matches!(flow, Flow::Inert)) {
            return Ok((value, Flow::Inert));
        }
        if let Some(own) = self.code.overridden(Derivation::Rev, prim, &values) {
            let is_single = values.len() == 1;
            let at = if is_single { values[0] } else { self.code.tuple(&values) };
            let flow = if is_single { flows.swap_remove(0) } else { fields_flow(flows) };
            return Ok((value, self.through(own, at, flow)));
        }
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            let partials = partials(reverse.code.store(), prim, &values, value);
            for (partial, flow) in partials.into_iter().zip(flows) {
                if matches!(flow, Flow::Inert) {
                    continue;
                }
                if let Some(part) = partial.apply(reverse.code.store(), cotangent) {
                    let part = reverse.code.emit(part);
                    reverse.send(flow, part);
                }
            }
        };
        Ok((value, Flow::Back(Box::new(back))))
    }

    /// The way back by a `rev`.
    pub(super) fn through(&mut self, rev: crate::ir::FunId, at: ExprId, flow: Flow) -> Flow {
        Flow::Back(Box::new(move |reverse, cotangent| {
            let both = reverse.code.tuple(&[at, cotangent]);
            let part = reverse.code.store().call(rev, both);
            let part = reverse.code.emit(part);
            reverse.send(flow, part);
        }))
    }

    /// Primitives that take values only.
    fn strict(&mut self, prim: Prim, args: &[ExprId], expr: ExprId) -> Result<(ExprId, Flow)> {
        let (values, mut flows) = self.values(args)?;
        let made = self.code.store().prim(prim, &values);
        self.code.store().inherit_origin(made, expr);
        let value = self.code.emit(made);
        let is_constant = matches!(prim, Prim::Size | Prim::Shape | Prim::Zero | Prim::Eq | Prim::Ne | Prim::Print);
        if is_constant || flows.iter().all(|flow| matches!(flow, Flow::Inert)) {
            return Ok((value, Flow::Inert));
        }
        if prim >= Prim::LmApply {
            return self.linear(prim, values, flows).map(|flow| (value, flow));
        }
        if matches!(prim, Prim::Trace | Prim::Inline | Prim::Copydown) {
            return Ok((value, flows.swap_remove(0)));
        }
        if let (Prim::Index, Some(Flow::To(Place::At(place)))) = (prim, flows.get(1)) {
            let part = self.code.store().prim(Prim::Index, &[values[0], *place]);
            return Ok((value, Flow::To(Place::At(part))));
        }
        let back =
            move |reverse: &mut Reverse<'_>, cotangent: ExprId| reverse.send_strict(prim, &values, flows, cotangent);
        Ok((value, Flow::Back(Box::new(back))))
    }

    fn send_strict(&mut self, prim: Prim, values: &[ExprId], flows: Vec<Flow>, cotangent: ExprId) {
        for (number, flow) in flows.into_iter().enumerate() {
            if matches!(flow, Flow::Inert) {
                continue;
            }
            let part = self.strict_part(prim, values, number, cotangent);
            let part = self.code.emit(part);
            self.send(flow, part);
        }
    }

    /// The cotangent of one argument.
    fn strict_part(&mut self, prim: Prim, values: &[ExprId], number: usize, dt: ExprId) -> ExprId {
        let store = self.code.store();
        match (prim, number) {
            (Prim::TsNeg, _) => store.prim(Prim::TsNeg, &[dt]),
            (Prim::TsScale, 0) => {
                let x = tangent_part(store, values[1]);
                store.prim(Prim::TsDot, &[x, dt])
            }
            (Prim::TsScale, _) => store.prim(Prim::TsScale, &[values[0], dt]),
            (Prim::TsDot, _) => {
                let other = tangent_part(store, values[1 - number]);
                store.prim(Prim::TsScale, &[dt, other])
            }
            (Prim::Delta, _) => {
                let (is_equal, zero) = (store.prim(Prim::Eq, &values[..2]), self.code.zero(values[2]));
                self.code.store().if_(is_equal, dt, zero)
            }
            (Prim::DeltaVec, _) => {
                let (inside, zero) = (in_range(store, values[1], values[0]), self.code.zero(values[2]));
                let part = self.code.store().prim(Prim::Index, &[values[1], dt]);
                self.code.store().if_(inside, part, zero)
            }
            (Prim::VecInit, _) => {
                let at = store.integer(number as i64);
                store.prim(Prim::Index, &[at, dt])
            }
            (Prim::ConstVec, _) => self.summed(values[0], dt, values[1]),
            (Prim::Index, _) => self.one_hot(values, dt),
            // ts_add
            _ => dt,
        }
    }

    /// The sum of a tensor of cotangents, zero if it is empty.
    fn summed(&mut self, size: ExprId, dt: ExprId, like: ExprId) -> ExprId {
        let zero = self.code.zero(like);
        let ty = self.code.ty(zero);
        let (var, place) = self.code.fresh("total", ty);
        self.adding(zero, var, |store| {
            super::desugar::looped(store, Prim::Sumbuild, size, |store, index| {
                let part = store.prim(Prim::Index, &[index, dt]);
                store.prim(Prim::AddTo, &[place, part])
            })
        })
    }

    /// The cotangent of a tensor that is made only to take one element: there is nowhere to add to.
    fn one_hot(&mut self, values: &[ExprId], dt: ExprId) -> ExprId {
        let zero = self.code.zero(values[1]);
        let ty = self.code.ty(zero);
        let (var, place) = self.code.fresh("total", ty);
        self.adding(zero, var, |store| {
            let part = store.prim(Prim::Index, &[values[0], place]);
            store.prim(Prim::AddTo, &[part, dt])
        })
    }

    fn adding(&mut self, zero: ExprId, var: VarId, add: impl FnOnce(&mut crate::ir::Store) -> ExprId) -> ExprId {
        let body = add(self.code.store());
        let lam = self.code.store().lam(var, body);
        let both = self.code.prim(Prim::Accumulate, &[zero, lam]);
        self.code.field(0, both)
    }

    fn construct(&mut self, data: DataId, constructor: u32, arg: ExprId) -> Result<(ExprId, Flow)> {
        let (inner, flow) = self.trace(arg)?;
        let made = self.code.store().construct(data, constructor, inner);
        let value = self.code.emit(made);
        if matches!(flow, Flow::Inert) {
            return Ok((value, Flow::Inert));
        }
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            let part = held(reverse.code.store(), cotangent, constructor as usize, inner);
            let part = reverse.code.emit(part);
            reverse.send(flow, part);
        };
        Ok((value, Flow::Back(Box::new(back))))
    }

    /// The tangent of a sum type.
    pub(super) fn tangent_data(&mut self, ty: TypeId) -> Option<DataId> {
        let tangent = self.code.store().types.tangent(ty);
        match self.code.store().types.get(tangent) {
            Type::Data(data) => Some(data),
            _ => None,
        }
    }
}

/// The way back of a tuple.
pub(super) fn fields_flow(flows: Vec<Flow>) -> Flow {
    if flows.iter().all(|flow| matches!(flow, Flow::Inert)) {
        return Flow::Inert;
    }
    if flows.iter().any(|flow| matches!(flow, Flow::Back(_) | Flow::Fields(_))) {
        return Flow::Fields(flows);
    }
    let place = |flow| if let Flow::To(place) = flow { place } else { Place::Nowhere };
    Flow::To(Place::Fields(flows.into_iter().map(place).collect()))
}
