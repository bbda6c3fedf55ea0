//! What the tests of this crate share.
#![allow(dead_code)] // each test uses a part

pub mod generate;
pub mod large;
pub mod pair;
pub mod wild;

use labrys_compiler::interpret::{Interpreter, Options};
use labrys_compiler::{Sources, compile, render};
use std::path::Path;

/// A program of the conformance folder, with the output that its last lines expect: `;> line` for each line.
pub struct Case {
    pub name: String,
    pub text: String,
    pub expected: String,
}

/// Every program of the conformance folder, by name.
pub fn conformance() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ks"));
    files.sort();
    files.iter().map(|path| case(path)).collect()
}

fn case(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(";>")).collect();
    let expected: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    assert!(!expected.is_empty(), "{}: no ';> ' lines say what it prints", path.display());
    Case { name: path.file_name().unwrap().to_string_lossy().into_owned(), expected: expected.join("\n"), text }
}

/// What a program prints, or the message of what is wrong.
pub fn run(name: &str, text: &str, options: Options) -> Result<String, String> {
    let sources = Sources::with(name, text).unwrap();
    let program = compile(&sources).map_err(|errors| render::message(&errors[0], &sources))?;
    let mut output = vec![];
    let result = Interpreter::new(&program, options, &mut output).run_main();
    result.map_err(|error| render::message(&error, &sources))?;
    Ok(String::from_utf8(output).unwrap())
}
