//! Front ends of the compiler: programs in subsets of Python and F#, translated to readable `.ks` (docs/front-ends.md).
//!
//! Both languages become one [`tree`]; [`infer`] finds its types, [`write`] makes `.ks` of it. Mistakes are told in the words and with the places of
//! the source, those that only the compiler or a run finds too: [`load`] notes where each part of a translation comes from.
//!
//! ```
//! use labrys_compiler::interpret::{Interpreter, Options};
//! use labrys_compiler::{Sources, compile};
//!
//! let mut sources = Sources::new();
//! let program = "def square(x: float) -> float:\n    return x * x\n\nprint(square(3.0))\n";
//! labrys_front::load(&mut sources, labrys_front::Language::Python, "square.py", program).unwrap();
//! let program = compile(&sources).unwrap();
//! let mut output = vec![];
//! Interpreter::new(&program, Options::default(), &mut output).run_main().unwrap();
//! assert_eq!(output, b"9\n");
//! ```

mod builtin;
mod error;
mod fsharp;
mod helpers;
mod infer;
mod ks;
mod names;
mod order;
mod python;
mod stack;
mod tree;
mod types;
mod walk;
mod write;

pub use error::Mistake;
pub use ks::Place;

use infer::Declared;
use labrys_compiler::source::{FileId, SourceError};
use labrys_compiler::{Error, Sources, Span};
use std::path::Path;

/// A language that is translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Python 3.12
    Python,
    /// F#
    FSharp,
}

impl Language {
    /// The language of a file, by the end of its name.
    pub fn of_path(path: &str) -> Option<Self> {
        match Path::new(path).extension()?.to_str()? {
            "py" => Some(Self::Python),
            "fs" | "fsx" => Some(Self::FSharp),
            _ => None,
        }
    }
}

/// The place among so many that a constant of the source means; a negative one counts from the end.
fn place(number: i64, count: usize) -> Option<usize> {
    let place = if number < 0 { number + count as i64 } else { number };
    usize::try_from(place).ok().filter(|place| *place < count)
}

/// Largest program: larger texts are data.
pub const MOST_BYTES: usize = 1 << 20;

/// A program in `.ks`.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The text, formatted.
    pub text: String,
    /// Where its parts come from.
    pub places: Vec<Place>,
}

/// Translates a file of `sources`.
///
/// # Errors
/// The mistakes in it, and what is outside the subset.
pub fn translate(language: Language, sources: &Sources, file: FileId) -> Result<Translation, Vec<Error>> {
    let text = &sources.file(file).text;
    let whole = Span { file, start: 0, end: 0 };
    if text.len() > MOST_BYTES {
        return Err(vec![Mistake::TooLarge(MOST_BYTES).at(whole)]);
    }
    stack::enough_for(text.len(), || {
        let mut module = match language {
            Language::Python => python::read(file, text)?,
            Language::FSharp => fsharp::read(file, text)?,
        };
        if language == Language::Python {
            order::sort(&mut module).map_err(|error| vec![error])?;
        }
        let declared = Declared::of(&module);
        let types = infer::infer(&module, &declared, language)?;
        let tops = write::write(&module, &declared, &types, language);
        let (text, places) = ks::print(&tops).ok_or_else(|| vec![Mistake::TooLarge(MOST_BYTES).at(whole)])?;
        Ok(Translation { text, places })
    })
}

/// Why a program could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be a source at all.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// There are mistakes in it; their places are in the sources.
    #[error("{} mistakes", .0.len())]
    Mistakes(Vec<Error>),
}

/// Adds a program to `sources`, translated; mistakes that are found later are shown in the program as it was written.
///
/// # Errors
/// The mistakes in it, and what is outside the subset.
pub fn load(sources: &mut Sources, language: Language, name: &str, text: &str) -> Result<FileId, LoadError> {
    let original = sources.add_original(name, text)?;
    let Translation { text, places } = translate(language, sources, original).map_err(LoadError::Mistakes)?;
    Ok(sources.add_translation(format!("{name}.ks"), text, places)?)
}
