//! Primitives over tensors, tangents and linear maps.

use super::value::{Linear, Value};
use super::{Frame, Interpreter, Result, space};
use crate::error::RunError;
use crate::ir::{ExprId, Prim, Type};
use std::rc::Rc;

/// Most elements of one tensor.
const MOST_ELEMENTS: usize = 1 << 28;

/// The sizes that an index type value says.
fn sizes(value: &Value) -> std::result::Result<Vec<usize>, RunError> {
    let signed = value.integers();
    let size: Option<Vec<usize>> = signed.iter().map(|size| usize::try_from(*size).ok()).collect();
    let size = size.ok_or_else(|| RunError::NegativeSize(show_index(value)))?;
    let count = size.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
    match count {
        Some(count) if count <= MOST_ELEMENTS => Ok(size),
        _ => Err(RunError::TooLarge(show_index(value))),
    }
}

/// An index or a size as programs write it.
pub(super) fn show_index(value: &Value) -> String {
    match value {
        Value::Tuple(_) => {
            let parts: Vec<String> = value.integers().iter().map(i64::to_string).collect();
            format!("(tuple {})", parts.join(" "))
        }
        one => one.to_string(),
    }
}

/// The position of an index in a tensor of this size, if it is in range.
pub(super) fn position(index: &Value, size: &[usize]) -> Option<usize> {
    index.integers().iter().zip(size).try_fold(0, |position, (index, size)| {
        let index = usize::try_from(*index).ok().filter(|index| index < size)?;
        Some(position * size + index)
    })
}

/// Every index below a size, the last one fastest.
fn indices(size: Vec<usize>) -> impl Iterator<Item = Value> {
    let count: usize = size.iter().product();
    (0..count).map(move |mut number| {
        let mut index = vec![0; size.len()];
        for (part, size) in index.iter_mut().zip(&size).rev() {
            *part = number % size;
            number /= size;
        }
        Value::index(&index)
    })
}

fn one_hot(size: &Value, index: &Value, element: &Value) -> std::result::Result<Value, RunError> {
    let size = sizes(size)?;
    let mut elements = vec![space::zero(element); size.iter().product()];
    if let Some(position) = position(index, &size) {
        elements[position] = element.clone();
    }
    Ok(Value::tensor(size, elements))
}

pub(super) fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Tensor(tensor) => &tensor.elements,
        _ => &[],
    }
}

fn size_of(value: &Value) -> &[usize] {
    match value {
        Value::Tensor(tensor) => &tensor.size,
        _ => &[],
    }
}

pub(super) fn map_of(value: &Value) -> Rc<Linear> {
    match value {
        Value::Linear(map) => map.clone(),
        _ => Rc::new(Linear::One),
    }
}

fn maps_of(values: &[Value]) -> Vec<Rc<Linear>> {
    values.iter().map(map_of).collect()
}

