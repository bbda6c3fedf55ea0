//! What several targets share.

use labrys_compiler::{Sources, check, render};
use labrys_front::{Language, LoadError, load};

/// What is translated is a program, and every mistake can be shown.
///
/// # Panics
/// If that does not hold.
pub fn translate(language: Language, text: &str) {
    let mut sources = Sources::new();
    match load(&mut sources, language, "fuzz", text) {
        Ok(_) => {
            let checked = check(&sources);
            let messages = checked.err().unwrap_or_default();
            let shown: Vec<String> = messages.iter().map(|error| render::message(error, &sources)).collect();
            assert!(shown.is_empty(), "{shown:?}");
        }
        Err(LoadError::Mistakes(errors)) => {
            errors.iter().for_each(|error| assert!(!render::message(error, &sources).is_empty()));
        }
        Err(LoadError::Source(_)) => {}
    }
}
