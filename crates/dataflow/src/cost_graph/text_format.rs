//! The protobuf text format, without a schema: a tree of named fields. Schemas are applied by the caller, who skips what it does
//! not know.

use crate::{Error, Result};

/// Deepest nesting of messages and lists.
const MAX_DEPTH: usize = 64;

/// `name: value` or `name { ... }`; a list `name: [a, b]` is a field for each element.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) value: Value<'a>,
}

pub(super) enum Value<'a> {
    /// A number, an enum value, `true`, `inf`.
    Word(&'a str),
    Text(Vec<u8>),
    Message(Vec<Field<'a>>),
}

/// Parses a whole file.
pub(super) fn parse(text: &str) -> Result<Vec<Field<'_>>> {
    let mut parser = Parser { text, pos: 0, line: 1 };
    let fields = parser.fields(0)?;
    match parser.peek() {
        None => Ok(fields),
        Some(_) => Err(parser.expected("a field name")),
    }
}

impl Field<'_> {
    /// An integer in decimal, hexadecimal or octal.
    pub(super) fn integer<T: TryFrom<i64>>(&self) -> Result<T> {
        let number = match self.value {
            Value::Word(word) => parse_integer(word).and_then(|number| T::try_from(number).ok()),
            _ => None,
        };
        number.ok_or_else(|| self.wrong("an integer"))
    }

    pub(super) fn boolean(&self) -> Result<bool> {
        match self.value {
            Value::Word("true" | "True" | "t" | "1") => Ok(true),
            Value::Word("false" | "False" | "f" | "0") => Ok(false),
            _ => Err(self.wrong("true or false")),
        }
    }

    pub(super) fn string(&self) -> Result<String> {
        match &self.value {
            Value::Text(bytes) => String::from_utf8(bytes.clone()).map_err(|_| self.wrong("a string of UTF-8")),
            _ => Err(self.wrong("a quoted string")),
        }
    }

    pub(super) fn message(&self) -> Result<&[Field<'_>]> {
        match &self.value {
            Value::Message(fields) => Ok(fields),
            _ => Err(self.wrong("a message in braces")),
        }
    }

    fn wrong(&self, expected: &str) -> Error {
        Error::syntax(self.line, format!("field '{}': expected {expected}", self.name))
    }
}

fn parse_integer(word: &str) -> Option<i64> {
    let (sign, digits) = word.strip_prefix('-').map_or((1, word), |digits| (-1, digits));
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i128::from(u64::from_str_radix(hex, 16).ok()?),
        None if digits.len() > 1 && digits.starts_with('0') => i128::from(u64::from_str_radix(digits, 8).ok()?),
        None => i128::from(digits.parse::<u64>().ok()?),
    };
    i64::try_from(sign * magnitude).ok()
}

struct Parser<'a> {
    text: &'a str,
    pos: usize,
    line: usize,
}

impl<'a> Parser<'a> {
    /// The next byte that is no blank and no comment.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.pos).copied() {
                Some(b'\n') => self.line += 1,
                Some(b' ' | b'\t' | b'\r') => {}
                Some(b'#') => {
                    let rest = &self.text[self.pos..];
                    self.pos += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                other => return other,
            }
            self.pos += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    fn expected(&mut self, what: &str) -> Error {
        match self.peek() {
            None => Error::syntax(self.line, format!("expected {what}, but the file ends here"))
                .with_hint("the file looks truncated"),
            Some(_) => {
                let found: String = self.text[self.pos..].chars().take_while(|c| *c != '\n').take(30).collect();
                Error::syntax(self.line, format!("expected {what}, found '{found}'"))
            }
        }
    }

