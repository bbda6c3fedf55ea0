//! What a rule is.

use super::builtin::Builtin;
use super::pattern::PatternRule;
use crate::interpret::Width;
use crate::ir::Class;
use crate::source::Span;

/// A rule of a [`super::RuleSet`], and of every set made of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleId(pub(super) u16);

impl RuleId {
    /// The number of the rule, from 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What an optimised program may differ in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Mode {
    /// In nothing: exact rules.
    #[default]
    Strict,
    /// In rounding: exact and real rules.
    Real,
    /// In where it has a result, too: all rules. What would have failed may not fail.
    Fast,
}

impl Mode {
    /// Every mode, from the strictest.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Real, Self::Fast];

    /// Whether rules of a class apply.
    pub fn allows(self, class: Class) -> bool {
        class <= self.loosest()
    }

    fn loosest(self) -> Class {
        match self {
            Self::Strict => Class::Exact,
            Self::Real => Class::Real,
            Self::Fast => Class::Unsafe,
        }
    }

    /// As on the command line.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Real => "real",
            Self::Fast => "fast",
        }
    }
}

/// What the rules must know of how the program will run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What may change.
    pub mode: Mode,
    /// Bits of numbers.
    pub width: Width,
    /// Whether an index out of range is an error, as in the interpreter; if not, such a program has no meaning.
    pub checks_bounds: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { mode: Mode::default(), width: Width::default(), checks_bounds: true }
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, which no other rule of the set has. What is before a dot is the family: `add_zero` of `add_zero.integer`.
    pub name: String,
    /// What it may change.
    pub class: Class,
    /// Whether it changes much: the first half of a search in two phases tries only such rules.
    pub big: bool,
    /// What it is about: the name of its file.
    pub subject: String,
    /// Where a program defines it; none for rules that are built in.
    pub span: Option<Span>,
    pub(super) kind: Kind,
}

/// How it works.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Pattern(Box<PatternRule>),
    Builtin(&'static Builtin),
}

impl Rule {
    /// The name that variants of the rule share.
    pub fn family(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }

    /// The two sides of a rule that is data.
    pub fn pattern(&self) -> Option<&PatternRule> {
        match &self.kind {
            Kind::Pattern(rule) => Some(rule),
            Kind::Builtin(_) => None,
        }
    }
}
