//! Linear maps as values, where `linear` could not do without them: as parameters, in sum types, out of loops.

use super::forward::{Dual, Forward};
use super::place::Flow;
use super::reverse::{Result, Reverse};
use crate::ir::{ExprId, Prim, Type};

const REASON: &str = "this linear map is a value that depends on what is derived by: apply it where it is made";

impl Forward<'_> {
    /// The tangent of what a primitive of linear maps gives: another linear map, or a tangent.
    pub(super) fn linear(&mut self, prim: Prim, duals: &[Dual]) -> Result<Option<ExprId>> {
        let values: Vec<ExprId> = duals.iter().map(|dual| dual.0).collect();
        if matches!(prim, Prim::LmOne | Prim::LmZero) {
            return Ok(None);
        }
        if matches!(prim, Prim::LmVCat | Prim::LmHCat) {
            let tangents: Vec<ExprId> = duals.iter().map(|dual| self.tangent(*dual)).collect();
            return self.made(prim, &tangents).map(Some);
        }
        if prim == Prim::LmFold {
            return self.code.fail(prim.name(), REASON);
        }
        let mut total = None;
        for (number, (_, tangent)) in duals.iter().enumerate() {
            let Some(tangent) = *tangent else { continue };
            let part = if matches!(prim, Prim::LmAdd | Prim::LmVariant) {
                tangent
            } else {
                let mut args = values.clone();
                args[number] = tangent;
                self.made(prim, &args)?
            };
            total = Some(self.add(total, part));
        }
        Ok(total)
    }

    fn made(&mut self, prim: Prim, args: &[ExprId]) -> Result<ExprId> {
        match self.code.store().try_prim(prim, args) {
            Some(made) => Ok(self.code.emit(made)),
            None => self.code.fail(prim.name(), REASON),
        }
    }
}

impl Reverse<'_> {
    /// The way back through a primitive of linear maps.
    pub(super) fn linear(&mut self, prim: Prim, values: Vec<ExprId>, mut flows: Vec<Flow>) -> Result<Flow> {
        match prim {
            Prim::LmOne | Prim::LmZero => return Ok(Flow::Inert),
            Prim::LmVariant => return Ok(flows.swap_remove(0)),
            Prim::LmAdd | Prim::LmDot | Prim::LmScaleR | Prim::LmApply | Prim::LmApplyR => {}
            _ => return self.code.fail(prim.name(), REASON),
        }
        let by_map = match prim {
            Prim::LmApply => Some((0, values[0])),
            Prim::LmApplyR => Some((1, values[1])),
            _ => None,
        };
        if let Some((number, map)) = by_map
            && !matches!(flows[number], Flow::Inert)
            && !self.is_between_tangents(map)
        {
            return self.code.fail(prim.name(), REASON);
        }
        Ok(Flow::Back(Box::new(move |reverse, cotangent| {
            for (number, flow) in flows.into_iter().enumerate().filter(|(_, flow)| !matches!(flow, Flow::Inert)) {
                let part = reverse.linear_part(prim, &values, number, cotangent);
                reverse.send(flow, part);
            }
        })))
    }

    /// Whether the spaces of a linear map are their own tangent spaces, so that `lmDot` and `lmScaleR` make such maps.
    fn is_between_tangents(&mut self, map: ExprId) -> bool {
        let ty = self.code.ty(map);
        let types = &mut self.code.store().types;
        let Type::LinearMap(from, to) = types.get(ty) else { return false };
        types.tangent(from) == from && types.tangent(to) == to
    }

    /// The cotangent of one argument. That of a map is the outer product of what it gave and what it took.
    fn linear_part(&mut self, prim: Prim, values: &[ExprId], number: usize, dt: ExprId) -> ExprId {
        let one = self.code.store().float(1.0);
        let (outer, inner) = match (prim, number) {
            (Prim::LmDot, _) => return self.code.prim(Prim::LmApplyR, &[one, dt]),
            (Prim::LmScaleR, _) => return self.code.prim(Prim::LmApply, &[dt, one]),
            (Prim::LmApply, 1) => return self.code.prim(Prim::LmApplyR, &[dt, values[0]]),
            (Prim::LmApplyR, 0) => return self.code.prim(Prim::LmApply, &[values[1], dt]),
            (Prim::LmApply, _) => (dt, values[1]),
            (Prim::LmApplyR, _) => (values[0], dt),
            _ => return dt,
        };
        let (outer, inner) = (self.code.prim(Prim::LmScaleR, &[outer]), self.code.prim(Prim::LmDot, &[inner]));
        self.code.prim(Prim::LmCompose, &[outer, inner])
    }
}
