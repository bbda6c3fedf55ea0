//! Names: of variables as the user wrote them, and the structured names of functions.

use super::types::TypeId;

/// An interned text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub(super) u32);

/// An interned [`FunName`]. Functions overload on the type of their argument, so a name with that type says which one is meant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunId(pub(super) u32);

/// The identity of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunName {
    /// A function that a program or the prelude defines, or a built-in one, with the type of its argument: `[f Float]`.
    Base(Symbol, TypeId),
    /// A derivation of another: `[rev [f Float]]`.
    Derived(Derivation, FunId),
}

/// What can be derived from a function `f : S -> T`. `dS` is the tangent of `S`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Derivation {
    /// `fwd`: (S, dS) -> dT
    Fwd,
    /// `fwdt`: (S, dS) -> (T, dT)
    Fwdt,
    /// `rev`: (S, dT) -> dS
    Rev,
    /// `suffwdpass`: S -> (T, saved state)
    SufFwdPass,
    /// `sufrevpass`: (dT, saved state) -> dS
    SufRevPass,
    /// `sufrev`: both passes glued, (S, dT) -> dS
    SufRev,
    /// `shape`: S -> shape of T
    Shape,
    /// `CL`: S -> T, the function itself by way of categorical combinators
    Cl,
    /// `D`: S -> (LM S T)
    D,
    /// `Dt`: S -> (T, (LM S T))
    Dt,
    /// `nat`: (S, dT) -> dS, `rev` by the metric of the spaces of S
    Nat,
    /// `retract`: (S, dS) -> S, moves along a tangent in the spaces of S
    Retract,
}

impl Derivation {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Fwd,
        Self::Fwdt,
        Self::Rev,
        Self::SufFwdPass,
        Self::SufRevPass,
        Self::SufRev,
        Self::Shape,
        Self::Cl,
        Self::D,
        Self::Dt,
        Self::Nat,
        Self::Retract,
    ];

    /// As programs write it.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Fwd => "fwd",
            Self::Fwdt => "fwdt",
            Self::Rev => "rev",
            Self::SufFwdPass => "suffwdpass",
            Self::SufRevPass => "sufrevpass",
            Self::SufRev => "sufrev",
            Self::Shape => "shape",
            Self::Cl => "CL",
            Self::D => "D",
            Self::Dt => "Dt",
            Self::Nat => "nat",
            Self::Retract => "retract",
        }
    }

    /// The kind of a keyword.
    pub fn from_keyword(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|derivation| derivation.keyword() == word)
    }
}
