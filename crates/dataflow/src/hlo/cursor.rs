//! A position in the text: blanks, comments, names, strings and balanced brackets, with line numbers for errors.

use crate::{Error, Result};

/// Reads forward through HLO text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    pos: usize,
    /// A position and its line; lines are counted from here, as nearly every question is about a later place.
    known_line: (usize, usize),
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, pos: 0, known_line: (0, 1) }
    }

    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// Goes back to where [`position`](Self::position) was asked.
    pub(super) fn rewind(&mut self, position: usize) {
        self.pos = position;
    }

    /// The text from `start` up to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.pos]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    pub(super) fn line(&mut self) -> usize {
        let (pos, line) = self.known_line;
        let line = if pos <= self.pos {
            line + newlines(&self.text.as_bytes()[pos..self.pos])
        } else {
            1 + newlines(&self.text.as_bytes()[..self.pos])
        };
        self.known_line = (self.pos, line);
        line
    }

    /// The error "expected `what`, found ..." at this place.
    pub(super) fn expected(&mut self, what: &str) -> Error {
        let rest = self.text[self.pos..].lines().next().unwrap_or("");
        let message = match self.peek() {
            None => format!("expected {what}, but the file ends here"),
            Some(_) if rest.is_empty() => format!("expected {what}, but the line ends here"),
            Some(_) => format!("expected {what}, found '{}'", excerpt(rest)),
        };
        let error = Error::syntax(self.line(), message);
        if self.peek().is_none() { error.with_hint("the file looks truncated") } else { error }
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.expected(&format!("'{}'", byte as char))) }
    }

    /// Takes `byte` if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    /// Takes `word` if it is next.
    pub(super) fn eat_str(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.pos..].starts_with(word.as_bytes());
        self.pos += if found { word.len() } else { 0 };
        found
    }

    /// Skips white space and comments, line ends included.
    pub(super) fn skip_blank(&mut self) {
        self.skip_spaces();
        while self.eat(b'\n') {
            self.skip_spaces();
        }
    }

    /// Skips white space and comments up to the end of the line.
    pub(super) fn skip_spaces(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.pos += 1,
                Some(b'/') if self.starts_with("/*") => self.skip_past("*/"),
                Some(b'/') if self.starts_with("//") => self.skip_line(),
                _ => return,
            }
        }
    }

    fn starts_with(&self, word: &str) -> bool {
        self.text.as_bytes()[self.pos..].starts_with(word.as_bytes())
    }

    fn skip_past(&mut self, end: &str) {
        self.pos = self.text[self.pos..].find(end).map_or(self.text.len(), |at| self.pos + at + end.len());
    }

    /// Goes to the end of this line, before its line feed.
    pub(super) fn skip_line(&mut self) {
        self.pos = self.text[self.pos..].find('\n').map_or(self.text.len(), |at| self.pos + at);
    }

    /// A name or opcode: letters, digits, `_`, `.`, `-`, and whatever is not ASCII. May be empty.
    pub(super) fn word(&mut self) -> &'a str {
        let bytes = &self.text.as_bytes()[self.pos..];
        let len = bytes.iter().position(|&b| !is_word_byte(b)).unwrap_or(bytes.len());
        self.pos += len;
        self.since(self.pos - len)
    }

    /// A name with or without its `%`.
    pub(super) fn name(&mut self, what: &str) -> Result<&'a str> {
        self.eat(b'%');
        match self.word() {
            "" => Err(self.expected(what)),
            name => Ok(name),
        }
    }

    /// Takes a bracketed group that starts here, whatever is in it; strings may hold brackets of their own.
    pub(super) fn balanced(&mut self) -> Result<&'a str> {
        let start = self.pos;
        let mut closers = vec![];
        while let Some(byte) = self.peek() {
            self.pos += 1;
            match byte {
                b'(' => closers.push(b')'),
                b'[' => closers.push(b']'),
                b'{' => closers.push(b'}'),
                b')' | b']' | b'}' if closers.pop() != Some(byte) => break,
                b'"' => self.rest_of_string(start)?,
                _ => {}
            }
            if closers.is_empty() {
                return Ok(self.since(start));
            }
        }
        Err(self.unclosed(start))
    }

    fn rest_of_string(&mut self, start: usize) -> Result<()> {
        while let Some(byte) = self.peek() {
            self.pos += 1;
            match byte {
                b'\\' => self.pos = (self.pos + 1).min(self.text.len()),
                b'"' => return Ok(()),
                _ => {}
            }
        }
        Err(self.unclosed(start))
    }

    fn unclosed(&mut self, start: usize) -> Error {
        self.pos = start;
        let open = self.text[start..].chars().next().unwrap_or(' ');
        Error::syntax(self.line(), format!("'{open}' is never closed")).with_hint("the file looks truncated")
    }

    /// The value of an attribute: everything up to a comma, a line end or a closing bracket outside of brackets and strings.
    pub(super) fn value(&mut self) -> Result<&'a str> {
        let start = self.pos;
        while let Some(byte) = self.peek() {
            match byte {
                b',' | b'\n' | b')' | b']' | b'}' => break,
                b'(' | b'[' | b'{' => {
                    self.balanced()?;
                }
                b'"' => {
                    self.pos += 1;
                    self.rest_of_string(self.pos - 1)?;
                }
                _ => self.pos += 1,
            }
        }
        Ok(self.since(start).trim_end())
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') || !byte.is_ascii()
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}

/// The start of a line, short enough for a message.
fn excerpt(line: &str) -> String {
    let cut: String = line.chars().take(40).collect();
    if cut.len() < line.len() { format!("{cut}...") } else { cut }
}
