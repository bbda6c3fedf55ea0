//! What is known of a value before the program runs: the sizes of tensors, and numbers that sizes may depend on.

use crate::ir::{Type, TypeId, Types};
use std::rc::Rc;

/// A value, as far as it matters for how long things take.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// A number or a truth value.
    Number(Guess),
    /// Its fields.
    Tuple(Rc<[Shape]>),
    /// The size in each dimension, and what all elements are taken to be.
    Tensor(Rc<[f64]>, Rc<Shape>),
    /// A text, a linear map, a value of a sum type.
    Other,
}

/// What is known of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Guess {
    /// It is this one; truth values are 0 and 1.
    Exactly(f64),
    /// This is its mean: an index of a loop.
    About(f64),
    /// Nothing.
    Unknown,
}

impl Guess {
    /// The number or its mean.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Exactly(value) | Self::About(value) => Some(value),
            Self::Unknown => None,
        }
    }

    /// A function of two numbers.
    pub fn with(self, other: Self, function: impl FnOnce(f64, f64) -> f64) -> Self {
        match (self, other) {
            (Self::Exactly(a), Self::Exactly(b)) => Self::Exactly(function(a, b)),
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Exactly(a) | Self::About(a), Self::Exactly(b) | Self::About(b)) => Self::About(function(a, b)),
        }
    }

    /// A question about two numbers: the answer is known if they are.
    pub fn compare(self, other: Self, question: impl FnOnce(f64, f64) -> bool) -> Self {
        match (self, other) {
            (Self::Exactly(a), Self::Exactly(b)) => Self::Exactly(f64::from(u8::from(question(a, b)))),
            _ => Self::Unknown,
        }
    }
}

impl Shape {
    /// A number of which nothing is known.
    pub const UNKNOWN: Self = Self::Number(Guess::Unknown);

    /// A value of a type of which nothing is known: tensors have the assumed size.
    pub fn of_type(types: &Types, ty: TypeId, size: f64) -> Self {
        match types.get(ty) {
            Type::Float | Type::Integer | Type::Bool => Self::UNKNOWN,
            Type::Tuple(list) => {
                Self::Tuple(types.list(list).iter().map(|field| Self::of_type(types, *field, size)).collect())
            }
            Type::Tensor(rank, element) => {
                Self::Tensor(vec![size; rank as usize].into(), Self::of_type(types, element, size).into())
            }
            _ => Self::Other,
        }
    }

    /// What is known of the number, if it is one.
    pub fn guess(&self) -> Guess {
        match self {
            Self::Number(guess) => *guess,
            _ => Guess::Unknown,
        }
    }

    /// Numbers in it.
    pub fn elements(&self) -> f64 {
        match self {
            Self::Number(_) | Self::Other => 1.0,
            Self::Tuple(fields) => fields.iter().map(Self::elements).sum(),
            Self::Tensor(sizes, element) => sizes.iter().product::<f64>() * element.elements(),
        }
    }

    /// A field of a tuple.
    pub fn field(&self, field: u32) -> Self {
        match self {
            Self::Tuple(fields) => fields.get(field as usize).cloned().unwrap_or(Self::Other),
            _ => Self::UNKNOWN,
        }
    }

    /// An element of a tensor.
    pub fn element(&self) -> Self {
        match self {
            Self::Tensor(_, element) => (**element).clone(),
            _ => Self::UNKNOWN,
        }
    }

    /// The size of a tensor.
    pub fn size(&self) -> Self {
        let exactly = |size: &f64| Self::Number(Guess::Exactly(*size));
        match self {
            Self::Tensor(sizes, _) if sizes.len() == 1 => exactly(&sizes[0]),
            Self::Tensor(sizes, _) => Self::Tuple(sizes.iter().map(exactly).collect()),
            _ => Self::UNKNOWN,
        }
    }

    /// The size in each dimension that this says, with `assumed` for what is not known; at least 0.
    pub fn sizes(&self, assumed: f64) -> Rc<[f64]> {
        let one = |shape: &Self| shape.guess().value().unwrap_or(assumed).max(0.0);
        match self {
            Self::Tuple(fields) => fields.iter().map(one).collect(),
            shape => [one(shape)].into(),
        }
    }

    /// The indices below these sizes, by their means.
    pub fn index_below(sizes: &[f64]) -> Self {
        let mean = |size: &f64| Self::Number(Guess::About(((size - 1.0) / 2.0).max(0.0)));
        match sizes {
            [size] => mean(size),
            _ => Self::Tuple(sizes.iter().map(mean).collect()),
        }
    }

    /// What holds of both.
    pub fn join(&self, other: &Self) -> Self {
        match (self, other) {
            _ if self == other => self.clone(),
            (Self::Tuple(a), Self::Tuple(b)) if a.len() == b.len() => {
                Self::Tuple(a.iter().zip(b.iter()).map(|(a, b)| a.join(b)).collect())
            }
            (Self::Tensor(a, x), Self::Tensor(b, y)) if a.len() == b.len() => {
                let means = a.iter().zip(b.iter()).map(|(a, b)| (a + b) / 2.0);
                Self::Tensor(means.collect(), x.join(y).into())
            }
            (Self::Number(a), Self::Number(b)) => match (a.value(), b.value()) {
                (Some(a), Some(b)) => Self::Number(Guess::About((a + b) / 2.0)),
                _ => Self::UNKNOWN,
            },
            _ => self.clone(),
        }
    }
}
