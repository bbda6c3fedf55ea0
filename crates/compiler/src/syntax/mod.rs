//! From text to trees of parentheses, and back: [`lex`] makes tokens, [`tree`] lists, [`format`] text again.

pub mod format;
pub mod lex;
pub mod tree;

pub use tree::{Comment, Kind, Sexp, SexpId, Tree, parse};
