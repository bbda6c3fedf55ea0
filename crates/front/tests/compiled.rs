//! Translated programs, compiled to C++, print what the interpreter prints. Without a C++ compiler this says so and passes.
#![allow(clippy::print_stderr)] // a skipped test says so

mod common;

use common::{Case, cases};
use labrys_compiler::check::State;
use labrys_compiler::emit::{Options, cpp};
use labrys_compiler::{Sources, compile};
use std::path::Path;
use std::process::Command;

/// The program, which asks for the derivatives of each function that its `= ` lines name, so that those are compiled too.
fn with_derivatives(case: &Case) -> Sources {
    let mut sources = case.sources().unwrap();
    let names = case.lines("=").into_iter().map(|line| line.split(' ').next().unwrap());
    let mut asked = String::new();
    for name in names {
        let mut state = State::default();
        for file in sources.ids().collect::<Vec<_>>() {
            let tree = labrys_compiler::syntax::parse(file, &sources.file(file).text).unwrap();
            state.add(&sources, &tree);
        }
        let store = &state.program.store;
        let symbol = store.find_symbol(name).unwrap();
        let full = store.show_fun(state.program.overloads(&[], symbol)[0]);
        asked += &format!("(gdef rev {full})\n(gdef fwd {full})\n(gdef sufrev {full})\n");
    }
    sources.add("derivatives.ks", asked).unwrap();
    sources
}

#[test]
fn executables_print_what_the_interpreter_prints() {
    let own = std::env::var("CXX").ok();
    let candidates = own.into_iter().chain(["c++", "g++", "clang++"].map(str::to_owned));
    let Some(compiler) = candidates.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
    else {
        eprintln!("SKIPPED: there is no C++ compiler");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("front");
    std::fs::create_dir_all(&folder).unwrap();
    for case in cases("tests/programs") {
        let sources = with_derivatives(&case);
        let program = compile(&sources).unwrap();
        let text = cpp(&program, &sources, &Options::default()).unwrap();
        let (source, made) = (folder.join(format!("{}.cpp", case.name)), folder.join(&case.name));
        std::fs::write(&source, text).unwrap();
        let flags = ["-std=c++17", "-O0", "-ffp-contract=off", "-pthread"];
        let result = Command::new(&compiler).args(flags).arg("-o").arg(&made).arg(&source).output().unwrap();
        assert!(result.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&result.stderr));
        let output = Command::new(&made).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(printed.trim_end(), case.lines(">").join("\n"), "{}", case.name);
    }
}
