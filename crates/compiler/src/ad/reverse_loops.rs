//! Reverse mode of loops: what the way there saves in each step, and the steps back.

use super::desugar::looped;
use super::place::{Flow, Place};
use super::reverse::{Known, Part, Result, Reverse};
use crate::ir::{ExprId, Node, Prim, TypeId, VarId};

impl Reverse<'_> {
    /// `build` and `sumbuild`. The way back is a loop that gives nothing and adds to accumulators.
    pub(super) fn over_indices(&mut self, prim: Prim, args: &[ExprId]) -> Result<(ExprId, Flow)> {
        let (size, (var, body)) = (self.value(args[0])?, self.code.lambda(args[1]));
        let (index, at) = self.code.fresh_like(var);
        self.know(var, at, Place::Nowhere);
        let part = self.plain_part(body)?;
        if part.is_inert {
            return Ok((self.there(prim, size, index, &part, None), Flow::Inert));
        }
        let saved = (!part.tape.is_empty()).then(|| part.tape.pack(self.code.store()));
        let both = self.there(prim, size, index, &part, saved);
        let (value, tapes) = if saved.is_some() { self.code.pair(both) } else { (both, self.code.tuple(&[])) };
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            let store = reverse.code.store();
            let dt = if prim == Prim::Build { store.prim(Prim::Index, &[at, cotangent]) } else { cotangent };
            let packed = if saved.is_some() { store.prim(Prim::Index, &[at, tapes]) } else { tapes };
            let step = reverse.unpacked(&part, dt, packed);
            let lam = reverse.code.store().lam(index, step);
            reverse.code.prim(Prim::Sumbuild, &[size, lam]);
        };
        Ok((value, Flow::Back(Box::new(back))))
    }

    /// [`Reverse::backward`] of a cotangent and a tape that are no atoms.
    pub(super) fn unpacked(&mut self, part: &Part, cotangent: ExprId, packed: ExprId) -> ExprId {
        let outer = self.code.open();
        let packed = self.code.emit(packed);
        let bindings = self.code.close(outer);
        let body = self.backward(part, cotangent, packed);
        self.code.block(&bindings, body)
    }

    /// The loop there; with a tape, it gives what the loop gives and a tensor of what each step saves.
    fn there(&mut self, prim: Prim, size: ExprId, index: VarId, part: &Part, saved: Option<ExprId>) -> ExprId {
        let Some(saved) = saved else {
            let body = self.code.block(&part.forward, part.value);
            let lam = self.code.store().lam(index, body);
            return self.code.prim(prim, &[size, lam]);
        };
        let ty = self.code.ty(part.value);
        if prim == Prim::Sumbuild && self.code.program.store.types.has_trivial_shape(ty) && self.is_own_tangent(ty) {
            return self.sum_there(size, index, part, saved);
        }
        let is_saved = prim == Prim::Build && saved == part.value;
        let result = if is_saved { saved } else { self.code.tuple(&[part.value, saved]) };
        let body = self.code.block(&part.forward, result);
        let lam = self.code.store().lam(index, body);
        let made = self.code.prim(Prim::Build, &[size, lam]);
        if is_saved {
            return self.code.tuple(&[made, made]);
        }
        let both = self.code.prim(Prim::Unzip, &[made]);
        if prim == Prim::Build {
            return both;
        }
        let (values, tapes) = self.code.pair(both);
        let total = self.code.prim(Prim::Sum, &[values]);
        self.code.tuple(&[total, tapes])
    }

    fn is_own_tangent(&mut self, ty: TypeId) -> bool {
        self.code.store().types.tangent(ty) == ty
    }

    /// A sum that also saves: no tensor of what is summed.
    fn sum_there(&mut self, size: ExprId, index: VarId, part: &Part, saved: ExprId) -> ExprId {
        let zero = self.code.zero(part.value);
        let ty = self.code.ty(zero);
        let (total, place) = self.code.fresh("total", ty);
        let outer = self.code.open();
        self.code.append(part.forward.clone());
        self.code.prim(Prim::AddTo, &[place, part.value]);
        let bindings = self.code.close(outer);
        let body = self.code.block(&bindings, saved);
        let lam = self.code.store().lam(index, body);
        let tapes = self.code.store().prim(Prim::Build, &[size, lam]);
        let lam = self.code.store().lam(total, tapes);
        self.code.prim(Prim::Accumulate, &[zero, lam])
    }

    /// `fold` and `$mapAccum`: the way back folds from the last element to the first.
    pub(super) fn fold(&mut self, prim: Prim, args: &[ExprId]) -> Result<(ExprId, Flow)> {
        let ((init, init_flow), (vector, vector_flow)) = (self.trace(args[1])?, self.trace(args[2])?);
        let (var, body) = self.code.lambda(args[0]);
        let (param, at) = self.code.fresh_like(var);
        let outer = self.code.open();
        let value = self.code.named(at);
        let mut named = self.code.close(outer);
        let (state, element) = (self.code.field(0, value), self.code.field(1, value));
        let places = [self.new_place("state", state), self.new_place("x", element)];
        let place = Place::Fields(places.to_vec());
        self.know(var, value, place.clone());
        let params: Vec<VarId> = named.iter().map(|(var, _)| *var).collect();
        let mut part =
            self.part(&params, body, |reverse, send| reverse.collect(&place, value, |reverse| send(reverse)))?;
        named.append(&mut part.forward);
        part.forward = named;
        let both = self.fold_there(prim, (init, vector), param, &part);
        let (value, tapes) = self.code.pair(both);
        if part.is_inert {
            return Ok((value, Flow::Inert));
        }
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            reverse.fold_back(prim, (init, vector), &part, tapes, cotangent, (init_flow, vector_flow));
        };
        Ok((value, Flow::Back(Box::new(back))))
    }

    /// Gives the value and the tapes.
    fn fold_there(&mut self, prim: Prim, (init, vector): (ExprId, ExprId), param: VarId, part: &Part) -> ExprId {
        let packed = part.tape.pack(self.code.store());
        let is_fold = prim == Prim::Fold;
        let made = if is_fold { vec![part.value] } else { self.code.fields(part.value) };
        let out = match made[..] {
            [state] => vec![state, packed],
            [state, made] => {
                let both = self.code.tuple(&[made, packed]);
                vec![state, both]
            }
            _ => made,
        };
        let out = self.code.tuple(&out);
        let body = self.code.block(&part.forward, out);
        let lam = self.code.store().lam(param, body);
        let result = self.code.prim(Prim::MapAccum, &[lam, init, vector]);
        if is_fold {
            return result;
        }
        let (state, all) = (self.code.field(0, result), self.code.field(1, result));
        let all = self.code.prim(Prim::Unzip, &[all]);
        let (made, tapes) = self.code.pair(all);
        let value = self.code.tuple(&[state, made]);
        self.code.tuple(&[value, tapes])
    }

    fn fold_back(
        &mut self,
        prim: Prim,
        (init, vector): (ExprId, ExprId),
        part: &Part,
        tapes: ExprId,
        cotangent: ExprId,
        (init_flow, vector_flow): (Flow, Flow),
    ) {
        let zero = self.code.zero(init);
        let size = self.code.prim(Prim::Size, &[vector]);
        let count = looped(self.code.store(), Prim::Build, size, |_, index| index);
        let count = self.code.emit(count);
        let start = if prim == Prim::Fold { cotangent } else { self.code.field(0, cotangent) };
        let types = [self.code.ty(zero), TypeId::INTEGER];
        let ty = self.code.store().types.tuple(&types);
        let (param, at) = self.code.fresh("dstate_i", ty);
        let outer = self.code.open();
        let (dstate, number) = (self.code.field(0, at), self.code.field(1, at));
        let one = self.code.store().integer(1);
        let last = self.code.prim(Prim::Sub, &[size, one]);
        let index = self.code.prim(Prim::Sub, &[last, number]);
        let dt = match prim {
            Prim::Fold => dstate,
            _ => {
                let made = self.code.field(1, cotangent);
                let made = self.code.prim(Prim::Index, &[index, made]);
                self.code.tuple(&[dstate, made])
            }
        };
        let packed = self.code.prim(Prim::Index, &[index, tapes]);
        let step = self.backward(part, dt, packed);
        let step = self.code.emit(step);
        let bindings = self.code.close(outer);
        let (dstate, dx) = (self.code.field(0, step), self.code.field(1, step));
        // `$mapAccum` gives the cotangents of the elements, the last one first.
        let result = self.code.tuple(&[dstate, dx]);
        let body = self.code.block(&bindings, result);
        let lam = self.code.store().lam(param, body);
        let both = self.code.prim(Prim::MapAccum, &[lam, start, count]);
        let dinit = self.code.field(0, both);
        self.send(init_flow, dinit);
        if !matches!(vector_flow, Flow::Inert) {
            let backwards = self.code.field(1, both);
            let forwards = looped(self.code.store(), Prim::Build, size, |store, index| {
                let one = store.integer(1);
                let last = store.prim(Prim::Sub, &[size, one]);
                let from = store.prim(Prim::Sub, &[last, index]);
                store.prim(Prim::Index, &[from, backwards])
            });
            let forwards = self.code.emit(forwards);
            self.send(vector_flow, forwards);
        }
    }

    /// An accumulator of the source: what is added to it has its final cotangent.
    pub(super) fn source_accumulate(&mut self, args: &[ExprId]) -> Result<(ExprId, Flow)> {
        let ((start, start_flow), (var, body)) = (self.trace(args[0])?, self.code.lambda(args[1]));
        let (total, at) = self.code.fresh_like(var);
        let ty = self.code.program.store.var_type(var);
        let (source, source_at) = self.code.fresh("dtotal", ty);
        self.env.insert(var, Known { value: at, place: Place::Nowhere, source: Some(source_at) });
        let part = self.plain_part(body)?;
        let packed = part.tape.pack(self.code.store());
        let pair = self.code.tuple(&[part.value, packed]);
        let body = self.code.block(&part.forward, pair);
        let lam = self.code.store().lam(total, body);
        let made = self.code.prim(Prim::Accumulate, &[start, lam]);
        let rest = self.code.field(1, made);
        let total_value = self.code.field(0, made);
        let (result, tape) = self.code.pair(rest);
        let value = self.code.tuple(&[total_value, result]);
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            let (dtotal, dresult) = (reverse.code.field(0, cotangent), reverse.code.field(1, cotangent));
            reverse.code.bind(source, dtotal);
            let step = reverse.backward(&part, dresult, tape);
            reverse.code.emit(step);
            reverse.send(start_flow, dtotal);
        };
        Ok((value, Flow::Back(Box::new(back))))
    }

    pub(super) fn source_add(&mut self, args: &[ExprId]) -> Result<(ExprId, Flow)> {
        let (place, source) = self.source_place(args[0])?;
        let (value, flow) = self.trace(args[1])?;
        self.has_accumulators = true;
        self.code.prim(Prim::AddTo, &[place, value]);
        let unit = self.code.tuple(&[]);
        let (Some(source), false) = (source, matches!(flow, Flow::Inert)) else { return Ok((unit, Flow::Inert)) };
        let back = move |reverse: &mut Reverse<'_>, _: ExprId| {
            let part = reverse.code.emit(source);
            reverse.send(flow, part);
        };
        Ok((unit, Flow::Back(Box::new(back))))
    }

    /// A place in an accumulator of the source, and the same part of its cotangent.
    fn source_place(&mut self, place: ExprId) -> Result<(ExprId, Option<ExprId>)> {
        match self.code.program.store.node(place) {
            Node::Var(var) => Ok((self.env[&var].value, self.env[&var].source)),
            Node::Get(number, whole) => {
                let (whole, source) = self.source_place(whole)?;
                let store = self.code.store();
                Ok((store.get(number, whole), source.map(|source| store.get(number, source))))
            }
            Node::Prim(Prim::Index, list) => {
                let args = self.code.args(list);
                let (index, (whole, source)) = (self.value(args[0])?, self.source_place(args[1])?);
                let store = self.code.store();
                let part = store.prim(Prim::Index, &[index, whole]);
                Ok((part, source.map(|source| store.prim(Prim::Index, &[index, source]))))
            }
            _ => self.code.fail("$addTo", "its first argument is no part of an accumulator"),
        }
    }
}
