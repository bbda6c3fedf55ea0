//! Whether two places of an accumulator are the same element.

use crate::ir::{ExprId, Node, Prim, Store, TypeId, VarId};
use rustc_hash::FxHashMap;

/// Variables that are sums of Integers.
pub(super) type Sums = FxHashMap<VarId, ExprId>;

/// The way from an accumulator to a part of it.
pub(super) struct Steps(Vec<Step>);

#[derive(PartialEq, Eq)]
enum Step {
    Field(u32),
    Index(Vec<Number>),
}

/// An Integer: something that is not known, and what is added to it.
#[derive(PartialEq, Eq)]
struct Number {
    base: Option<ExprId>,
    offset: i64,
}

/// Whether two places are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meeting {
    /// They always are.
    Same,
    /// They never overlap.
    Never,
    /// That is not known.
    Perhaps,
}

impl Steps {
    /// The steps to a place.
    pub(super) fn to(store: &Store, sums: &Sums, mut place: ExprId) -> Self {
        let mut steps = vec![];
        loop {
            place = match store.node(place) {
                Node::Get(field, whole) => {
                    steps.push(Step::Field(field));
                    whole
                }
                Node::Prim(Prim::Index, args) => {
                    let (index, whole) = (store.list(args)[0], store.list(args)[1]);
                    steps.push(Step::Index(numbers(store, sums, index)));
                    whole
                }
                _ => break,
            }
        }
        steps.reverse();
        Self(steps)
    }

    /// Whether the place is the whole accumulator.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this place and another one of the same accumulator are the same, where one expression has one value.
    pub(super) fn meet(&self, other: &Self) -> Meeting {
        for (a, b) in self.0.iter().zip(&other.0) {
            match (a, b) {
                _ if a == b => {}
                (Step::Field(_), Step::Field(_)) => return Meeting::Never,
                (Step::Index(a), Step::Index(b)) if a.iter().zip(b).any(|(a, b)| a.differs(b)) => {
                    return Meeting::Never;
                }
                _ => return Meeting::Perhaps,
            }
        }
        if self.0.len() == other.0.len() { Meeting::Same } else { Meeting::Perhaps }
    }
}

impl Number {
    /// Whether two numbers are never the same. Sums wrap around, so that different offsets from one base stay different.
    fn differs(&self, other: &Self) -> bool {
        self.base == other.base && self.offset != other.offset
    }
}

/// Whether two Integers are never the same, where one expression has one value.
pub(super) fn never_equal(store: &Store, sums: &Sums, a: ExprId, b: ExprId) -> bool {
    number(store, sums, a).differs(&number(store, sums, b))
}

fn numbers(store: &Store, sums: &Sums, index: ExprId) -> Vec<Number> {
    match store.node(index) {
        Node::Tuple(parts) => store.list(parts).iter().map(|part| number(store, sums, *part)).collect(),
        _ => vec![number(store, sums, index)],
    }
}

fn number(store: &Store, sums: &Sums, expr: ExprId) -> Number {
    let unknown = Number { base: Some(expr), offset: 0 };
    if store.ty(expr) != TypeId::INTEGER {
        return unknown;
    }
    match store.node(expr) {
        Node::Integer(offset) => Number { base: None, offset },
        Node::Var(var) => sums.get(&var).map_or(unknown, |sum| number(store, sums, *sum)),
        Node::Prim(prim @ (Prim::Add | Prim::Sub), args) => {
            let (a, b) = (store.list(args)[0], store.list(args)[1]);
            let (a, b) = (number(store, sums, a), number(store, sums, b));
            match (prim, a.base, b.base) {
                (Prim::Add, base, None) | (Prim::Add, None, base) => {
                    Number { base, offset: a.offset.wrapping_add(b.offset) }
                }
                (Prim::Sub, base, None) => Number { base, offset: a.offset.wrapping_sub(b.offset) },
                _ => unknown,
            }
        }
        _ => unknown,
    }
}
