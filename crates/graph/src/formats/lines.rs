//! Lines and numbers of a text file, as bytes: comments may be in any encoding.

use super::{Error, Result};

/// The lines of a file that hold something, with their numbers.
pub struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

/// One line without its end.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: usize,
    /// Its bytes, without spaces around.
    pub text: &'a [u8],
}

impl<'a> Lines<'a> {
    /// All lines of a file; a byte order mark is skipped.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), number: 0 }
    }

    /// The next line, blank or not.
    pub fn next_raw(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let text = self.rest[..end].trim_ascii();
        self.rest = &self.rest[(end + 1).min(self.rest.len())..];
        self.number += 1;
        Some(Line { number: self.number, text })
    }

    /// Number of the last line that was read.
    pub fn number(&self) -> usize {
        self.number
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.next_raw()?;
            if !line.text.is_empty() {
                return Some(line);
            }
        }
    }
}

impl<'a> Line<'a> {
    /// Its words, between spaces, tabs or commas.
    pub fn words(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        self.text.split(is_space).filter(|word| !word.is_empty())
    }

    /// An error at this line.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::at(self.number, message)
    }

    /// The next word as a count or a number of a node.
    ///
    /// # Errors
    /// If there is none, or it is none.
    pub fn count(&self, words: &mut impl Iterator<Item = &'a [u8]>, what: &str) -> Result<u64> {
        let word = words.next().ok_or_else(|| self.error(format!("expected {what}, found the end of the line")))?;
        parse_count(word).ok_or_else(|| self.error(format!("expected {what}, found '{}'", shown(word))))
    }

    /// The next word as a node that is numbered from 1, as its index from 0.
    ///
    /// # Errors
    /// If it is no node.
    pub fn node(&self, words: &mut impl Iterator<Item = &'a [u8]>, nodes: u64) -> Result<u32> {
        let label = self.count(words, "a node")?;
        if (1..=nodes).contains(&label) {
            return Ok((label - 1) as u32);
        }
        let error = self.error(format!("node {label} is not between 1 and {nodes}"));
        Err(if label == 0 {
            error.with_hint("this format counts from 1; an edge list may count from 0")
        } else {
            error
        })
    }

    /// An edge weight: an integer, which may be written as `2.0` or `1e3`.
    ///
    /// # Errors
    /// If it is none.
    pub fn weight(&self, word: &[u8]) -> Result<i64> {
        let text = std::str::from_utf8(word).unwrap_or_default();
        if let Ok(weight) = text.parse::<i64>() {
            return Ok(weight);
        }
        // Integers up to 2^53 are exact as floating-point numbers.
        const MOST: f64 = 9_007_199_254_740_992.0;
        match text.parse::<f64>() {
            Ok(weight) if weight.fract() == 0.0 && weight.abs() <= MOST => Ok(weight as i64),
            Ok(weight) if weight.is_finite() => Err(self
                .error(format!("edge weight {text} is no integer below 2^53"))
                .with_hint("multiply all weights by the same power of ten")),
            _ => Err(self.error(format!("expected an edge weight, found '{}'", shown(word)))),
        }
    }
}

/// Decimal digits that fit in 63 bits.
pub(super) fn parse_count(word: &[u8]) -> Option<u64> {
    const MOST_DIGITS: usize = 18;
    if word.is_empty() || word.len() > MOST_DIGITS || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(word.iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0')))
}

/// A word for a message: text, and not too much of it.
pub(super) fn shown(word: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(&word[..word.len().min(MOST)]).into_owned();
    if word.len() > MOST { text + "..." } else { text }
}
