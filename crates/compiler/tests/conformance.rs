//! Small programs written from the language reference, each with what it prints.

mod common;

use common::{conformance, run};
use labrys_compiler::interpret::Options;
use labrys_compiler::syntax::format::format;
use labrys_compiler::{Sources, compile};

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