    fn word(&mut self, what: &str) -> Result<&'a str> {
        self.peek();
        let rest = &self.text[self.pos..];
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.expected(what));
        }
        self.pos += len;
        Ok(&rest[..len])
    }

    /// Fields up to the end of the file or a closing bracket.
    fn fields(&mut self, depth: usize) -> Result<Vec<Field<'a>>> {
        if depth > MAX_DEPTH {
            return Err(Error::syntax(self.line, format!("messages nested deeper than {MAX_DEPTH} levels")));
        }
        let mut fields = vec![];
        while !matches!(self.peek(), None | Some(b'}' | b'>')) {
            let (line, name) = (self.line, self.field_name()?);
            let has_colon = self.eat(b':');
            if self.eat(b'[') {
                self.list(name, depth, &mut fields)?;
            } else if has_colon || matches!(self.peek(), Some(b'{' | b'<')) {
                fields.push(Field { name, line, value: self.value(depth)? });
            } else {
                return Err(self.expected("':' or '{'"));
            }
            let _separator = self.eat(b',') || self.eat(b';');
        }
        Ok(fields)
    }

    /// A name, or an extension's name in brackets.
    fn field_name(&mut self) -> Result<&'a str> {
        if !self.eat(b'[') {
            return self.word("a field name");
        }
        let start = self.pos;
        let len = self.text[start..].find([']', '\n']).unwrap_or(self.text.len() - start);
        self.pos += len;
        if self.eat(b']') { Ok(&self.text[start..start + len]) } else { Err(self.expected("']'")) }
    }

    fn list(&mut self, name: &'a str, depth: usize, fields: &mut Vec<Field<'a>>) -> Result<()> {
        if self.eat(b']') {
            return Ok(());
        }
        loop {
            self.peek();
            fields.push(Field { name, line: self.line, value: self.value(depth)? });
            if self.eat(b']') {
                return Ok(());
            }
            if !self.eat(b',') {
                return Err(self.expected("',' or ']'"));
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>> {
        match self.peek() {
            Some(open @ (b'{' | b'<')) => {
                self.pos += 1;
                let fields = self.fields(depth + 1)?;
                let close = if open == b'{' { b'}' } else { b'>' };
                if self.eat(close) {
                    Ok(Value::Message(fields))
                } else {
                    Err(self.expected(&format!("a field name or '{}'", close as char)))
                }
            }
            Some(b'"' | b'\'') => self.strings(),
            _ => Ok(Value::Word(self.word("a value")?)),
        }
    }

    /// Adjacent strings are one.
    fn strings(&mut self) -> Result<Value<'a>> {
        let mut bytes = vec![];
        while let Some(quote @ (b'"' | b'\'')) = self.peek() {
            self.pos += 1;
            self.string(quote, &mut bytes)?;
        }
        Ok(Value::Text(bytes))
    }

    fn string(&mut self, quote: u8, bytes: &mut Vec<u8>) -> Result<()> {
        loop {
            let byte = self.text.as_bytes().get(self.pos).copied();
            match byte {
                None | Some(b'\n') => return Err(Error::syntax(self.line, "a string is not closed on its line")),
                Some(byte) if byte == quote => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.pos += 1;
                    self.escape(bytes)?;
                }
                Some(byte) => {
                    self.pos += 1;
                    bytes.push(byte);
                }
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let rest = &self.text.as_bytes()[self.pos..];
        let digits = |from: usize, most: usize, radix: u32| {
            let is_digit = |b: &&u8| char::from(**b).is_digit(radix);
            let count = rest.iter().skip(from).take(most).take_while(is_digit).count();
            let digits = rest[from..from + count].iter().map(|b| char::from(*b));
            (from + count, digits.fold(0, |value, c| value * radix + c.to_digit(radix).unwrap_or(0)))
        };
        let (len, code) = match rest.first().copied() {
            Some(b'0'..=b'7') => digits(0, 3, 8),
            Some(b'x' | b'X') => digits(1, 2, 16),
            Some(b'u') => digits(1, 4, 16),
            Some(b'U') => digits(1, 8, 16),
            Some(letter) => (1, u32::from(plain_escape(letter))),
            None => return Err(Error::syntax(self.line, "a string is not closed on its line")),
        };
        self.pos += len;
        match rest.first() {
            Some(b'u' | b'U') => {
                let c = char::from_u32(code).ok_or_else(|| Error::syntax(self.line, "no such Unicode character"))?;
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => bytes.push(code as u8),
        }
        Ok(())
    }
}

fn plain_escape(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        other => other,
    }
}

/// A string in double quotes, with escapes where the format needs them.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| quoted.push_str(&format!("\\{b:03o}")))
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(fields: &[Field<'_>]) -> String {
        let shown = fields.iter().map(|field| match &field.value {
            Value::Word(word) => format!("{}@{}={word}", field.name, field.line),
            Value::Text(bytes) => format!("{}@{}='{}'", field.name, field.line, String::from_utf8_lossy(bytes)),
            Value::Message(fields) => format!("{}@{}({})", field.name, field.line, show(fields)),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_format_is_read() {
        let cases = [
            ("", ""),
            ("# only a comment", ""),
            ("a: 1 b: -2; c: x, d { e: 1 } f: < g: 2 >", "a@1=1 b@1=-2 c@1=x d@1(e@1=1) f@1(g@1=2)"),
            ("a\n: # why\n 1", "a@1=1"),
            ("a: [1, 2]\nb: [ {c: 1}, <c: 2> ] d: []", "a@1=1 a@1=2 b@2(c@2=1) b@2(c@2=2)"),
            (r#"a: "x\"y" 'z\n' b: "\101\x42\u00e9\\""#, "a@1='x\"yz\n' b@1='AB\u{e9}\\'"),
            ("[my.ext.name]: 5", "my.ext.name@1=5"),
        ];
        for (text, expected) in cases {
            assert_eq!(show(&parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let nested = "a {".repeat(100_000);
        let cases = [
            ("a: 1\nb", "line 2: expected ':' or '{', but the file ends here"),
            ("a: 1\n}", "line 2: expected a field name, found '}'"),
            ("a {\n b: 1\n", "line 3: expected a field name or '}', but the file ends here"),
            ("a < b: 1 }", "line 1: expected a field name or '>', found '}'"),
            ("a: \"x\n\"", "line 1: a string is not closed on its line"),
            ("a: \"\\ud800\"", "line 1: no such Unicode character"),
            ("a: [1 2]", "line 1: expected ',' or ']', found '2]'"),
            ("a: \u{e9}", "line 1: expected a value, found '\u{e9}'"),
            (&nested, "line 1: messages nested deeper than 64 levels"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).map(|f| show(&f)).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn quoted_strings_come_back() {
        for text in ["plain", "q\"uo\\te", "tab\tline\nbell\u{7}", "\u{e9}\u{85}\u{1F600}"] {
            let field = format!("a: {}", quote(text));
            assert_eq!(parse(&field).unwrap()[0].string().unwrap(), text);
        }
    }

    #[test]
    fn integers_in_all_bases() {
        for (word, expected) in [("12", Some(12)), ("-0x10", Some(-16)), ("017", Some(15)), ("1.5", None), ("-", None)]
        {
            assert_eq!(parse_integer(word), expected, "{word}");
        }
    }
}
