//! Deep and large programs: no stack overflow, and work that grows with the size of the program.

mod common;

use common::large::*;
use common::run;
use labrys_compiler::interpret::Options;
use labrys_compiler::syntax::format::format;
use labrys_compiler::{Sources, check, compile, emit};

/// [`lets`] of what is not known before the program runs.
fn unknown_lets(depth: usize) -> String {
    let lets = lets(depth).replace("(def main Integer () (let (x0 0)", "(def f Integer (x : Integer) (let (x0 x)");
    lets + "\n(def main Integer () (f 0))"
}

/// Everything that a program goes through: checked, printed, formatted, run, emitted.
fn goes_through(name: &str, text: &str, expected: &str) {
    within(40, name, text, expected);
    let sources = Sources::with(name, text).unwrap();
    let program = compile(&sources).unwrap();
    let emitted = emit::part(&program, &sources, &emit::Options::default(), "program").unwrap().text;
    assert!(emitted.len() < 40 * text.len() + 1000, "{name}: {} bytes become {}", text.len(), emitted.len());
}

/// The same; what is printed is at most so many times as long.
fn within(most: usize, name: &str, text: &str, expected: &str) {
    assert_eq!(run(name, text, Options::default()).unwrap(), expected, "{name}");
    let sources = Sources::with(name, text).unwrap();
    let program = compile(&sources).unwrap();
    let shown = program.show();
    assert!(shown.len() < most * text.len() + 1000, "{name}: {} bytes become {}", text.len(), shown.len());
    check(&Sources::with(name, shown).unwrap()).unwrap();
    let formatted = format(&sources, sources.ids().last().unwrap()).unwrap();
    assert!(formatted.len() < most * text.len() + 1000, "{name}: {} bytes become {}", text.len(), formatted.len());
}

#[test]
fn deep_lets() {
    goes_through("lets", &lets(5_000), "5000");
    goes_through("unknown", &unknown_lets(5_000), "5000");
    goes_through("long-lived", &long_lived_lets(2_000), "2001000");
}

#[test]
fn a_megabyte_of_expression() {
    goes_through("nested", &nested(1 << 20), "131072");
}

#[test]
fn ten_thousand_definitions() {
    goes_through("definitions", &definitions(10_000), "9999");
}

#[test]
fn derivatives_of_deep_and_large_programs() {
    within(150, "lets", &smooth_lets(5_000), "11");
    within(150, "nested", &smooth_nested(1 << 17), "11");
    within(150, "definitions", &smooth_definitions(10_000), "11");
    within(150, "recursion", &smooth_recursion(10_000), "11");
    within(150, "branches", &smooth_branches(2_000), "11");
}

#[test]
fn passes_over_deep_expressions() {
    let sources = Sources::with("nested", nested(1 << 18)).unwrap();
    let mut program = compile(&sources).unwrap();
    let main = program.main().unwrap();
    let (_, body) = program.lambda(main).unwrap();
    let store = &mut program.store;
    assert!(store.free_vars(body).is_empty());
    assert_eq!(store.refresh(body), body, "there is nothing to rename");
    assert!(store.alpha_equal(body, body));
    let sources = Sources::with("lets", lets(5_000)).unwrap();
    let mut program = compile(&sources).unwrap();
    let main = program.main().unwrap();
    let (_, body) = program.lambda(main).unwrap();
    let copy = program.store.refresh(body);
    assert_ne!(copy, body);
    assert!(program.store.alpha_equal(copy, body));
}

#[test]
fn unfinished_and_nested_text() {
    for text in ["(".repeat(100_000), "[".repeat(100_000) + &"]".repeat(100_000), "#|".repeat(100_000)] {
        let sources = Sources::with("deep", text).unwrap();
        assert!(check(&sources).is_err());
    }
    let types = format!("(def f {}Float{} () 1.0)", "(Vec ".repeat(100_000), ")".repeat(100_000));
    assert!(check(&Sources::with("types", types).unwrap()).is_err());
    let names = format!("(def {}f{} Float () 1.0)", "[rev ".repeat(100_000), "]".repeat(100_000));
    assert!(check(&Sources::with("names", names).unwrap()).is_err());
}