impl Interpreter<'_> {
    /// Primitives that apply a lambda for each index or element.
    pub(super) fn looping(&mut self, prim: Prim, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        match prim {
            Prim::Build | Prim::Sumbuild => self.over_indices(prim, args, at, frame),
            Prim::Sumbuild4 | Prim::Sumbuild8 => self.in_lanes(prim, args, at, frame),
            Prim::Fold => {
                let (mut state, vector) = (self.eval(args[1], frame)?, self.eval(args[2], frame)?);
                for element in elements(&vector) {
                    state = self.apply(args[0], Value::tuple(vec![state, element.clone()]), frame)?;
                }
                Ok(state)
            }
            Prim::Map => {
                let over = self.eval(args[1], frame)?;
                let made = elements(&over).iter().map(|element| self.apply(args[0], element.clone(), frame));
                let made = made.collect::<Result<_>>()?;
                Ok(Value::tensor(size_of(&over).to_vec(), made))
            }
            Prim::Map2 => self.map2(args, at, frame),
            _ => self.diag(args, at, frame),
        }
    }

    fn over_indices(&mut self, prim: Prim, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let size = self.eval(args[0], frame)?;
        let size = self.located(sizes(&size), at, frame)?;
        if prim == Prim::Build {
            let made = indices(size.clone()).map(|index| self.apply(args[1], index, frame)).collect::<Result<_>>()?;
            return Ok(Value::tensor(size, made));
        }
        let mut total: Option<Value> = None;
        for index in indices(size) {
            let value = self.apply(args[1], index, frame)?;
            total = Some(match total {
                None => value,
                Some(total) => self.located(self.options.width.sum(&total, &value), at, frame)?,
            });
        }
        match total.or_else(|| space::zero_of_type(&self.program.store.types, self.program.store.ty(at))) {
            Some(total) => Ok(total),
            None => self.fail(at, frame, RunError::EmptySum),
        }
    }

    fn in_lanes(&mut self, prim: Prim, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let size = self.eval(args[0], frame)?;
        let size = self.located(sizes(&size), at, frame)?;
        let mut terms = vec![];
        for index in indices(size) {
            if let Value::Float(term) = self.apply(args[1], index, frame)? {
                terms.push(term);
            }
        }
        Ok(Value::Float(self.options.width.sum_in_lanes(&terms, prim.lanes().unwrap_or(1))))
    }

    fn map2(&mut self, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let (first, second) = (self.eval(args[1], frame)?, self.eval(args[2], frame)?);
        if size_of(&first) != size_of(&second) {
            let show = |value| show_index(&Value::index(size_of(value)));
            return self.fail(at, frame, RunError::SizesDiffer { left: show(&first), right: show(&second) });
        }
        let pairs = elements(&first).iter().zip(elements(&second));
        let made = pairs.map(|(a, b)| self.apply(args[0], Value::tuple(vec![a.clone(), b.clone()]), frame));
        let made = made.collect::<Result<_>>()?;
        Ok(Value::tensor(size_of(&first).to_vec(), made))
    }

    fn diag(&mut self, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let (rows, columns) = (self.eval(args[0], frame)?, self.eval(args[1], frame)?);
        let size = self.located(sizes(&rows), at, frame)?;
        let mut made = vec![];
        for index in indices(size) {
            let element = self.apply(args[2], index.clone(), frame)?;
            made.push(self.located(one_hot(&columns, &index, &element), at, frame)?);
        }
        Ok(Value::vec(made))
    }

    /// `buildFromSparse` and its form for several tensors at once.
    pub(super) fn sparse(&mut self, prim: Prim, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let (shape, count) = (self.eval(args[0], frame)?, self.eval(args[1], frame)?);
        let count = self.located(sizes(&count), at, frame)?;
        let is_tupled = prim == Prim::BuildFromSparseTupled;
        let store = &self.program.store;
        let types = match store.types.get(store.ty(at)) {
            Type::Tuple(fields) if is_tupled => store.types.list(fields).to_vec(),
            _ => vec![store.ty(at)],
        };
        let shapes = if is_tupled { shape.fields().to_vec() } else { vec![shape] };
        let mut results = vec![];
        for (ty, shape) in types.iter().zip(&shapes) {
            results.push(self.located(self.sparse_zero(*ty, shape), at, frame)?);
        }
        for index in indices(count) {
            let made = self.apply(args[2], index, frame)?;
            let pairs = if is_tupled { made.fields().to_vec() } else { vec![made] };
            for (result, pair) in results.iter_mut().zip(&pairs) {
                self.located(self.add_at(result, pair), at, frame)?;
            }
        }
        let mut results: Vec<Value> =
            results.into_iter().map(|(size, elements)| Value::tensor(size, elements)).collect();
        Ok(if is_tupled { Value::tuple(results) } else { results.remove(0) })
    }

    /// The size and the zeros of a tensor, given its size or its skeleton.
    fn sparse_zero(
        &self,
        ty: crate::ir::TypeId,
        shape: &Value,
    ) -> std::result::Result<(Vec<usize>, Vec<Value>), RunError> {
        let types = &self.program.store.types;
        if let Value::Tensor(skeleton) = shape {
            let Type::Tensor(_, element) = types.get(ty) else { return Err(RunError::EmptySum) };
            let zeros = skeleton.elements.iter().map(|part| space::zero_like_skeleton(types, element, part));
            let zeros: Option<Vec<Value>> = zeros.collect();
            return Ok((skeleton.size.clone(), zeros.ok_or(RunError::EmptySum)?));
        }
        let size = sizes(shape)?;
        let Type::Tensor(_, element) = types.get(ty) else { return Err(RunError::EmptySum) };
        let zero = space::zero_of_type(types, element).ok_or(RunError::EmptySum)?;
        let count = size.iter().product();
        Ok((size, vec![zero; count]))
    }

    /// Adds `(tuple i e)`; what is out of range adds to nothing, as with `deltaVec`.
    fn add_at(
        &self,
        (size, elements): &mut (Vec<usize>, Vec<Value>),
        pair: &Value,
    ) -> std::result::Result<(), RunError> {
        let [index, element] = pair.fields() else { return Ok(()) };
        if let Some(position) = position(index, size) {
            elements[position] = self.options.width.sum(&elements[position], element)?;
        }
        Ok(())
    }

    /// The derivative of a fold, with the map of each step computed now.
    pub(super) fn lm_fold(&mut self, args: &[ExprId], frame: &mut Frame) -> Result<Value> {
        let values = self.eval_all(&[args[0], args[3], args[4]], frame)?;
        let [zero, init, vector] = &values[..] else { return Ok(Value::unit()) };
        let (mut state, mut steps) = (init.clone(), vec![]);
        for element in elements(vector) {
            let input = Value::tuple(vec![state, element.clone()]);
            steps.push(map_of(&self.apply(args[2], input.clone(), frame)?));
            state = self.apply(args[1], input, frame)?;
        }
        Ok(Value::Linear(Rc::new(Linear::Fold(zero.clone(), steps))))
    }

    /// Primitives that only look at the values of their arguments.
    pub(super) fn pure(
        &self,
        prim: Prim,
        args: &[ExprId],
        values: &[Value],
        at: ExprId,
    ) -> std::result::Result<Value, RunError> {
        let (width, store) = (self.options.width, &self.program.store);
        Ok(match (prim, values) {
            (Prim::Index, [index, over]) => match position(index, size_of(over)) {
                Some(position) => elements(over)[position].clone(),
                None => {
                    let size = show_index(&Value::index(size_of(over)));
                    return Err(RunError::OutOfRange { index: show_index(index), size });
                }
            },
            (Prim::Size, [over]) => Value::index(size_of(over)),
            (Prim::Sum, [over]) => {
                let empty = space::zero_of_type(&store.types, store.ty(at));
                width.sum_all(elements(over).iter().cloned().map(Ok), empty)?
            }
            (Prim::Unzip, [over]) => unzip(over, store.types.fields(store.ty(at)).map_or(0, <[_]>::len)),
            (Prim::Delta, [i, j, element]) => {
                if i == j {
                    element.clone()
                } else {
                    space::zero(element)
                }
            }
            (Prim::DeltaVec, [size, index, element]) => one_hot(size, index, element)?,
            (Prim::ConstVec, [size, element]) => {
                let size = sizes(size)?;
                let count = size.iter().product();
                Value::tensor(size, vec![element.clone(); count])
            }
            (Prim::VecInit, _) => Value::vec(values.to_vec()),
            (Prim::Shape, [value]) => space::shape(&store.types, store.ty(args[0]), value),
            (Prim::Zero, [value]) => space::tangent_zero(value),
            (Prim::TsNeg, [value]) => width.negate(value),
            (Prim::TsAdd | Prim::LmAdd, [a, b]) => width.sum(a, b)?,
            (Prim::TsScale, [Value::Float(factor), value]) => width.scale(*factor, value),
            (Prim::TsDot, [a, b]) => Value::Float(width.dot(a, b)?),
            (Prim::Eq, [a, b]) => Value::Bool(a == b),
            (Prim::Ne, [a, b]) => Value::Bool(a != b),
            _ => Value::Linear(Rc::new(make_map(prim, values))),
        })
    }
}

