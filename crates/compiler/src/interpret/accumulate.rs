//! Accumulators: values that are added to in place, part by part.

use super::scalar::Width;
use super::tensor::{elements, position, show_index};
use super::value::Value;
use super::{Frame, Interpreter, Result};
use crate::error::RunError;
use crate::ir::{ExprId, Node, Prim, VarId};
use std::rc::Rc;

/// A step from a value to a part of it.
enum Step {
    Field(u32),
    Index(Value),
}

impl Interpreter<'_> {
    /// `$accumulate`: the variable of the lambda is the accumulator.
    pub(super) fn accumulate(&mut self, args: &[ExprId], frame: &mut Frame) -> Result<Value> {
        let zero = self.eval(args[0], frame)?;
        let Node::Lam(var, body) = self.program.store.node(args[1]) else { return Ok(Value::unit()) };
        let mark = frame.shadowed.len();
        frame.set(var, zero);
        let result = self.eval(body, frame);
        let total = std::mem::replace(frame.place(var), Value::unit());
        frame.restore(mark);
        Ok(Value::tuple(vec![total, result?]))
    }

    /// `$addTo`: only a part of an accumulator can be added to; anything else is a copy that nobody sees.
    pub(super) fn add_to(&mut self, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        if let Some((var, mut path)) = self.path(args[0], frame)? {
            let value = self.eval(args[1], frame)?;
            path.reverse();
            let added = add(self.options.width, frame.place(var), &path, &value);
            self.located(added, at, frame)?;
        }
        Ok(Value::unit())
    }

    /// The variable that a place is part of, and the steps to it, the last one first.
    fn path(&mut self, mut place: ExprId, frame: &mut Frame) -> Result<Option<(VarId, Vec<Step>)>> {
        let mut path = vec![];
        loop {
            place = match self.program.store.node(place) {
                Node::Var(var) => return Ok(Some((var, path))),
                Node::Get(field, whole) => {
                    path.push(Step::Field(field));
                    whole
                }
                Node::Prim(Prim::Index, args) => {
                    let &[index, whole] = self.program.store.list(args) else { return Ok(None) };
                    path.push(Step::Index(self.eval(index, frame)?));
                    whole
                }
                _ => return Ok(None),
            };
        }
    }

    /// `$mapAccum`
    pub(super) fn map_accum(&mut self, args: &[ExprId], frame: &mut Frame) -> Result<Value> {
        let (mut state, vector) = (self.eval(args[1], frame)?, self.eval(args[2], frame)?);
        let mut made = vec![];
        for element in elements(&vector) {
            let step = self.apply(args[0], Value::tuple(vec![state, element.clone()]), frame)?;
            state = step.fields()[0].clone();
            made.push(step.fields()[1].clone());
        }
        Ok(Value::tuple(vec![state, Value::vec(made)]))
    }
}

/// Adds to a part of a value, without a copy of the rest unless it is shared.
fn add(width: Width, target: &mut Value, path: &[Step], value: &Value) -> std::result::Result<(), RunError> {
    match (path, target) {
        ([], target) => *target = width.sum(target, value)?,
        ([Step::Field(field), rest @ ..], Value::Tuple(fields)) => {
            add(width, &mut Rc::make_mut(fields)[*field as usize], rest, value)?;
        }
        ([Step::Index(index), rest @ ..], Value::Tensor(tensor)) => {
            let Some(position) = position(index, &tensor.size) else {
                let size = show_index(&Value::index(&tensor.size));
                return Err(RunError::OutOfRange { index: show_index(index), size });
            };
            add(width, &mut Rc::make_mut(tensor).elements[position], rest, value)?;
        }
        _ => {}
    }
    Ok(())
}
