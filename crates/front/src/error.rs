//! What can be wrong with a program of another language.

use labrys_compiler::{Error, ErrorKind, Span};

/// A result with a place.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A mistake, or something that is outside the subset.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// What the parser says.
    #[error("{0}")]
    Syntax(String),
    /// Something that the language has and the subset does not.
    #[error("{what} outside the subset that is translated")]
    Outside {
        /// What it is, with its verb: `while loops are`.
        what: String,
        /// What to write in its place.
        hint: String,
    },
    /// Types that differ where they must not.
    #[error("{what}: expected {expected}, found {found}")]
    Mismatch {
        /// What has the type.
        what: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
        /// What would help.
        hint: Option<String>,
    },
    /// A name that means nothing.
    #[error("unknown {what} '{name}'")]
    Unknown {
        /// What is unknown: `name`, `function`, `type`, `field`.
        what: &'static str,
        /// The name.
        name: String,
        /// What might be meant.
        hint: Option<String>,
    },
    /// A type that does not follow from anything.
    #[error("the type of {0} does not follow from what is written")]
    Undetermined(String),
    /// A parameter of Python without its type.
    #[error("the parameter '{0}' has no type")]
    NoAnnotation(String),
    /// A call with too few or too many arguments.
    #[error("'{name}' takes {expected}, found {found}")]
    Arguments {
        /// The function.
        name: String,
        /// What it takes.
        expected: String,
        /// How many there are.
        found: usize,
    },
    /// An operator or function for which there is no such type.
    #[error("'{name}' does not take {found}")]
    NoOverload {
        /// The operator or function.
        name: String,
        /// The types of the operands.
        found: String,
        /// What would help.
        hint: Option<String>,
    },
    /// Functions that call each other.
    #[error("{0} call each other")]
    MutualRecursion(String),
    /// Something is defined twice.
    #[error("'{0}' is defined twice")]
    Duplicate(String),
    /// A match that is not exhaustive, or covers something twice.
    #[error("{0}")]
    BadMatch(String),
    /// A file that is too large to be a program.
    #[error("a program of more than {0} bytes")]
    TooLarge(usize),
}

impl Mistake {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Outside { hint, .. } => (!hint.is_empty()).then(|| hint.clone()),
            Self::Mismatch { hint, .. } | Self::Unknown { hint, .. } | Self::NoOverload { hint, .. } => hint.clone(),
            Self::Undetermined(_) => Some("write it: (x : float)".to_owned()),
            Self::NoAnnotation(name) => Some(format!("write it: {name}: float")),
            Self::MutualRecursion(_) => Some("a function may call itself, and those that do not call it".to_owned()),
            _ => None,
        }
    }

    /// The mistake at a place.
    pub fn at(self, span: Span) -> Error {
        Error::new(span, ErrorKind::Foreign { message: self.to_string(), hint: self.hint() })
    }
}

/// Something outside the subset, with what to write in its place.
pub(crate) fn outside<T>(span: Span, what: impl Into<String>, hint: impl Into<String>) -> Result<T> {
    Err(Mistake::Outside { what: what.into(), hint: hint.into() }.at(span))
}

/// The candidate that is most like a name, as a hint, if one is like it at all.
pub(crate) fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let far = name.chars().count().div_ceil(3);
    let near =
        candidates.map(|other| (strsim::osa_distance(name, other), other)).filter(|(distance, _)| *distance <= far);
    near.min().map(|(_, other)| format!("did you mean {other}?"))
}
