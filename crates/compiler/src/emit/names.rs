//! Names and constants as C++ writes them.

use crate::ir::{Derivation, FunId, Store};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// Names that are taken.
#[derive(Default)]
pub(super) struct Names {
    /// How often each name was asked for.
    taken: FxHashMap<String, usize>,
    /// The names of the function that is being written, to be forgotten.
    local: Vec<String>,
}

/// Words that mean something in C++, or in every emitted program.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "ks",
    "linux",
    "long",
    "memory",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "program",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "std",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "xor_eq",
];

impl Names {
    /// A name that nothing else has, as near to `base` as possible.
    pub(super) fn unique(&mut self, base: &str) -> String {
        let mut name = identifier(base);
        let count = self.taken.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            let number = *count;
            name = format!("{name}_{number}");
            return self.unique(&name);
        }
        name
    }

    /// As [`Names::unique`], until [`Names::forget_locals`].
    pub(super) fn local(&mut self, base: &str) -> String {
        let mut name = identifier(base);
        loop {
            let count = self.taken.entry(name.clone()).or_default();
            *count += 1;
            self.local.push(name.clone());
            if *count == 1 {
                return name;
            }
            name = format!("{name}_{count}");
        }
    }

    pub(super) fn forget_locals(&mut self) {
        for name in self.local.drain(..) {
            if let Some(count) = self.taken.get_mut(&name) {
                *count -= 1;
                if *count == 0 {
                    self.taken.remove(&name);
                }
            }
        }
    }
}

/// The name of a function without its types, as an identifier: `rev_f`.
pub(super) fn function(store: &Store, fun: FunId) -> String {
    let (derivations, name, _) = store.parts(fun);
    let mut words: Vec<&str> = derivations.into_iter().map(Derivation::keyword).collect();
    words.push(store.text(name));
    identifier(&words.join("_"))
}

/// A name of a program as an identifier.
pub(super) fn identifier(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    // Identifiers with two underscores, or one in front, are for the implementation.
    while text.contains("__") {
        text = text.replace("__", "_");
    }
    let text = text.trim_matches('_');
    match text.chars().next() {
        None => "x".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("x{text}"),
        _ if RESERVED.contains(&text) => format!("{text}_"),
        _ => text.to_owned(),
    }
}

/// A text as a string literal.
pub(super) fn literal(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        _ = match byte {
            b'\\' => write!(quoted, "\\\\"),
            b'\n' => write!(quoted, "\\n"),
            // Two question marks could start a trigraph.
            // So that a quote always starts or ends a literal.
            b' '..=b'~' if byte != b'?' && byte != b'"' => write!(quoted, "{}", byte as char),
            _ => write!(quoted, "\\{byte:03o}"),
        };
    }
    quoted.push('"');
    quoted
}

/// An Integer constant.
pub(super) fn integer(value: i64) -> String {
    match value {
        i64::MIN => "(-9223372036854775807 - 1)".to_owned(),
        value if value == i64::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        value => value.to_string(),
    }
}

/// A Float constant.
pub(super) fn float(value: f64, is_single: bool) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "(-ks::not_a_number)" } else { "ks::not_a_number" }.to_owned();
    }
    let value = if is_single { f64::from(value as f32) } else { value };
    if value.is_infinite() {
        return if value > 0.0 { "ks::infinity" } else { "(-ks::infinity)" }.to_owned();
    }
    if is_single { format!("{:?}f", value as f32) } else { format!("{value:?}") }
}
