//! What the tests of this crate share.
#![allow(dead_code, missing_docs)] // each test uses a part

use labrys_compiler::{Error, Sources, render};
use labrys_front::{Language, LoadError, load};
use std::path::{Path, PathBuf};

/// A program of a folder of tests, or of the examples.
pub struct Case {
    pub name: String,
    pub language: Language,
    pub text: String,
}

impl Case {
    /// The lines that start with a mark in a comment, such as `#> `.
    pub fn lines(&self, mark: &str) -> Vec<&str> {
        let comment = if self.language == Language::Python { "#" } else { "//" };
        let lines = self.text.lines().filter_map(|line| line.strip_prefix(comment)?.strip_prefix(mark));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect()
    }

    /// The sources with the translation.
    pub fn sources(&self) -> Result<Sources, String> {
        let mut sources = Sources::new();
        match load(&mut sources, self.language, &self.name, &self.text) {
            Ok(_) => Ok(sources),
            Err(LoadError::Mistakes(errors)) => Err(messages(&errors, &sources)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The translation.
    pub fn translation(&self) -> Result<String, String> {
        let sources = self.sources()?;
        let file = sources.ids().last().expect("the prelude at least");
        Ok(sources.file(file).text.clone())
    }
}

/// Mistakes as the command line shows them.
pub fn messages(errors: &[Error], sources: &Sources) -> String {
    let message = |error: &Error| {
        let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        format!("error: {}{hint}", render::message(error, sources))
    };
    errors.iter().map(message).collect::<Vec<_>>().join("\n\n")
}

/// The programs of a folder beside the manifest, by name.
pub fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let case = |path: &PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let language = Language::of_path(&name)?;
        Some(Case { name, language, text: std::fs::read_to_string(path).unwrap() })
    };
    files.iter().filter_map(case).collect()
}
