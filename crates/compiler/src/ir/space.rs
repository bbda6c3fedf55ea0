//! Spaces: types whose values have a tangent space of their own.

use super::name::{FunId, Symbol};

/// A type with a metric and a way to move along tangents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Space {
    /// Its name.
    pub name: Symbol,
    /// (T, gradient) -> the tangent along which a function grows fastest, by the metric of the space.
    pub sharp: FunId,
    /// (T, tangent) -> where that leads.
    pub retract: FunId,
}

/// Which parts of a type are of a [`Space`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Spaced {
    /// None: the tangent space is that of the type.
    Flat,
    /// All of it.
    Space(Space),
    /// By the fields of a tuple.
    Tuple(Vec<Spaced>),
    /// By the elements of a tensor of a rank.
    Tensor(u32, Box<Spaced>),
}

impl Spaced {
    /// By the fields of a tuple, if any of them is of a space.
    pub fn tuple(fields: Vec<Self>) -> Self {
        if fields.iter().all(|field| *field == Self::Flat) { Self::Flat } else { Self::Tuple(fields) }
    }

    /// By the elements of a tensor, if they are of a space.
    pub fn tensor(rank: u32, element: Self) -> Self {
        if element == Self::Flat { Self::Flat } else { Self::Tensor(rank, Box::new(element)) }
    }
}
