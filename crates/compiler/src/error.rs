//! What can be wrong with a program or happen when it runs, with the place and a hint.

use crate::source::Span;

/// A mistake and its place. [`crate::render::message`] shows it with an excerpt of the source.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{kind}")]
pub struct Error {
    /// Where it is.
    pub span: Span,
    /// What it is.
    pub kind: ErrorKind,
    /// Other places that have to do with it.
    pub labels: Vec<(Span, String)>,
}

impl Error {
    /// An error at a place.
    pub fn new(span: Span, kind: ErrorKind) -> Self {
        Self { span, kind, labels: vec![] }
    }

    /// The same error with another place that has to do with it.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        self.kind.hint()
    }
}

/// What is wrong.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A character that starts nothing.
    #[error("unexpected character '{0}'")]
    UnexpectedCharacter(char),
    /// A string without its end.
    #[error("this string has no end")]
    UnclosedString,
    /// A block comment without its end.
    #[error("this comment has no end")]
    UnclosedComment,
    /// An unknown escape in a string.
    #[error("unknown escape '\\{0}'")]
    BadEscape(char),
    /// A word that starts like a number.
    #[error("'{0}' is no number")]
    BadNumber(String),
    /// An integer beyond 64 bits.
    #[error("this Integer does not fit into 64 bits")]
    IntegerTooLarge,
    /// A bracket that is never closed.
    #[error("this '{0}' is never closed")]
    Unclosed(char),
    /// A bracket that closes nothing.
    #[error("this '{0}' closes nothing")]
    StrayClose(char),
    /// A bracket of the wrong kind.
    #[error("expected '{expected}', found '{found}'")]
    WrongClose {
        /// What would close the open bracket.
        expected: char,
        /// What is there.
        found: char,
    },
    /// A form that does not have its shape.
    #[error("expected {expected}")]
    Expected {
        /// What should stand here.
        expected: String,
        /// How such a form looks.
        hint: Option<String>,
    },
    /// A rewrite rule that cannot be used.
    #[error("{0}")]
    Rule(crate::rewrite::RuleError),
    /// A type that does not exist.
    #[error("unknown type '{name}'")]
    UnknownType {
        /// Its name.
        name: String,
        /// One with a similar name.
        similar: Option<String>,
    },
    /// A variable that does not exist here.
    #[error("unknown variable '{name}'")]
    UnknownVariable {
        /// Its name.
        name: String,
        /// What might be meant.
        hint: Option<String>,
    },
    /// A function that does not exist here.
    #[error("unknown function '{name}'")]
    UnknownFunction {
        /// Its name.
        name: String,
        /// What might be meant.
        hint: Option<String>,
    },
    /// A function that does not take such arguments.
    #[error("'{name}' does not take {found}")]
    NoOverload {
        /// Its name.
        name: String,
        /// The type of the argument.
        found: String,
        /// The types that it takes.
        candidates: Vec<String>,
    },
    /// A primitive that does not take such arguments.
    #[error("'{name}' does not take {found}")]
    BadPrimitive {
        /// Its name.
        name: &'static str,
        /// The types of the arguments.
        found: String,
        /// How to call it.
        usage: &'static str,
    },
    /// A name that may mean several functions.
    #[error("'{name}' may be any of {}", .candidates.join(", "))]
    Ambiguous {
        /// Its name.
        name: String,
        /// What it may mean.
        candidates: Vec<String>,
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
    },
    /// Something is defined twice.
    #[error("{0} is defined twice")]
    Duplicate(String),
    /// A name that programs may not define.
    #[error("'{0}' is a primitive, which cannot be defined")]
    Reserved(String),
    /// A lambda where none can be.
    #[error("a lambda can only be an argument of a primitive such as build, map or fold")]
    MisplacedLambda,
    /// Types nested too deeply.
    #[error("types nest more than {0} deep")]
    DeepType(usize),
    /// A match that is not exhaustive, or covers something twice.
    #[error("{message}")]
    BadMatch {
        /// What is missing or too much.
        message: String,
    },
    /// A derivation that cannot be made.
    #[error("{fun} cannot be derived: {reason}")]
    NotDerivable {
        /// What was asked for.
        fun: String,
        /// Why not.
        reason: String,
    },
    /// A function that C cannot call.
    #[error("{fun} cannot be exported: {reason}")]
    NotExportable {
        /// Its name.
        fun: String,
        /// Why not.
        reason: String,
    },
    /// A mistake in a program of another language, as its front end tells it.
    #[error("{message}")]
    Foreign {
        /// What is wrong.
        message: String,
        /// What the user can do about it.
        hint: Option<String>,
    },
    /// Something that happened when the program ran.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What can happen when a program runs.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A false condition.
    #[error("assertion failed")]
    AssertionFailed,
    /// An index that a tensor does not have.
    #[error("index {index} is out of range: the size is {size}")]
    OutOfRange {
        /// The index.
        index: String,
        /// The size.
        size: String,
    },
    /// A size below 0.
    #[error("the size {0} is negative")]
    NegativeSize(String),
    /// More elements than memory could hold.
    #[error("a tensor of size {0} is too large")]
    TooLarge(String),
    /// Operands whose sizes differ.
    #[error("the sizes differ: {left} and {right}")]
    SizesDiffer {
        /// Of the first.
        left: String,
        /// Of the second.
        right: String,
    },
    /// An Integer divided by 0.
    #[error("division of an Integer by zero")]
    DivisionByZero,
    /// A sum over nothing, of values whose zero has no known shape.
    #[error("the sum of no tensors has no shape")]
    EmptySum,
    /// Values of a sum type that have different constructors.
    #[error("the values differ in shape: {0} and {1}")]
    ShapesDiffer(String, String),
    /// A call of an external function.
    #[error("{0} is external: it has no definition to run")]
    External(String),
    /// A derivation that was asked for and not made.
    #[error("{0} has no definition")]
    Undefined(String),
    /// Recursion without an end, or with one too far away.
    #[error("more than {0} calls are open")]
    TooDeep(usize),
    /// Tail recursion without an end, or with one too far away.
    #[error("more than {0} calls in a row, each the last step of the one before")]
    TooLong(u64),
    /// More steps than whoever runs the program has time for.
    #[error("more than {0} steps of evaluation")]
    TooManySteps(u64),
    /// There is no `main`.
    #[error("there is no (def main Integer () ...)")]
    NoMain,
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(String),
}

