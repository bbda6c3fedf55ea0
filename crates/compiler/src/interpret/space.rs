//! Tangent spaces: zeros, sums, multiples and inner products of values, by their parts.

use super::scalar::Width;
use super::tensor::show_index;
use super::value::{Linear, Tensor, Value};
use crate::error::RunError;
use crate::ir::{Type, TypeId, Types};
use crate::stack;
use std::rc::Rc;

type Result<T> = std::result::Result<T, RunError>;

/// A value made of another by its parts; `leaf` says what becomes of scalars.
pub(super) fn map_leaves(value: &Value, leaf: &impl Fn(&Value) -> Value) -> Value {
    match value {
        Value::Tuple(fields) => Value::tuple(fields.iter().map(|field| map_leaves(field, leaf)).collect()),
        Value::Tensor(tensor) => {
            let elements = tensor.elements.iter().map(|element| map_leaves(element, leaf)).collect();
            Value::tensor(tensor.size.clone(), elements)
        }
        Value::Data(constructor, held) => stack::grow(|| Value::data(*constructor, map_leaves(held, leaf))),
        scalar => leaf(scalar),
    }
}

/// The zero that has the type and the shape of a value.
pub(super) fn zero(value: &Value) -> Value {
    map_leaves(value, &|leaf| match leaf {
        Value::Integer(_) => Value::Integer(0),
        Value::Float(_) => Value::Float(0.0),
        Value::Bool(_) => Value::Bool(false),
        Value::String(_) => Value::String("".into()),
        Value::Linear(map) => scaled(0.0, map),
        other => other.clone(),
    })
}

/// The zero of the tangent type with the shape of a value.
pub(super) fn tangent_zero(value: &Value) -> Value {
    map_leaves(value, &|leaf| match leaf {
        Value::Float(_) => Value::Float(0.0),
        Value::Linear(map) => scaled(0.0, map),
        _ => Value::unit(),
    })
}

/// A multiple of a linear map.
fn scaled(factor: f64, map: &Rc<Linear>) -> Value {
    Value::Linear(Rc::new(Linear::Compose(Rc::new(Linear::Scale(factor)), map.clone())))
}

/// The value as a tangent: without what has none.
pub(crate) fn tangent_part(value: &Value) -> Value {
    map_leaves(value, &|leaf| match leaf {
        Value::Float(_) | Value::Linear(_) => leaf.clone(),
        _ => Value::unit(),
    })
}

/// The zero of a type all of whose values have one shape.
pub(super) fn zero_of_type(types: &Types, ty: TypeId) -> Option<Value> {
    match types.get(ty) {
        Type::Float => Some(Value::Float(0.0)),
        Type::Integer => Some(Value::Integer(0)),
        Type::Bool => Some(Value::Bool(false)),
        Type::String => Some(Value::String("".into())),
        Type::Tuple(fields) => {
            let fields: Option<Vec<Value>> =
                types.list(fields).iter().map(|field| zero_of_type(types, *field)).collect();
            fields.map(Value::tuple)
        }
        _ => None,
    }
}

/// The zero of a type with the shape of a skeleton: the value with `()` for each scalar.
pub(super) fn zero_like_skeleton(types: &Types, ty: TypeId, skeleton: &Value) -> Option<Value> {
    match (types.get(ty), skeleton) {
        (Type::Tuple(list), Value::Tuple(parts)) => {
            let fields = types.list(list).iter().zip(parts.iter());
            fields
                .map(|(field, part)| zero_like_skeleton(types, *field, part))
                .collect::<Option<Vec<_>>>()
                .map(Value::tuple)
        }
        (Type::Tensor(_, element), Value::Tensor(tensor)) => {
            let elements = tensor.elements.iter().map(|part| zero_like_skeleton(types, element, part));
            elements.collect::<Option<Vec<_>>>().map(|elements| Value::tensor(tensor.size.clone(), elements))
        }
        (Type::Data(_), value) => Some(zero(value)),
        _ => zero_of_type(types, ty),
    }
}

