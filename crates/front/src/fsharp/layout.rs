//! Tokens as far as the layout lets them be seen: a line that does not start right of the block ends it.

use super::Parser;
use super::lex::{Placed, Token};
use crate::error::Result;
use crate::stack;
use labrys_compiler::Span;

/// Closing brackets, which may stand anywhere.
const CLOSERS: [&str; 5] = [")", "]", "|]", "}", ">]"];
/// Operators that may start a line at the column of their block.
const INFIX: [&str; 22] = [
    "|>", "<|", "+", "-", "*", "/", "%", "**", "&&", "||", "=", "<", ">", "<=", ">=", "<>", ".*", "./", "|", ",", "->",
    "::",
];
/// What needs an operand behind it.
const AWAITING: [&str; 15] = ["+", "-", "*", "/", "%", "**", "&&", "||", "|>", ".*", "./", ",", "(", "[", "[|"];
/// Words that go on with what stands above them.
const GOING_ON: [&str; 5] = ["then", "else", "elif", "with", "and"];

impl Parser {
    /// The next token, unless the layout hides it.
    pub(super) fn peek(&self) -> Option<&Placed> {
        self.tokens.get(self.at).filter(|placed| self.at == self.start || self.is_visible(placed))
    }

    fn is_visible(&self, placed: &Placed) -> bool {
        if !placed.is_first || placed.column > self.offside || self.is_awaited() {
            return true;
        }
        match &placed.token {
            Token::Symbol(symbol) if CLOSERS.contains(symbol) => true,
            Token::Symbol(symbol) if INFIX.contains(symbol) => placed.column + symbol.len() + 1 > self.offside,
            Token::Name(name) if GOING_ON.contains(&name.as_str()) => placed.column == self.offside,
            _ => false,
        }
    }

    /// Whether the last token is an operator or a bracket that needs an operand, wherever that stands.
    fn is_awaited(&self) -> bool {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.is_some_and(|last| matches!(last.token, Token::Symbol(symbol) if AWAITING.contains(&symbol)))
    }

    pub(super) fn next(&mut self) -> Option<Placed> {
        let placed = self.peek().cloned()?;
        self.at += 1;
        Some(placed)
    }

    /// Where the next token stands, or the end of what can be seen.
    pub(super) fn here(&self) -> Span {
        match self.peek() {
            Some(placed) => placed.span,
            None => self.before(),
        }
    }

    /// Where the last token stands.
    pub(super) fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.end, |placed| placed.span)
    }

    pub(super) fn sees(&self, symbol: &str) -> bool {
        self.peek().is_some_and(|placed| matches!(placed.token, Token::Symbol(found) if found == symbol))
    }

    pub(super) fn sees_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|placed| matches!(&placed.token, Token::Name(found) if found == word))
    }

    /// Takes the symbol if it is next.
    pub(super) fn takes(&mut self, symbol: &str) -> bool {
        let is_next = self.sees(symbol);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes the word if it is next.
    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.sees_word(word);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, symbol: &str, after: &str) -> Result<()> {
        if self.takes(symbol) {
            return Ok(());
        }
        self.fail(self.here(), format!("expected '{symbol}' {after}"))
    }

    pub(super) fn expect_word(&mut self, word: &str, after: &str) -> Result<()> {
        if self.takes_word(word) {
            return Ok(());
        }
        self.fail(self.here(), format!("expected '{word}' {after}"))
    }

    /// A name that is no keyword.
    pub(super) fn identifier(&mut self, what: &str) -> Result<(String, Span)> {
        match self.peek() {
            Some(Placed { token: Token::Name(name), span, .. }) if !is_keyword(name) => {
                let found = (name.clone(), *span);
                self.at += 1;
                Ok(found)
            }
            _ => self.fail(self.here(), format!("expected {what}")),
        }
    }

    /// Reads something whose first token sets the column of its block.
    pub(super) fn block_at_next<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let Some(column) = self.peek().map(|placed| placed.column) else {
            return self.fail(self.before(), "expected an expression after this, further to the right than its block");
        };
        let outer = std::mem::replace(&mut self.offside, column);
        self.start = self.at;
        let made = stack::grow(|| read(self));
        self.offside = outer;
        made
    }

    /// Whether the next token starts a line at the column of the block.
    pub(super) fn starts_line_of_block(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|placed| placed.is_first && placed.column == self.offside)
    }
}

/// Words that are no names.
pub(super) fn is_keyword(name: &str) -> bool {
    [
        "let",
        "rec",
        "in",
        "if",
        "then",
        "else",
        "elif",
        "match",
        "with",
        "fun",
        "function",
        "type",
        "of",
        "open",
        "module",
        "and",
        "mutable",
        "for",
        "while",
        "do",
        "done",
        "to",
        "when",
        "yield",
        "try",
        "finally",
        "new",
        "true",
        "false",
        "begin",
        "end",
        "namespace",
        "member",
        "static",
        "inline",
        "private",
        "public",
        "internal",
        "null",
        "as",
        "use",
        "lazy",
        "assert",
    ]
    .contains(&name)
}
