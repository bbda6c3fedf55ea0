//! What is wrong or outside the subset is told with its place in the source, and with a hint.

mod common;

use common::{cases, messages};
use labrys_compiler::interpret::{Interpreter, Options};
use labrys_compiler::{Sources, compile};
use labrys_front::{Language, load};

#[test]
fn mistakes() {
    let all = cases("tests/wrong");
    assert!(all.len() >= 5);
    for case in all {
        let message = match case.sources() {
            Err(message) => message,
            Ok(sources) => {
                let program = compile(&sources).unwrap();
                let result = Interpreter::new(&program, Options::default(), &mut vec![]).run_main();
                messages(&[result.unwrap_err()], &sources)
            }
        };
        assert!(message.contains(&format!("--> {}:", case.name)), "{message}");
        insta::assert_snapshot!(case.name.replace('.', "_"), message);
    }
}

/// Deep and long programs take memory, not the stack.
#[test]
fn depth() {
    let deep = |n: usize| format!("def f(x: float) -> float:\n    return {}x{}\n", "(".repeat(n), ")".repeat(n));
    let sums = |n: usize| format!("def f(x: float) -> float:\n    return {}x\n", "x + ".repeat(n));
    let lets = |n: usize| format!("def f(x: float) -> float:\n{}    return x\n", "    x = x + 1.0\n".repeat(n));
    let ifs = |n: usize| format!("def f(x: float) -> float:\n    return {}x\n", "x if x > 1.0 else ".repeat(n));
    for text in [deep(2000), sums(5000), lets(2000), ifs(2000)] {
        let mut sources = Sources::new();
        let loaded = load(&mut sources, Language::Python, "deep.py", &text);
        assert!(loaded.is_ok(), "{loaded:?}");
    }
}
