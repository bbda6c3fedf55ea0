//! F#: tokens, and a parser of the subset that makes [`crate::tree`] at once. `layout` tells blocks apart by columns, `declare` reads what stands
//! at the top, `expr` expressions, `arrays` arrays and records, `pattern` patterns, `apply` says what the functions of F#'s library are.

mod apply;
mod arrays;
mod declare;
mod expr;
mod layout;
mod lex;
mod matching;
mod pattern;
mod types;

use crate::error::{Mistake, Result};
use crate::tree::{Expr, Kind, Module};
use crate::types::Type;
use labrys_compiler::source::FileId;
use labrys_compiler::{Error, Span};
use lex::{Comment, Placed};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads a program.
///
/// # Errors
/// The first mistake, or what is outside the subset.
pub fn read(file: FileId, text: &str) -> std::result::Result<Module, Vec<Error>> {
    let module = lex::lex(file, text).and_then(|(tokens, comments)| {
        let mut parser = Parser::new(file, text, tokens, comments);
        parser.module()
    });
    module.map_err(|error| vec![error])
}

/// The state of reading.
struct Parser {
    tokens: Vec<Placed>,
    comments: Vec<Comment>,
    /// The next token.
    at: usize,
    /// A token that starts a line of a block, and can be seen though it stands at its column.
    start: usize,
    /// A line that starts at this column, or before, ends what is being read.
    offside: usize,
    /// The place after everything.
    end: Span,
    /// How many expressions there are.
    exprs: usize,
    /// Types by name.
    types: FxHashMap<String, Type>,
    /// Constructors of unions, with the number of their fields.
    constructors: FxHashMap<String, usize>,
    /// The bytes at which lines start.
    line_starts: Vec<u32>,
    /// Every name in the text.
    names: FxHashSet<String>,
}

impl Parser {
    fn new(file: FileId, text: &str, tokens: Vec<Placed>, comments: Vec<Comment>) -> Self {
        let names = tokens.iter().filter_map(|placed| match &placed.token {
            lex::Token::Name(name) => Some(name.clone()),
            _ => None,
        });
        let names = names.collect();
        let length = text.len() as u32;
        let end = Span { file, start: length, end: length };
        let line_starts = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        let (types, constructors) = (FxHashMap::default(), FxHashMap::default());
        Self { tokens, comments, at: 0, start: 0, offside: 0, end, exprs: 0, types, constructors, line_starts, names }
    }

    fn make(&mut self, span: Span, kind: Kind) -> Expr {
        self.exprs += 1;
        Expr { id: self.exprs - 1, span, kind }
    }

    fn fail<T>(&self, span: Span, message: impl Into<String>) -> Result<T> {
        Err(Mistake::Syntax(message.into()).at(span))
    }

    /// The number of the line of a byte, from 1.
    fn line(&self, at: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    /// A name that the text does not have.
    fn unused_name(&self, like: &str) -> String {
        let numbered = (2..).map(|number| format!("{like}{number}"));
        [like.to_owned()].into_iter().chain(numbered).find(|name| !self.names.contains(name)).unwrap_or_default()
    }
}
