//! The compiler of a differentiable language, `.ks`: parser, checker, typed IR, interpreter.
//!
//! Suggested reading order: `docs/language.md` (the language), [`ir`] (expressions, and how to make them), [`check`] (from text to
//! IR), [`derive`] (what can be derived from a function), [`interpret`] (what a program means). `prelude.ks` is the part of the language that is written in itself.
//!
//! ```
//! use labrys_compiler::interpret::{Interpreter, Options};
//! use labrys_compiler::{Sources, compile};
//!
//! let sources = Sources::with("hello.ks", "(def main Integer () (print \"1 + 2 = \" (add 1 2)))").unwrap();
//! let program = compile(&sources).unwrap();
//! let mut output = vec![];
//! Interpreter::new(&program, Options::default(), &mut output).run_main().unwrap();
//! assert_eq!(output, b"1 + 2 = 3");
//! ```

mod ad;
pub mod check;
pub mod check_grad;
pub mod cost;
pub mod derive;
pub mod emit;
pub mod error;
pub mod interpret;
pub mod ir;
pub mod optimize;
pub mod render;
pub mod rewrite;
pub mod simplify;
pub mod source;
mod stack;
pub mod syntax;
pub mod value;

pub use check::check;
pub use error::{Error, ErrorKind, RunError};
pub use ir::Program;
pub use source::{Sources, Span};

/// The prelude, which is part of every program.
pub const PRELUDE: &str = include_str!("prelude.ks");

/// Checks a program and makes the derivations that it asks for.
///
/// # Errors
/// Every mistake in the program, in order.
pub fn compile(sources: &Sources) -> Result<Program, Vec<Error>> {
    let mut program = check(sources)?;
    derive::complete(&mut program).map_err(|error| vec![error])?;
    Ok(program)
}