impl ErrorKind {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::BadEscape(_) => Some("escapes are \\n, \\t, \\r, \\0, \\\" and \\\\".to_owned()),
            Self::BadNumber(_) => {
                Some("an Integer is digits; a Float has a fraction or an exponent: 1.0, 1e-3".to_owned())
            }
            Self::UnexpectedCharacter('{' | '}') => Some("lists are written with ( ), structured names with [ ]".to_owned()),
            Self::Expected { hint, .. }
            | Self::UnknownVariable { hint, .. }
            | Self::UnknownFunction { hint, .. }
            | Self::Foreign { hint, .. } => hint.clone(),
            Self::UnknownType { similar, .. } => Some(match similar {
                Some(name) => format!("did you mean {name}?"),
                None => "types are Float, Integer, Bool, String, (Tuple T ...), (Vec T), (Tensor n T), and those of (data ...)"
                    .to_owned(),
            }),
            Self::NoOverload { candidates, .. } => Some(format!("it takes {}", candidates.join(" or "))),
            Self::BadPrimitive { usage, .. } => Some((*usage).to_owned()),
            Self::Ambiguous { .. } => Some("name one of them with its argument type".to_owned()),
            // A type in a name is no constant.
            Self::Mismatch { what, .. } if what.contains('[') => None,
            Self::Mismatch { expected, found, .. } => mismatch_hint(expected, found),
            Self::Reserved(_) => Some("choose another name, or define a derivation of it".to_owned()),
            Self::NotDerivable { .. } => Some("a program can define the derivation itself: (def [rev f] ...)".to_owned()),
            Self::MisplacedLambda => Some("define a function instead".to_owned()),
            Self::Run(error) => error.hint().map(str::to_owned),
            _ => None,
        }
    }
}

fn mismatch_hint(expected: &str, found: &str) -> Option<String> {
    match (expected, found) {
        ("Float", "Integer") => Some("a Float constant has a point: 1.0; (to_float i) converts".to_owned()),
        ("Integer", "Float") => Some("an Integer constant has no point".to_owned()),
        _ => None,
    }
}

impl RunError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::External(_) => Some("compile the program and supply it in C++: labrys compile --include FILE"),
            Self::TooDeep(_) => {
                Some("does the recursion end? A call that is the last step of its function needs no depth")
            }
            Self::TooLong(_) => Some("does the recursion end?"),
            Self::EmptySum => Some("start a fold from a zero that has the shape"),
            _ => None,
        }
    }
}
