//! Small programs written from the language reference, each with what it prints.

mod common;

use common::{conformance, run};
use labrys_compiler::check_grad::{Settings, check};
use labrys_compiler::interpret::{Options, Width};
use labrys_compiler::ir::{Body, Derivation, FunId, FunName, Prim};
use labrys_compiler::syntax::format::format;
use labrys_compiler::{Sources, compile};
use labrys_search::Seed;

#[test]
fn every_program_prints_what_it_should() {
    let cases = conformance();
    assert!(cases.len() >= 80);
    let mut wrong = vec![];
    for case in &cases {
        match run(&case.name, &case.text, Options::default()) {
            Ok(output) if output.strip_suffix('\n').unwrap_or(&output) == case.expected => {}
            Ok(output) => wrong.push(format!("{}:\nexpected {}\nfound    {output}", case.name, case.expected)),
            Err(message) => wrong.push(format!("{}: {message}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What the IR of a program says is the program: printed, it reads back to one that prints the same.
#[test]
fn every_program_survives_printing() {
    for case in conformance() {
        let sources = Sources::with(case.name.as_str(), case.text.as_str()).unwrap();
        let mut program = compile(&sources).unwrap();
        assert_eq!(program.validate(), Ok(()), "{}", case.name);
        let shown = program.show();
        let output = run(&case.name, &shown, Options::default()).unwrap_or_else(|error| panic!("{error}\n{shown}"));
        assert_eq!(output.strip_suffix('\n').unwrap_or(&output), case.expected, "{}:\n{shown}", case.name);
    }
}

#[test]
fn every_program_survives_formatting() {
    for case in conformance() {
        let formatted = format_text(&case.text);
        assert_eq!(format_text(&formatted), formatted, "{}", case.name);
        let comments = |text: &str| text.matches(';').count();
        assert_eq!(comments(&formatted), comments(&case.text), "{}", case.name);
        let output = run(&case.name, &formatted, Options::default()).unwrap();
        assert_eq!(output.strip_suffix('\n').unwrap_or(&output), case.expected, "{}", case.name);
    }
}

fn format_text(text: &str) -> String {
    let sources = Sources::with("formatted.ks", text).unwrap();
    let file = sources.ids().last().unwrap();
    format(&sources, file).unwrap()
}

/// Every primitive, form, derivation and function of the prelude is in some program.
#[test]
fn nothing_is_left_out() {
    let all: String = conformance().into_iter().map(|case| case.text).collect();
    let prelude = labrys_compiler::PRELUDE.lines().filter_map(|line| line.strip_prefix("(def ")?.split(' ').next());
    let forms = ["def", "edef", "rule \"", "data", "let", "if", "assert", "tuple", "get$1$2", "lam", "match", "ifold"];
    let calls: Vec<String> = Prim::ALL
        .iter()
        .map(|prim| prim.name())
        .chain(prelude)
        .chain(forms)
        .map(|name| format!("({name}"))
        .chain(Derivation::ALL.iter().map(|kind| format!("(gdef {} ", kind.keyword())))
        .collect();
    let missing: Vec<&String> = calls.iter().filter(|call| !all.contains(call.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Derivatives of every function of every program that defines none of its own, against finite differences.
#[test]
fn every_function_has_its_derivatives() {
    let settings = Settings { samples: 2, size: 3, range: (0.6, 1.4), seed: Seed(3), width: Width::Bits64 };
    let mut checked = 0;
    for case in conformance().iter().filter(|case| !case.text.contains("(def [")) {
        let sources = Sources::with(case.name.as_str(), case.text.as_str()).unwrap();
        let mut program = compile(&sources).unwrap();
        let is_own = |fun: FunId, file| file != Sources::PRELUDE && matches!(program.store.fun(fun), FunName::Base(..));
        let own: Vec<_> = program
            .defs()
            .filter(|def| is_own(def.fun, def.span.file) && matches!(def.body, Body::Expr(..)))
            .copied()
            .collect();
        for def in own {
            // Functions without Floats have no derivatives, and some fail where a random Integer is no index.
            let Ok(samples) = check(&mut program, def.fun, None, &settings, def.span) else { continue };
            for sample in samples {
                let errors = (sample.between_modes(), sample.from_differences());
                let name = program.store.show_fun(def.fun);
                assert!(errors.0 < 1e-9 && errors.1 < 1e-6, "{} {name}: {errors:?} {sample:?}", case.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
}
