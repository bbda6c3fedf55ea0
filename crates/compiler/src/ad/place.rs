//! Where cotangents go: accumulators and parts of them, and what flows back through an expression.

use super::block::{Binding, root, sum};
use super::reverse::Reverse;
use crate::ir::{ExprId, Prim, Type, VarId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Where the cotangent of a value goes.
#[derive(Clone)]
pub(super) enum Place {
    /// Nowhere: nothing that is asked for depends on the value.
    Nowhere,
    /// The cotangents of the fields of a tuple.
    Fields(Vec<Self>),
    /// An accumulator, or a part of one.
    At(ExprId),
}

/// What a cotangent does on its way back: closures write code for it.
pub(super) type Back = Box<dyn FnOnce(&mut Reverse<'_>, ExprId)>;

/// What becomes of the cotangent of an expression.
pub(super) enum Flow {
    /// It is not wanted.
    Inert,
    /// It is added where the value came from.
    To(Place),
    /// That of each field of a tuple goes its own way.
    Fields(Vec<Self>),
    /// It goes on through what the expression computes.
    Back(Back),
}

impl From<Place> for Flow {
    fn from(place: Place) -> Self {
        match place {
            Place::Nowhere => Self::Inert,
            place => Self::To(place),
        }
    }
}

/// Cotangents that go to a whole accumulator from straight-line code, which needs no accumulator for them: only their sum.
pub(super) type Direct = IndexMap<VarId, Vec<ExprId>, FxBuildHasher>;

/// A block in the making, put aside while another one is written.
pub(super) struct Outer {
    bindings: Vec<Binding>,
    direct: Direct,
}

impl Reverse<'_> {
    /// An accumulator for each part of a value that has a cotangent. The value is an atom.
    pub(super) fn new_place(&mut self, name: &str, value: ExprId) -> Place {
        let ty = self.code.ty(value);
        if !self.code.is_smooth(ty) {
            return Place::Nowhere;
        }
        if let Type::Tuple(_) = self.code.store().types.get(ty) {
            let fields = self.code.fields(value);
            return Place::Fields(fields.into_iter().map(|field| self.new_place(name, field)).collect());
        }
        let tangent = self.code.store().types.tangent(ty);
        Place::At(self.code.fresh(&format!("d{name}"), tangent).1)
    }

    /// Sends a cotangent, an atom, back.
    pub(super) fn send(&mut self, flow: Flow, cotangent: ExprId) {
        match flow {
            Flow::Inert => {}
            Flow::To(place) => self.add(&place, cotangent),
            Flow::Fields(flows) => {
                for (number, flow) in (0..).zip(flows) {
                    let part = self.code.field(number, cotangent);
                    self.send(flow, part);
                }
            }
            Flow::Back(back) => crate::stack::grow(|| back(self, cotangent)),
        }
    }

    /// Adds a cotangent to a place.
    pub(super) fn add(&mut self, place: &Place, cotangent: ExprId) {
        match place {
            Place::Nowhere => {}
            Place::Fields(fields) => {
                for (number, field) in (0..).zip(fields) {
                    let part = self.code.field(number, cotangent);
                    self.add(field, part);
                }
            }
            Place::At(place) => match self.code.program.store.node(*place) {
                crate::ir::Node::Var(var) => self.direct.entry(var).or_default().push(cotangent),
                _ => {
                    self.captured.extend(root(&self.code.program.store, *place));
                    self.code.prim(Prim::AddTo, &[*place, cotangent]);
                }
            },
        }
    }

    /// Starts a block.
    pub(super) fn open(&mut self) -> Outer {
        Outer { bindings: self.code.open(), direct: std::mem::take(&mut self.direct) }
    }

    fn close(&mut self, outer: Outer) -> Outer {
        Outer { bindings: self.code.close(outer.bindings), direct: std::mem::replace(&mut self.direct, outer.direct) }
    }

    /// Ends a block that becomes the body of a loop or a branch: what it adds to accumulators must be added there.
    pub(super) fn seal(&mut self, outer: Outer) -> Vec<Binding> {
        for (var, parts) in std::mem::take(&mut self.direct) {
            self.captured.insert(var);
            let place = self.code.store().var(var);
            for part in parts {
                self.code.prim(Prim::AddTo, &[place, part]);
            }
        }
        self.close(outer).bindings
    }

    /// Writes code that adds to the accumulators of `place`; gives what they become, as the cotangent of `value`.
    pub(super) fn collect(&mut self, place: &Place, value: ExprId, write: impl FnOnce(&mut Self)) -> ExprId {
        let outer = self.open();
        write(self);
        let mut accumulators = vec![];
        self.accumulators(place, value, &mut accumulators);
        if accumulators.iter().any(|(var, _)| self.captured.contains(var)) {
            return self.accumulate(place, value, &accumulators, outer);
        }
        let inner = self.close(outer);
        self.code.append(inner.bindings);
        let mut direct = inner.direct;
        let totals = accumulators.iter().map(|(var, like)| (direct.swap_remove(var).unwrap_or_default(), *like));
        let totals: Vec<ExprId> = totals.map(|(parts, like)| self.total(parts, like)).collect();
        if self.direct.is_empty() {
            self.direct = direct;
        } else {
            direct.into_iter().for_each(|(var, parts)| self.direct.entry(var).or_default().extend(parts));
        }
        self.rebuild(place, value, &mut totals.into_iter())
    }

    /// The accumulators of a place, each with the value that it has the shape of.
    fn accumulators(&mut self, place: &Place, value: ExprId, found: &mut Vec<(VarId, ExprId)>) {
        match place {
            Place::Nowhere => {}
            Place::Fields(fields) => {
                for (number, field) in (0..).zip(fields) {
                    let part = self.code.field(number, value);
                    self.accumulators(field, part, found);
                }
            }
            Place::At(place) => found.extend(root(&self.code.program.store, *place).map(|var| (var, value))),
        }
    }

    fn total(&mut self, parts: Vec<ExprId>, like: ExprId) -> ExprId {
        let total = parts.into_iter().reduce(|total, part| {
            let both = sum(self.code.store(), total, part);
            self.code.emit(both)
        });
        total.unwrap_or_else(|| {
            let zero = self.code.zero(like);
            self.code.emit(zero)
        })
    }

    /// Some code in the block adds to parts of accumulators, or in loops: these must be there around it.
    fn accumulate(&mut self, place: &Place, value: ExprId, all: &[(VarId, ExprId)], outer: Outer) -> ExprId {
        let bindings = self.seal(outer);
        let unit = self.code.tuple(&[]);
        let mut body = self.code.block(&bindings, unit);
        for (var, like) in all.iter().rev() {
            let zero = self.code.zero(*like);
            let lam = self.code.store().lam(*var, body);
            body = self.code.store().prim(Prim::Accumulate, &[zero, lam]);
        }
        let mut rest = self.code.emit(body);
        let totals: Vec<ExprId> = all
            .iter()
            .map(|_| {
                let total = self.code.field(0, rest);
                rest = self.code.field(1, rest);
                total
            })
            .collect();
        self.rebuild(place, value, &mut totals.into_iter())
    }

    /// The cotangent of a value, from those of its parts.
    fn rebuild(&mut self, place: &Place, value: ExprId, totals: &mut impl Iterator<Item = ExprId>) -> ExprId {
        match place {
            Place::Fields(fields) => {
                let parts: Vec<ExprId> = (0..)
                    .zip(fields)
                    .map(|(number, field)| {
                        let part = self.code.field(number, value);
                        self.rebuild(field, part, totals)
                    })
                    .collect();
                self.code.tuple(&parts)
            }
            Place::At(_) => totals.next().unwrap_or(value),
            Place::Nowhere => {
                let zero = self.code.zero(value);
                self.code.emit(zero)
            }
        }
    }
}
