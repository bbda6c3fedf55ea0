//! Linear maps: application to a tangent, forwards and backwards.

use super::scalar::Width;
use super::space;
use super::value::{Linear, Value};
use crate::error::RunError;
use std::rc::Rc;

type Result<T> = std::result::Result<T, RunError>;

impl Width {
    /// `m ds`
    pub(super) fn forward(self, map: &Linear, ds: &Value) -> Result<Value> {
        Ok(match map {
            Linear::Zero(_, to) => to.clone(),
            Linear::One => ds.clone(),
            Linear::Scale(factor) => self.scale(*factor, ds),
            Linear::ScaleR(tangent) => self.multiple(ds, tangent),
            Linear::Dot(tangent) => Value::Float(self.dot(tangent, ds)?),
            Linear::VCat(maps) => Value::tuple(self.each_forward(maps, ds)?),
            Linear::VCatV(size, maps) => Value::tensor(size.clone(), self.each_forward(maps, ds)?),
            Linear::HCat(maps) => self.sum_forward(maps, ds.fields())?,
            Linear::HCatV(_, maps) => self.sum_forward(maps, elements(ds))?,
            Linear::Compose(outer, inner) => self.forward(outer, &self.forward(inner, ds)?)?,
            Linear::Add(a, b) => self.sum(&self.forward(a, ds)?, &self.forward(b, ds)?)?,
            Linear::Fold(_, steps) => self.fold_forward(steps, ds)?,
        })
    }

    /// `dt m`: the transpose.
    pub(super) fn backward(self, map: &Linear, dt: &Value) -> Result<Value> {
        Ok(match map {
            Linear::Zero(from, _) => from.clone(),
            Linear::One => dt.clone(),
            Linear::Scale(factor) => self.scale(*factor, dt),
            Linear::ScaleR(tangent) => Value::Float(self.dot(tangent, dt)?),
            Linear::Dot(tangent) => self.multiple(dt, tangent),
            Linear::VCat(maps) => self.sum_backward(maps, dt.fields())?,
            Linear::VCatV(_, maps) => self.sum_backward(maps, elements(dt))?,
            Linear::HCat(maps) => Value::tuple(self.each_backward(maps, dt)?),
            Linear::HCatV(size, maps) => Value::tensor(size.clone(), self.each_backward(maps, dt)?),
            Linear::Compose(outer, inner) => self.backward(inner, &self.backward(outer, dt)?)?,
            Linear::Add(a, b) => self.sum(&self.backward(a, dt)?, &self.backward(b, dt)?)?,
            Linear::Fold(zero, steps) => self.fold_backward(zero, steps, dt)?,
        })
    }

    fn multiple(self, factor: &Value, tangent: &Value) -> Value {
        let Value::Float(factor) = factor else { return tangent.clone() };
        self.scale(*factor, &space::tangent_part(tangent))
    }

    fn each_forward(self, maps: &[Rc<Linear>], ds: &Value) -> Result<Vec<Value>> {
        maps.iter().map(|map| self.forward(map, ds)).collect()
    }

    fn each_backward(self, maps: &[Rc<Linear>], dt: &Value) -> Result<Vec<Value>> {
        maps.iter().map(|map| self.backward(map, dt)).collect()
    }

    fn sum_forward(self, maps: &[Rc<Linear>], parts: &[Value]) -> Result<Value> {
        self.sum_all(maps.iter().zip(parts).map(|(map, part)| self.forward(map, part)), None)
    }

    fn sum_backward(self, maps: &[Rc<Linear>], parts: &[Value]) -> Result<Value> {
        self.sum_all(maps.iter().zip(parts).map(|(map, part)| self.backward(map, part)), None)
    }

    fn fold_forward(self, steps: &[Rc<Linear>], ds: &Value) -> Result<Value> {
        let [scope, Value::Tuple(inputs)] = ds.fields() else { return Ok(ds.clone()) };
        let mut state = inputs[0].clone();
        for (step, element) in steps.iter().zip(elements(&inputs[1])) {
            let input = Value::tuple(vec![state, element.clone()]);
            state = self.forward(step, &Value::tuple(vec![scope.clone(), input]))?;
        }
        Ok(state)
    }

    fn fold_backward(self, zero: &Value, steps: &[Rc<Linear>], dt: &Value) -> Result<Value> {
        let (mut scope, mut state, mut parts) = (zero.clone(), dt.clone(), vec![]);
        for step in steps.iter().rev() {
            let back = self.backward(step, &state)?;
            let [to_scope, Value::Tuple(inputs)] = back.fields() else { continue };
            scope = self.sum(&scope, to_scope)?;
            parts.push(inputs[1].clone());
            state = inputs[0].clone();
        }
        parts.reverse();
        Ok(Value::tuple(vec![scope, Value::tuple(vec![state, Value::vec(parts)])]))
    }
}

fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Tensor(tensor) => &tensor.elements,
        _ => &[],
    }
}
