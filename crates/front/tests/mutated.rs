//! Programs with something missing, doubled or in the wrong place: no panic, every mistake can be shown, and what is translated is a program.

mod common;

use common::{Case, cases, messages};
use labrys_compiler::{Sources, check};
use labrys_front::{LoadError, load};

const MUTANTS: usize = 150;

/// Words and the blanks between them.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2 + c as u32
        }
    };
    let mut pieces = vec![];
    let (mut start, mut last) = (0, None);
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last != kind(c)) {
            pieces.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    pieces.push(&text[start..]);
    pieces
}

#[test]
fn mutants_are_told_what_is_wrong_with_them() {
    let mut translated = 0;
    for case in cases("tests/programs") {
        let mut state = 7u64;
        // Knuth's linear congruential generator.
        let mut below = |count: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % count
        };
        for _ in 0..MUTANTS {
            let mut parts: Vec<&str> = pieces(&case.text);
            let (a, b) = (below(parts.len()), below(parts.len()));
            match below(4) {
                0 => _ = parts.remove(a),
                1 => parts.insert(a, parts[b]),
                2 => parts.swap(a, b),
                _ => parts[a] = parts[b],
            }
            translated += usize::from(holds(&Case { text: parts.concat(), ..case_of(&case) }));
        }
    }
    assert!(translated > 50, "{translated}");
}

fn case_of(case: &Case) -> Case {
    Case { name: case.name.clone(), language: case.language, text: String::new() }
}

/// Whether the program is translated.
fn holds(case: &Case) -> bool {
    let mut sources = Sources::new();
    match load(&mut sources, case.language, &case.name, &case.text) {
        Ok(_) => {
            let errors = check(&sources).err().unwrap_or_default();
            assert!(errors.is_empty(), "{}\n{}", case.text, messages(&errors, &sources));
            true
        }
        Err(LoadError::Mistakes(errors)) => {
            assert!(!messages(&errors, &sources).is_empty());
            false
        }
        Err(LoadError::Source(_)) => false,
    }
}