impl Width {
    /// The sum of two values of one type, or of a value and a tangent of it.
    pub(crate) fn sum(self, a: &Value, b: &Value) -> Result<Value> {
        Ok(match (a, b) {
            (Value::Float(a), Value::Float(b)) => Value::Float(self.float(a + b)),
            (Value::Integer(a), Value::Integer(b)) => Value::Integer(self.integer(a.wrapping_add(*b))),
            (Value::Tuple(a), Value::Tuple(b)) => {
                Value::tuple(a.iter().zip(b.iter()).map(|(a, b)| self.sum(a, b)).collect::<Result<_>>()?)
            }
            (Value::Tensor(a), Value::Tensor(b)) => {
                same_size(a, b)?;
                let elements =
                    a.elements.iter().zip(&b.elements).map(|(a, b)| self.sum(a, b)).collect::<Result<_>>()?;
                Value::tensor(a.size.clone(), elements)
            }
            (Value::Data(m, a), Value::Data(n, b)) => {
                same_constructor(*m, *n)?;
                Value::data(*m, stack::grow(|| self.sum(a, b))?)
            }
            (Value::Linear(a), Value::Linear(b)) => Value::Linear(Rc::new(Linear::Add(a.clone(), b.clone()))),
            // What is not differentiable has () as its tangent.
            (value, _) => value.clone(),
        })
    }

    /// The sum of values, from the first to the last; `empty` is the zero, if it is known.
    pub(super) fn sum_all(self, values: impl Iterator<Item = Result<Value>>, empty: Option<Value>) -> Result<Value> {
        let mut total: Option<Value> = None;
        for value in values {
            let value = value?;
            total = Some(match total {
                None => value,
                Some(total) => self.sum(&total, &value)?,
            });
        }
        total.or(empty).ok_or(RunError::EmptySum)
    }

    pub(super) fn negate(self, value: &Value) -> Value {
        map_leaves(value, &|leaf| match leaf {
            Value::Float(x) => Value::Float(-x),
            Value::Integer(i) => Value::Integer(self.integer(i.wrapping_neg())),
            Value::Linear(map) => scaled(-1.0, map),
            other => other.clone(),
        })
    }

    pub(crate) fn scale(self, factor: f64, value: &Value) -> Value {
        map_leaves(value, &|leaf| match leaf {
            Value::Float(x) => Value::Float(self.float(factor * x)),
            Value::Integer(i) => Value::Integer(self.integer((factor * *i as f64) as i64)),
            Value::Linear(map) => scaled(factor, map),
            other => other.clone(),
        })
    }

    /// The inner product: the sum of the products of the Floats, from the first to the last.
    pub(crate) fn dot(self, a: &Value, b: &Value) -> Result<f64> {
        match (a, b) {
            (Value::Float(a), Value::Float(b)) => Ok(self.float(a * b)),
            (Value::Tuple(a), Value::Tuple(b)) => self.dot_all(a, b),
            (Value::Tensor(a), Value::Tensor(b)) => {
                same_size(a, b)?;
                self.dot_all(&a.elements, &b.elements)
            }
            (Value::Data(m, a), Value::Data(n, b)) => {
                same_constructor(*m, *n)?;
                stack::grow(|| self.dot(a, b))
            }
            _ => Ok(0.0),
        }
    }

    fn dot_all(self, a: &[Value], b: &[Value]) -> Result<f64> {
        a.iter().zip(b).try_fold(0.0, |sum, (a, b)| Ok(self.float(sum + self.dot(a, b)?)))
    }
}

fn same_size(a: &Tensor, b: &Tensor) -> Result<()> {
    let show = |tensor: &Tensor| show_index(&Value::index(&tensor.size));
    if a.size == b.size { Ok(()) } else { Err(RunError::SizesDiffer { left: show(a), right: show(b) }) }
}

fn same_constructor(a: u32, b: u32) -> Result<()> {
    if a == b { Ok(()) } else { Err(RunError::ShapesDiffer(format!("constructor {a}"), format!("constructor {b}"))) }
}

/// `(shape x)`: `()` for what has one shape, the size of a tensor of such, else by parts.
pub(super) fn shape(types: &Types, ty: TypeId, value: &Value) -> Value {
    if types.has_trivial_shape(ty) {
        return Value::unit();
    }
    match (types.get(ty), value) {
        (Type::Tuple(list), Value::Tuple(fields)) => Value::tuple(
            types.list(list).iter().zip(fields.iter()).map(|(ty, field)| shape(types, *ty, field)).collect(),
        ),
        (Type::Tensor(_, element), Value::Tensor(tensor)) if types.has_trivial_shape(element) => {
            Value::index(&tensor.size)
        }
        (Type::Tensor(_, element), Value::Tensor(tensor)) => {
            let elements = tensor.elements.iter().map(|part| shape(types, element, part)).collect();
            Value::tensor(tensor.size.clone(), elements)
        }
        _ => zero(value),
    }
}
