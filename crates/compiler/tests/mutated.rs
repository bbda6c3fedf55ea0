//! Programs with mistakes: nothing panics, and what is told has a place. A small part of what `fuzz/fuzz_targets/ks.rs` does.

mod common;

use common::conformance;
use labrys_compiler::syntax::format::format;
use labrys_compiler::{Sources, check, render};
use proptest::prelude::*;

/// Words, brackets and blanks of a text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = vec![];
    for c in text.chars() {
        let joins = |last: &String| last.ends_with(char::is_alphanumeric) && c.is_alphanumeric();
        match tokens.last_mut().filter(|last| joins(last)) {
            Some(last) => last.push(c),
            None => tokens.push(c.to_string()),
        }
    }
    tokens
}

/// The text with some of its tokens left out, doubled or exchanged, as `edits` say.
fn mutated(text: &str, edits: &[(u8, u16, u16)]) -> String {
    let mut tokens = tokens(text);
    for (kind, from, to) in edits {
        let at = usize::from(*from) % tokens.len();
        let other = usize::from(*to) % tokens.len();
        match kind % 4 {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other].clone()),
            2 => tokens.swap(at, other),
            _ => tokens[at] = tokens[other].clone(),
        }
        if tokens.is_empty() {
            break;
        }
    }
    tokens.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn mistakes_are_told(case in any::<prop::sample::Index>(), edits in prop::collection::vec(any::<(u8, u16, u16)>(), 1..6)) {
        let cases = conformance();
        let text = mutated(&case.get(&cases).text, &edits);
        let sources = Sources::with("mutated.ks", text.as_str()).unwrap();
        let checked = check(&sources);
        match &checked {
            Err(errors) => {
                for error in errors {
                    prop_assert!(error.span != Sources::nowhere() && !render::message(error, &sources).is_empty());
                }
            }
            Ok(program) => {
                let shown = program.show();
                prop_assert!(check(&Sources::with("shown.ks", shown.as_str()).unwrap()).is_ok(), "{}\n{}", text, shown);
            }
        }
        if let Ok(formatted) = format(&sources, sources.ids().last().unwrap()) {
            let again = Sources::with("formatted.ks", formatted.as_str()).unwrap();
            prop_assert_eq!(format(&again, again.ids().last().unwrap()).unwrap(), formatted.clone());
            prop_assert_eq!(check(&again).is_ok(), checked.is_ok(), "{}\n{}", text, formatted);
        }
    }
}
