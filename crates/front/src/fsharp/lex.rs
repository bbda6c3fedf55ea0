//! Tokens of F#, with the columns by which blocks are told apart.

use crate::error::{Mistake, Result};
use labrys_compiler::Span;
use labrys_compiler::source::FileId;

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// A name or a keyword.
    Name(String),
    /// A whole number.
    Integer(i64),
    /// A real number.
    Float(f64),
    /// A text.
    Text(String),
    /// Brackets, operators and punctuation.
    Symbol(&'static str),
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// Its place.
    pub span: Span,
    /// Its column, in characters from 0.
    pub column: usize,
    /// Whether it is the first of its line.
    pub is_first: bool,
    /// Whether there is nothing between it and the token before.
    pub is_adjacent: bool,
}

/// A comment that has a line of its own.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Without its marks.
    pub text: String,
    /// The byte after it.
    pub end: u32,
}

/// Longest first.
const SYMBOLS: [&str; 47] = [
    "[<", ">]", "[|", "|]", "<-", "->", "|>", "<|", ">>", "<<", "::", ":=", "..", "**", "<=", ">=", "<>", "&&", "||",
    ".*", "./", ".[", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "|", "=", "<", ">", "+", "-", "*", "/", "%",
    "&", "!", "@", "^", "?", "#",
];

/// The tokens and comments of a text.
///
/// # Errors
/// The first character that starts nothing, or text without an end.
pub fn lex(file: FileId, text: &str) -> Result<(Vec<Placed>, Vec<Comment>)> {
    let mut lexer = Lexer { file, text, at: 0, line_start: 0, is_first: true, tokens: vec![], comments: vec![] };
    while lexer.step()? {}
    Ok((lexer.tokens, lexer.comments))
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    line_start: usize,
    is_first: bool,
    tokens: Vec<Placed>,
    comments: Vec<Comment>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn fail<T>(&self, start: usize, message: &str) -> Result<T> {
        Err(Mistake::Syntax(message.to_owned()).at(self.span(start)))
    }

    /// Reads on; false at the end.
    fn step(&mut self) -> Result<bool> {
        let Some(c) = self.rest().chars().next() else { return Ok(false) };
        let start = self.at;
        match c {
            '\n' => {
                self.at += 1;
                (self.line_start, self.is_first) = (self.at, true);
            }
            c if c.is_whitespace() => self.at += c.len_utf8(),
            _ if self.rest().starts_with("//") => self.line_comment(),
            _ if self.rest().starts_with("(*") && !self.rest().starts_with("(*)") => self.block_comment(start)?,
            '"' => self.string(start)?,
            c if c.is_ascii_digit() => self.number(start)?,
            c if c.is_alphabetic() || c == '_' => {
                let end =
                    self.rest().find(|c: char| !(c.is_alphanumeric() || "_'".contains(c))).unwrap_or(self.rest().len());
                self.at += end;
                let name = self.text[start..self.at].to_owned();
                self.push(start, Token::Name(name));
            }
            _ => self.symbol(start, c)?,
        }
        Ok(true)
    }

    fn push(&mut self, start: usize, token: Token) {
        let column = self.text[self.line_start..start].chars().count();
        let is_adjacent = self.tokens.last().is_some_and(|last| last.span.end as usize == start);
        self.tokens.push(Placed { token, span: self.span(start), column, is_first: self.is_first, is_adjacent });
        self.is_first = false;
    }

    fn symbol(&mut self, start: usize, c: char) -> Result<()> {
        // `>]` ends an attribute only; elsewhere it is `>` and `]`.
        let in_attribute = || self.tokens.iter().rev().any(|placed| placed.token == Token::Symbol("[<"));
        let fits = |symbol: &&&str| self.rest().starts_with(**symbol) && (**symbol != ">]" || in_attribute());
        match SYMBOLS.iter().find(fits) {
            Some(symbol) => {
                self.at += symbol.len();
                self.push(start, Token::Symbol(symbol));
                Ok(())
            }
            None => {
                self.at += c.len_utf8();
                self.fail(start, &format!("unexpected character '{c}'"))
            }
        }
    }

    fn line_comment(&mut self) {
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        let text = self.rest()[..end].trim_start_matches('/').trim().to_owned();
        self.at += end;
        if self.is_first {
            self.comments.push(Comment { text, end: self.at as u32 });
        }
    }

    fn block_comment(&mut self, start: usize) -> Result<()> {
        let mut depth = 0usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("(*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*)") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return Ok(());
                }
            } else {
                let Some(c) = rest.chars().next() else {
                    self.at = start + 2;
                    return self.fail(start, "this comment has no end");
                };
                self.at += c.len_utf8();
                if c == '\n' {
                    (self.line_start, self.is_first) = (self.at, true);
                }
            }
        }
    }

    fn string(&mut self, start: usize) -> Result<()> {
        let mut value = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    self.push(start, Token::Text(value));
                    return Ok(());
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('r') => value.push('\r'),
                    Some('0') => value.push('\0'),
                    Some(c @ ('"' | '\\' | '\'')) => value.push(c),
                    _ => {
                        self.at = start + 2 + offset;
                        return self
                            .fail(start + 1 + offset, "unknown escape: there are \\n, \\t, \\r, \\0, \\\" and \\\\");
                    }
                },
                '\n' => break,
                c => value.push(c),
            }
        }
        self.at = start + 1;
        self.fail(start, "this text has no end in its line")
    }

    fn number(&mut self, start: usize) -> Result<()> {
        let digits = |text: &str| text.find(|c: char| !(c.is_ascii_digit() || c == '_')).unwrap_or(text.len());
        self.at += digits(self.rest());
        let mut is_float = false;
        // `1..n` is a range, `1.` and `1.5` are floats.
        if self.rest().starts_with('.') && !self.rest().starts_with("..") && !self.rest().starts_with(".[") {
            is_float = true;
            self.at += 1;
            self.at += digits(self.rest());
        }
        if self.rest().starts_with(['e', 'E']) {
            let sign = usize::from(self.rest()[1..].starts_with(['-', '+']));
            let exponent = digits(&self.rest()[1 + sign..]);
            if exponent > 0 {
                is_float = true;
                self.at += 1 + sign + exponent;
            }
        }
        if self.rest().starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            return self.fail(start, "a number with a suffix: there are int and float only");
        }
        let text: String = self.text[start..self.at].chars().filter(|c| *c != '_').collect();
        let token = match is_float {
            true => text.parse().ok().map(Token::Float),
            false => text.parse().ok().map(Token::Integer),
        };
        match token {
            Some(token) => self.push(start, token),
            None => return self.fail(start, "this int does not fit into 64 bits"),
        }
        Ok(())
    }
}
