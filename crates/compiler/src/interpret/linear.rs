//! Linear maps: application to a tangent, forwards and backwards.

use super::tensor::{elements, map_of};
use super::value::{Linear, Value};
use super::{Frame, Interpreter, Result, space};
use crate::error::{Error, RunError};
use crate::ir::{ExprId, Prim};
use crate::source::Span;
use std::rc::Rc;

impl Interpreter<'_> {
    /// `lmApply` and `lmApplyR`.
    pub(super) fn apply_map(&mut self, prim: Prim, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let (first, second) = (self.eval(args[0], frame)?, self.eval(args[1], frame)?);
        let mut applied = Applied { span: self.place(at, frame), interpreter: self };
        match prim {
            Prim::LmApply => applied.forward(&map_of(&first), &second),
            _ => applied.backward(&map_of(&second), &first),
        }
    }
}

/// An application, with its place for what may go wrong.
struct Applied<'a, 'p> {
    interpreter: &'a mut Interpreter<'p>,
    span: Span,
}

impl Applied<'_, '_> {
    /// `m ds`
    fn forward(&mut self, map: &Linear, ds: &Value) -> Result<Value> {
        let width = self.interpreter.options.width;
        Ok(match map {
            Linear::Zero(_, to) => to.clone(),
            Linear::One => ds.clone(),
            Linear::Scale(factor) => width.scale(*factor, ds),
            Linear::ScaleR(tangent) => self.multiple(ds, tangent),
            Linear::Dot(tangent) => Value::Float(self.located(width.dot(tangent, ds))?),
            Linear::VCat(maps) => Value::tuple(self.each_forward(maps, ds)?),
            Linear::VCatV(size, maps) => Value::tensor(size.clone(), self.each_forward(maps, ds)?),
            Linear::HCat(maps) => self.sum_forward(maps, ds.fields())?,
            Linear::HCatV(_, maps) => self.sum_forward(maps, elements(ds))?,
            Linear::Compose(outer, inner) => {
                let between = self.forward(inner, ds)?;
                self.forward(outer, &between)?
            }
            Linear::Add(a, b) => {
                let (a, b) = (self.forward(a, ds)?, self.forward(b, ds)?);
                self.located(width.sum(&a, &b))?
            }
            Linear::Fold(_, steps) => self.fold_forward(steps, ds)?,
            Linear::Derivative { forward, at, .. } => {
                self.interpreter.call(*forward, Value::tuple(vec![at.clone(), ds.clone()]))?
            }
        })
    }

    /// `dt m`: the transpose.
    fn backward(&mut self, map: &Linear, dt: &Value) -> Result<Value> {
        let width = self.interpreter.options.width;
        Ok(match map {
            Linear::Zero(from, _) => from.clone(),
            Linear::One => dt.clone(),
            Linear::Scale(factor) => width.scale(*factor, dt),
            Linear::ScaleR(tangent) => Value::Float(self.located(width.dot(tangent, dt))?),
            Linear::Dot(tangent) => self.multiple(dt, tangent),
            Linear::VCat(maps) => self.sum_backward(maps, dt.fields())?,
            Linear::VCatV(_, maps) => self.sum_backward(maps, elements(dt))?,
            Linear::HCat(maps) => Value::tuple(self.each_backward(maps, dt)?),
            Linear::HCatV(size, maps) => Value::tensor(size.clone(), self.each_backward(maps, dt)?),
            Linear::Compose(outer, inner) => {
                let between = self.backward(outer, dt)?;
                self.backward(inner, &between)?
            }
            Linear::Add(a, b) => {
                let (a, b) = (self.backward(a, dt)?, self.backward(b, dt)?);
                self.located(width.sum(&a, &b))?
            }
            Linear::Fold(zero, steps) => self.fold_backward(zero, steps, dt)?,
            Linear::Derivative { reverse, at, .. } => {
                self.interpreter.call(*reverse, Value::tuple(vec![at.clone(), dt.clone()]))?
            }
        })
    }

    fn located<T>(&self, result: std::result::Result<T, RunError>) -> Result<T> {
        result.map_err(|error| Error::new(self.span, error.into()))
    }

    fn multiple(&self, factor: &Value, tangent: &Value) -> Value {
        let Value::Float(factor) = factor else { return tangent.clone() };
        self.interpreter.options.width.scale(*factor, &space::tangent_part(tangent))
    }

    fn each_forward(&mut self, maps: &[Rc<Linear>], ds: &Value) -> Result<Vec<Value>> {
        maps.iter().map(|map| self.forward(map, ds)).collect()
    }

    fn each_backward(&mut self, maps: &[Rc<Linear>], dt: &Value) -> Result<Vec<Value>> {
        maps.iter().map(|map| self.backward(map, dt)).collect()
    }

    fn sum_forward(&mut self, maps: &[Rc<Linear>], parts: &[Value]) -> Result<Value> {
        let made = maps.iter().zip(parts).map(|(map, part)| self.forward(map, part)).collect::<Result<Vec<_>>>()?;
        self.sum(made)
    }

    fn sum_backward(&mut self, maps: &[Rc<Linear>], parts: &[Value]) -> Result<Value> {
        let made = maps.iter().zip(parts).map(|(map, part)| self.backward(map, part)).collect::<Result<Vec<_>>>()?;
        self.sum(made)
    }

    fn sum(&self, values: Vec<Value>) -> Result<Value> {
        self.located(self.interpreter.options.width.sum_all(values.into_iter().map(Ok), None))
    }

    fn fold_forward(&mut self, steps: &[Rc<Linear>], ds: &Value) -> Result<Value> {
        let [scope, Value::Tuple(inputs)] = ds.fields() else { return Ok(ds.clone()) };
        let mut state = inputs[0].clone();
        for (step, element) in steps.iter().zip(elements(&inputs[1])) {
            let input = Value::tuple(vec![state, element.clone()]);
            state = self.forward(step, &Value::tuple(vec![scope.clone(), input]))?;
        }
        Ok(state)
    }

    fn fold_backward(&mut self, zero: &Value, steps: &[Rc<Linear>], dt: &Value) -> Result<Value> {
        let width = self.interpreter.options.width;
        let (mut scope, mut state, mut parts) = (zero.clone(), dt.clone(), vec![]);
        for step in steps.iter().rev() {
            let back = self.backward(step, &state)?;
            let [to_scope, Value::Tuple(inputs)] = back.fields() else { continue };
            scope = self.located(width.sum(&scope, to_scope))?;
            parts.push(inputs[1].clone());
            state = inputs[0].clone();
        }
        parts.reverse();
        Ok(Value::tuple(vec![scope, Value::tuple(vec![state, Value::vec(parts)])]))
    }
}
