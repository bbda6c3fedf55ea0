//! Tokens.

use crate::error::{Error, ErrorKind};
use crate::source::{FileId, Span};

/// A word of the language.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// `(` or `[`
    Open(Bracket),
    /// `)` or `]`
    Close(Bracket),
    /// A whole number.
    Integer(i64),
    /// A real number.
    Float(f64),
    /// A text, with its escapes resolved.
    String(Box<str>),
    /// A name, or `:`.
    Name,
    /// `; ...` or `#| ... |#`, which counts for formatting only.
    Comment,
}

/// Round or square.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bracket {
    /// `( )`
    Round,
    /// `[ ]`
    Square,
}

impl Bracket {
    /// The closing character.
    pub fn close(self) -> char {
        if self == Self::Round { ')' } else { ']' }
    }

    /// The opening character.
    pub fn open(self) -> char {
        if self == Self::Round { '(' } else { '[' }
    }
}

/// The tokens of a text.
pub struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
}

/// Whether a name may hold this character; a digit only after the first one.
pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_':!$%&*+.,/<=>?@\\^|-~".contains(c)
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning.
    pub fn new(file: FileId, text: &'a str) -> Self {
        Self { file, text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn fail<T>(&self, start: usize, kind: ErrorKind) -> Result<T, Error> {
        Err(Error::new(self.span(start), kind))
    }

    /// The next token with its place.
    pub fn next_token(&mut self) -> Result<Option<(Token, Span)>, Error> {
        let blank = self.rest().find(|c: char| !c.is_whitespace()).unwrap_or(self.rest().len());
        self.at += blank;
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(None) };
        let token = match first {
            '(' | ')' | '[' | ']' => self.bracket(first),
            '"' => self.string(start)?,
            ';' => {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                Token::Comment
            }
            '#' if self.rest().starts_with("#|") => self.block_comment(start)?,
            c if c.is_ascii_digit() || (is_sign(c) && self.digit_after_sign()) => self.number(start)?,
            c if is_name(c) => {
                self.at += self.word().len();
                Token::Name
            }
            c => {
                self.at += c.len_utf8();
                return self.fail(start, ErrorKind::UnexpectedCharacter(c));
            }
        };
        Ok(Some((token, self.span(start))))
    }

    fn bracket(&mut self, c: char) -> Token {
        self.at += 1;
        match c {
            '(' => Token::Open(Bracket::Round),
            '[' => Token::Open(Bracket::Square),
            ')' => Token::Close(Bracket::Round),
            _ => Token::Close(Bracket::Square),
        }
    }

    fn word(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
    }

    fn digit_after_sign(&self) -> bool {
        self.rest()[1..].starts_with(|c: char| c.is_ascii_digit())
    }

    fn number(&mut self, start: usize) -> Result<Token, Error> {
        let word = self.word();
        self.at += word.len();
        let is_integer = word.trim_start_matches(is_sign).bytes().all(|b| b.is_ascii_digit());
        // Rust reads more than the language has: `1.`, `inf`.
        let looks_right = is_integer || is_decimal(word);
        match (is_integer, word.parse::<i64>(), word.parse::<f64>()) {
            (true, Ok(value), _) => Ok(Token::Integer(value)),
            (true, Err(_), _) => self.fail(start, ErrorKind::IntegerTooLarge),
            (false, _, Ok(value)) if looks_right => Ok(Token::Float(value)),
            _ => self.fail(start, ErrorKind::BadNumber(word.to_owned())),
        }
    }

    fn string(&mut self, start: usize) -> Result<Token, Error> {
        let mut value = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            self.at = start + 1 + offset + c.len_utf8();
            match c {
                '"' => return Ok(Token::String(value.into())),
                '\\' => {
                    let Some((_, escaped)) = chars.next() else { break };
                    let escape = self.at - 1;
                    self.at += escaped.len_utf8();
                    match unescape(escaped) {
                        Some(c) => value.push(c),
                        None => return self.fail(escape, ErrorKind::BadEscape(escaped)),
                    }
                }
                c => value.push(c),
            }
        }
        self.at = start + 1;
        self.fail(start, ErrorKind::UnclosedString)
    }

    fn block_comment(&mut self, start: usize) -> Result<Token, Error> {
        let mut depth = 0usize;
        while !self.rest().is_empty() {
            match &self.rest().as_bytes()[..self.rest().len().min(2)] {
                b"#|" => depth += 1,
                b"|#" => depth -= 1,
                _ => {
                    self.at += self.rest().chars().next().map_or(1, char::len_utf8);
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return Ok(Token::Comment);
            }
        }
        self.at = start + 2;
        self.fail(start, ErrorKind::UnclosedComment)
    }
}

fn is_sign(c: char) -> bool {
    c == '-' || c == '+'
}

/// Digits, then a fraction or an exponent or both.
fn is_decimal(word: &str) -> bool {
    let word = word.trim_start_matches(is_sign);
    let (mantissa, exponent) = word.split_once(['e', 'E']).map_or((word, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let exponent_digits = |text: &str| digits(text.strip_prefix(is_sign).unwrap_or(text));
    digits(whole) && fraction.is_none_or(digits) && exponent.is_none_or(exponent_digits)
}

fn unescape(c: char) -> Option<char> {
    match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '0' => Some('\0'),
        '"' | '\\' | '\'' => Some(c),
        _ => None,
    }
}
