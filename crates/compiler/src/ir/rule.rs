//! Rewrite rules as a program writes them.

use super::expr::{ExprId, VarId};
use crate::source::Span;

/// What a rewrite rule may change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Class {
    /// Nothing: results are the same bit for bit, failures and their order included.
    Exact,
    /// Rounding: both sides are equal over the real numbers, and fail alike.
    #[default]
    Real,
    /// Where the result is defined: the sides are equal where both have a value.
    Unsafe,
}

impl Class {
    /// Every class, from the strictest.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Real, Self::Unsafe];

    /// As programs write it.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Real => "real",
            Self::Unsafe => "unsafe",
        }
    }
}

/// What must be known of the expressions that pattern variables stand for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Test {
    /// `(constant x)`: it is written as a number.
    Constant,
    /// `(nonzero x)`: it is a number other than zero, or NaN.
    Nonzero,
    /// `(positive x)`: it is greater than zero, or NaN.
    Positive,
    /// `(number x)`: it is not NaN.
    Number,
    /// `(finite x)`: it is neither NaN nor infinite.
    Finite,
    /// `(no_minus_zero x)`: it is not -0.0.
    NoMinusZero,
}

impl Test {
    /// Every test.
    pub const ALL: [Self; 6] =
        [Self::Constant, Self::Nonzero, Self::Positive, Self::Number, Self::Finite, Self::NoMinusZero];

    /// As programs write it.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Nonzero => "nonzero",
            Self::Positive => "positive",
            Self::Number => "number",
            Self::Finite => "finite",
            Self::NoMinusZero => "no_minus_zero",
        }
    }
}

/// A condition of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// What must be known.
    pub test: Test,
    /// Of which variable.
    pub var: VarId,
}

/// A rewrite rule of a program.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The pattern variables; one of type `Any` stands for an expression of any type.
    pub vars: Vec<VarId>,
    /// What it matches.
    pub lhs: ExprId,
    /// What it puts there.
    pub rhs: ExprId,
    /// What it may change.
    pub class: Class,
    /// Whether it changes much: the first half of a search in two phases tries only such rules.
    pub is_big: bool,
    /// What must hold besides.
    pub guards: Vec<Guard>,
    /// Variables that the right side evaluates only where the left side did, though the two do not look like it.
    pub covered: Vec<VarId>,
    /// Whether that holds of all that the right side does.
    pub is_covered: bool,
    /// Where it stands.
    pub span: Span,
}
