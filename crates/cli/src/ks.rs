//! What the verbs on programs share: reading, translating, checking, and the way errors are shown.

use crate::error::CliError;
use crate::load;
use clap::ValueEnum;
use labrys_compiler::check::State;
use labrys_compiler::interpret::Width;
use labrys_compiler::{Error, Program, Sources, compile, render, syntax};
use labrys_front::{Language, LoadError};

/// Bits of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Bits {
    /// f32 and i32
    #[value(name = "32")]
    Bits32,
    /// f64 and i64
    #[value(name = "64")]
    Bits64,
}

impl From<Bits> for Width {
    fn from(bits: Bits) -> Self {
        match bits {
            Bits::Bits32 => Self::Bits32,
            Bits::Bits64 => Self::Bits64,
        }
    }
}

/// Reads program files, `-` being stdin; they make one program in the order given. Those of other languages are translated.
pub(crate) fn read(paths: &[String]) -> Result<Sources, CliError> {
    let mut sources = Sources::new();
    for path in paths {
        let text = text(path)?;
        match Language::of_path(path) {
            Some(language) => translated(&mut sources, language, path, &text)?,
            None => _ = sources.add(if path == "-" { "stdin" } else { path }, text).map_err(CliError::input)?,
        }
    }
    Ok(sources)
}

/// Adds a program in another language.
fn translated(sources: &mut Sources, language: Language, path: &str, text: &str) -> Result<(), CliError> {
    match labrys_front::load(sources, language, path, text) {
        Ok(_) => Ok(()),
        Err(LoadError::Source(error)) => Err(CliError::input(error)),
        Err(LoadError::Mistakes(errors)) => Err(wrong(&errors, sources)),
    }
}

/// The text of a file.
pub(crate) fn text(path: &str) -> Result<String, CliError> {
    String::from_utf8(load::bytes(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::input(format!("{path}: not UTF-8 at byte {at}"))
    })
}

/// Reads and checks a program.
pub(crate) fn load(paths: &[String]) -> Result<(Sources, Program), CliError> {
    let sources = read(paths)?;
    let program = compile(&sources).map_err(|errors| wrong(&errors, &sources))?;
    Ok((sources, program))
}

/// Reads and checks program files one form after another, so that more can be asked about them than [`load`] tells.
pub(crate) fn state(paths: &[String]) -> Result<(Sources, State), CliError> {
    let sources = read(paths)?;
    let mut state = State::default();
    for file in sources.ids() {
        let tree = syntax::parse(file, &sources.file(file).text).map_err(|error| wrong(&[error], &sources))?;
        let errors = state.add(&sources, &tree);
        if !errors.is_empty() {
            return Err(wrong(&errors, &sources));
        }
    }
    Ok((sources, state))
}

/// Every mistake in a program, each with its place and its hint.
pub(crate) fn wrong(errors: &[Error], sources: &Sources) -> CliError {
    let last = errors.len().saturating_sub(1);
    let mut text = String::new();
    for (number, error) in errors.iter().enumerate() {
        text += &render::message(error, sources);
        if number < last {
            let hint = error.hint().map(|hint| format!("\nhint: {hint}"));
            text += &format!("{}\n\nerror: ", hint.unwrap_or_default());
        }
    }
    CliError::input(text).with_hint(errors.last().and_then(Error::hint))
}

/// What happened when a program ran.
pub(crate) fn failed(error: &Error, sources: &Sources) -> CliError {
    CliError::infeasible(render::message(error, sources)).with_hint(error.hint())
}