fn unzip(over: &Value, fields: usize) -> Value {
    let field = |number: usize| {
        let parts = elements(over).iter().map(|element| element.fields()[number].clone()).collect();
        Value::tensor(size_of(over).to_vec(), parts)
    };
    Value::tuple((0..fields).map(field).collect())
}

fn make_map(prim: Prim, values: &[Value]) -> Linear {
    match (prim, values) {
        (Prim::LmZero, [from, to]) => Linear::Zero(space::tangent_zero(from), space::tangent_zero(to)),
        (Prim::LmScale, [_, Value::Float(factor)]) => Linear::Scale(*factor),
        (Prim::LmScaleR, [value]) => Linear::ScaleR(space::tangent_part(value)),
        (Prim::LmDot, [value]) => Linear::Dot(space::tangent_part(value)),
        (Prim::LmVCat, _) => Linear::VCat(maps_of(values)),
        (Prim::LmHCat, _) => Linear::HCat(maps_of(values)),
        (Prim::LmVCatV, [maps]) => Linear::VCatV(size_of(maps).to_vec(), maps_of(elements(maps))),
        (Prim::LmHCatV, [maps]) => Linear::HCatV(size_of(maps).to_vec(), maps_of(elements(maps))),
        (Prim::LmCompose, [outer, inner]) => Linear::Compose(map_of(outer), map_of(inner)),
        _ => Linear::One,
    }
}
