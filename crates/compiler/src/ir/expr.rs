//! What an expression is.

use super::name::{FunId, Symbol};
use super::prim::Prim;
use super::types::DataId;

/// An expression: an index into a [`super::Store`]. Equal ids are equal expressions, and the other way round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExprId(pub(super) u32);

/// An interned list of expressions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExprList(pub(super) u32);

/// A variable. Its name and type are in the [`super::Store`]; two variables of one name are two variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VarId(pub(super) u32);

impl ExprId {
    /// The number of the expression in its store, from 0; parts come before the whole.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl VarId {
    /// The number of the variable in its store, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An f64 that compares by its bits, so that NaN equals itself and 0.0 differs from -0.0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Float(u64);

impl From<f64> for Float {
    fn from(value: f64) -> Self {
        Self(value.to_bits())
    }
}

impl Float {
    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// One step of an expression; its parts are other expressions of the same [`super::Store`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Float(Float),
    /// A truth value.
    Bool(bool),
    /// A text.
    String(Symbol),
    /// A variable.
    Var(VarId),
    /// `(tuple e ...)`
    Tuple(ExprList),
    /// A field of a tuple, from 0: `get$1$n` is `Get(0, ..)`.
    Get(u32, ExprId),
    /// `(let (x e) body)`: x is bound in the body only.
    Let(VarId, ExprId, ExprId),
    /// `(if condition then else)`
    If(ExprId, ExprId, ExprId),
    /// `(assert condition body)`
    Assert(ExprId, ExprId),
    /// `(lam (x : T) body)`: only as an argument of a primitive or of a call of an external function, and as an arm of a match.
    Lam(VarId, ExprId),
    /// A call of a function of the program. There is one argument, a tuple where the source has several.
    Call(FunId, ExprId),
    /// A primitive with as many arguments as it takes.
    Prim(Prim, ExprList),
    /// A constructor of a sum type by its number, with its one argument.
    Construct(DataId, u32, ExprId),
    /// A match: the value, and one [`Node::Lam`] for each constructor, in their order.
    Match(ExprId, ExprList),
}
