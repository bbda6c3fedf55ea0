//! What can be wrong with an input, with the place and a hint.

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a model, profile or table could not be read. The command line prefixes it with the file name and prints [`Error::hint`] below.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text file is wrong at a line (counted from 1).
    #[error("line {line}: {message}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// What was found and what was expected.
        message: String,
        /// What to do about it, if anything is known.
        hint: Option<String>,
    },
    /// A node of the model is wrong.
    #[error("node '{node}' ({kind}): {message}")]
    Node {
        /// Name of the node, or its number in the file.
        node: String,
        /// Its op type.
        kind: String,
        /// What was found and what was expected.
        message: String,
        /// What to do about it, if anything is known.
        hint: Option<String>,
    },
    /// The ops depend on each other in a circle.
    #[error("the ops form a cycle: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// The file as a whole is wrong.
    #[error("{message}")]
    File {
        /// What was found and what was expected.
        message: String,
        /// What to do about it, if anything is known.
        hint: Option<String>,
    },
    /// Reading failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl Error {
    /// A [`Error::File`] without a hint.
    pub fn file(message: impl Into<String>) -> Self {
        Self::File { message: message.into(), hint: None }
    }

    /// A [`Error::Syntax`] without a hint.
    pub fn syntax(line: usize, message: impl Into<String>) -> Self {
        Self::Syntax { line, message: message.into(), hint: None }
    }

    /// A [`Error::Node`] without a hint.
    pub fn node(node: impl Into<String>, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Node { node: node.into(), kind: kind.into(), message: message.into(), hint: None }
    }

    /// The same error with a hint on what to do.
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Syntax { hint, .. } | Self::Node { hint, .. } | Self::File { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Syntax { hint, .. } | Self::Node { hint, .. } | Self::File { hint, .. } => hint.as_deref(),
            Self::Cycle(_) => Some("a computation graph must be acyclic; loops belong inside one op"),
            Self::Io(_) => None,
        }
    }
}
