//! From text to trees of parentheses: [`lex`] makes tokens, [`tree`] lists.

pub mod lex;
pub mod tree;

pub use tree::{Comment, Kind, Sexp, SexpId, Tree, parse};
