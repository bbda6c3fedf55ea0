//! How a command fails: message, hint, exit code.

use crate::output::printable;
use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

/// Why a command failed. The exit codes are fixed: scripts rely on them.
#[derive(Debug)]
pub(crate) enum CliError {
    /// There is no feasible solution, or a plan does not pass its check. Exit code 1.
    Infeasible(Message),
    /// Bad input or usage. Exit code 2.
    Input(Message),
    /// Our own result failed its check. Exit code 3.
    Bug(Message),
    /// Somebody closed the pipe that we write to. Quiet, exit code 0.
    ClosedPipe,
}

/// What to tell the user.
#[derive(Debug)]
pub(crate) struct Message {
    text: String,
    hint: Option<String>,
}

impl CliError {
    pub(crate) fn input(text: impl Display) -> Self {
        Self::Input(Message { text: text.to_string(), hint: None })
    }

    pub(crate) fn infeasible(text: impl Display) -> Self {
        Self::Infeasible(Message { text: text.to_string(), hint: None })
    }

    pub(crate) fn bug(text: impl Display) -> Self {
        let hint = "this is a bug in labrys; the input and the command line above would help to mend it".to_owned();
        Self::Bug(Message { text: text.to_string(), hint: Some(hint) })
    }

    /// An error in a file, with the hint that the reader has.
    pub(crate) fn in_file(path: &str, error: &labrys_dataflow::Error) -> Self {
        Self::input(format!("{path}: {error}")).with_hint(error.hint())
    }

    pub(crate) fn with_hint(mut self, text: Option<impl Into<String>>) -> Self {
        if let (Self::Infeasible(m) | Self::Input(m) | Self::Bug(m), Some(text)) = (&mut self, text) {
            m.hint = Some(text.into());
        }
        self
    }

    /// Prints the message and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (message, code) = match self {
            Self::ClosedPipe => return ExitCode::SUCCESS,
            Self::Infeasible(message) => (message, 1),
            Self::Input(message) => (message, 2),
            Self::Bug(message) => (message, 3),
        };
        let (red, cyan, reset) = (anstyle::AnsiColor::Red, anstyle::AnsiColor::Cyan, anstyle::Reset);
        let mut err = anstream::stderr().lock();
        let mut line = |colour: anstyle::AnsiColor, word: &str, text: &str| {
            let style = anstyle::Style::new().bold().fg_color(Some(colour.into()));
            // Nobody is left to tell when stderr is closed.
            _ = writeln!(err, "{style}{word}:{reset} {}", printable(text));
        };
        line(red, "error", &message.text);
        if let Some(hint) = &message.hint {
            line(cyan, "hint", hint);
        }
        ExitCode::from(code)
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::input(error),
        }
    }
}
