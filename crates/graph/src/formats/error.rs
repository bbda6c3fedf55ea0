//! What can be wrong with a file, with the place and a hint.

/// Shorthand for results of the readers.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file could not be read. The command line prefixes it with the file name and prints the hint below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line, from 1; `None` if the file as a whole is wrong.
    pub line: Option<usize>,
    /// What was found and what was expected.
    pub message: String,
    /// What to do about it, if anything is known.
    pub hint: Option<String>,
}

impl Error {
    /// An error of the file as a whole.
    pub fn file(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), hint: None }
    }

    /// An error at a line, counted from 1.
    pub fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into(), hint: None }
    }

    /// The same error with a hint on what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
