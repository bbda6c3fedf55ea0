//! `.ks` programs in the making: trees of parentheses that know which part of the source they come from.

use crate::stack;
use labrys_compiler::syntax::{format, parse};
use labrys_compiler::{Sources, Span};

/// A word or a list, with the place in the source that it is made of.
#[derive(Clone, Debug)]
pub struct Ks {
    /// Where it comes from.
    pub origin: Option<Span>,
    /// What it is.
    pub form: Form,
}

/// What a [`Ks`] is.
#[derive(Clone, Debug)]
pub enum Form {
    /// A name or a constant.
    Word(String),
    /// `( ... )`
    List(Vec<Ks>),
    /// `[ ... ]`
    Square(Vec<Ks>),
}

/// A word.
pub fn word(text: impl Into<String>) -> Ks {
    Ks { origin: None, form: Form::Word(text.into()) }
}

/// `(part ...)`
pub fn list(parts: Vec<Ks>) -> Ks {
    Ks { origin: None, form: Form::List(parts) }
}

/// `[part ...]`
pub fn square(parts: Vec<Ks>) -> Ks {
    Ks { origin: None, form: Form::Square(parts) }
}

/// `(head arg ...)`
pub fn call(head: &str, args: impl IntoIterator<Item = Ks>) -> Ks {
    list([word(head)].into_iter().chain(args).collect())
}

/// An Integer constant.
pub fn integer(value: impl std::fmt::Display) -> Ks {
    word(value.to_string())
}

/// A Float constant.
pub fn float(value: f64) -> Ks {
    let text = format!("{value:?}");
    match () {
        () if value.is_nan() => call("div", [word("0.0"), word("0.0")]),
        () if value.is_infinite() => call("div", [word(if value > 0.0 { "1.0" } else { "-1.0" }), word("0.0")]),
        // `1e-7` needs no point, `1` does; Rust writes `1.0` and `1e16`.
        () => word(text),
    }
}

/// A String constant.
pub fn text(value: &str) -> Ks {
    let mut quoted = String::from("\"");
    for c in value.chars() {
        match c {
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            '\0' => quoted += "\\0",
            '"' | '\\' => quoted.extend(['\\', c]),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    word(quoted)
}

impl Ks {
    /// The same from a place in the source.
    pub fn at(mut self, span: Span) -> Self {
        self.origin = Some(span);
        self
    }

    /// Whether it is a name or a constant, which may stand twice.
    pub fn is_word(&self) -> bool {
        matches!(self.form, Form::Word(_))
    }

    /// The arguments, if this is a call of `head`.
    pub fn args_of(&self, head: &str) -> Option<&[Self]> {
        match &self.form {
            Form::List(parts) => match parts.split_first() {
                Some((Self { form: Form::Word(word), .. }, args)) if word == head => Some(args),
                _ => None,
            },
            _ => None,
        }
    }

    fn write(&self, out: &mut String, origins: &mut Vec<Option<Span>>) {
        let (parts, brackets) = match &self.form {
            Form::Word(text) => {
                out.push_str(text);
                origins.push(self.origin);
                return;
            }
            Form::List(parts) => (parts, ['(', ')']),
            Form::Square(parts) => (parts, ['[', ']']),
        };
        out.push(brackets[0]);
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                out.push(' ');
            }
            stack::grow(|| part.write(out, origins));
        }
        out.push(brackets[1]);
        origins.push(self.origin);
    }
}

/// A form at the top, with the comment above it.
#[derive(Debug)]
pub struct Top {
    /// Lines without their mark.
    pub comment: Vec<String>,
    /// The form.
    pub form: Ks,
}

/// A stretch of a translation, in bytes, and the place of the source that it comes from.
pub type Place = (std::ops::Range<u32>, Span);

/// The text of a program in the one layout of `labrys fmt`, and where its parts come from; `None` if it is larger than any source may be.
pub fn print(tops: &[Top]) -> Option<(String, Vec<Place>)> {
    let (mut text, mut origins) = (String::new(), vec![]);
    for top in tops {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in &top.comment {
            text.push_str("; ");
            text.push_str(line);
            text.push('\n');
        }
        top.form.write(&mut text, &mut origins);
        text.push('\n');
    }
    let flat = Sources::with("flat.ks", text).ok()?;
    let formatted = format::format(&flat, flat.ids().last()?).ok()?;
    let shown = Sources::with("formatted.ks", formatted.as_str()).ok()?;
    let tree = parse(shown.ids().last()?, &formatted).ok()?;
    // Both list parts before the whole.
    let places = tree.ids().zip(origins).filter_map(|(id, origin)| {
        let span = tree.get(id).span;
        Some((span.start..span.end, origin?))
    });
    let places = places.collect();
    Some((formatted, places))
}
