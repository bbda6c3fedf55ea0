//! Compiled programs against the interpreter: many programs in few C++ files, so that the C++ compiler starts seldom.
//! Without a C++ compiler these tests say so and pass.
#![allow(clippy::print_stderr)] // a skipped test says so

mod common;

use common::conformance;
use common::generate::{Generated, Ty, programs};

use labrys_compiler::emit::{self, Options};
use labrys_compiler::interpret;
use labrys_compiler::{Sources, compile};
use proptest::strategy::Strategy as _;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs in one C++ file.
const BATCH: usize = 60;
/// Digits that both sides print, and how far apart they may be.
const DIGITS: usize = 17;
const TOLERANCE: f64 = 1e-9;

/// The C++ compiler of this machine.
fn compiler() -> Option<String> {
    let own = std::env::var("CXX").ok();
    let candidates = own.into_iter().chain(["c++", "g++", "clang++"].map(str::to_owned));
    let found = candidates.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("SKIPPED: there is no C++ compiler");
    }
    found
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// An executable of several programs: the number of one is its argument.
fn executable(compiler: &str, name: &str, programs: &[(String, String)], options: &Options, flags: &[&str]) -> PathBuf {
    let mut text = format!("#define KS_DIGITS {DIGITS}\n") + &emit::runtime(options);
    let mut cases = String::new();
    for (number, (name, program)) in programs.iter().enumerate() {
        let sources = Sources::with(name.as_str(), program.as_str()).unwrap();
        let program = compile(&sources).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        let part = emit::part(&program, &sources, options, &format!("program_{number}")).unwrap();
        text += &part.text;
        cases += &format!("    case {number}: ks::run([](ks::arena& memory) {{ {}; }}); break;\n", part.call.unwrap());
    }
    text += &format!("int main(int, char** arguments) {{\n  switch (std::atoi(arguments[1])) {{\n{cases}  }}\n}}\n");
    let folder = folder("compiled");
    let (source, made) = (folder.join(format!("{name}.cpp")), folder.join(name));
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-pthread"]).args(flags);
    let result = command.arg("-o").arg(&made).arg(&source).output().unwrap();
    let messages = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success() && messages.is_empty(), "{}:\n{messages:.6000}", source.display());
    made
}

/// Whether two outputs are the same, but for the last digits of numbers.
fn agree(a: &str, b: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        text.split(|c: char| c.is_whitespace() || "[](),".contains(c)).map(str::to_owned).collect()
    };
    let (a, b) = (split(a), split(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || near(a, b))
}

fn near(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= TOLERANCE * (1.0 + a.abs().max(b.abs())) || (a.is_nan() && b.is_nan()),
        _ => false,
    }
}

fn interpreted(name: &str, text: &str) -> Result<String, String> {
    let options = interpret::Options { digits: DIGITS, ..interpret::Options::default() };
    common::run(name, text, options)
}

/// Every program that is wrong when it is compiled.
fn wrong(compiler: &str, name: &str, programs: &[(String, String)], options: &Options, flags: &[&str]) -> Vec<String> {
    let mut wrong = vec![];
    for (batch, programs) in programs.chunks(BATCH).enumerate() {
        let made = executable(compiler, &format!("{name}_{batch}"), programs, options, flags);
        for (number, (name, text)) in programs.iter().enumerate() {
            let result = Command::new(&made).arg(number.to_string()).output().unwrap();
            let found = String::from_utf8_lossy(&result.stdout).into_owned();
            let message = String::from_utf8_lossy(&result.stderr).into_owned();
            match interpreted(name, text) {
                Ok(expected) if result.status.success() && agree(&expected, &found) => {}
                Err(_) if result.status.code() == Some(1) && message.starts_with("error: ") => {}
                expected => {
                    wrong.push(format!("{name} ({number}):\n{text}\nexpected {expected:?}\nfound    {found}{message}"))
                }
            }
        }
    }
    wrong
}

#[test]
fn conformance_programs() {
    let Some(compiler) = compiler() else { return };
    let programs: Vec<(String, String)> = conformance().into_iter().map(|case| (case.name, case.text)).collect();
    let wrong = wrong(&compiler, "conformance", &programs, &Options::default(), &["-O0", "-Wall", "-Wextra"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A sum in lanes adds in the order that the language says, and not in one that suits the C++ compiler.
#[test]
fn sums_in_lanes_have_the_same_bits() {
    let Some(compiler) = compiler() else { return };
    let term = "(mul (sub ($ranhashdoub (add i 7)) 0.5) (pow 10.0 (sub i (mul 6 (div i 6)))))";
    let sums = ["sumbuild$4", "sumbuild$8", "sumbuild"].map(|prim| format!(" ({prim} n (lam (i : Integer) {term}))"));
    let text = format!(
        "(def main Integer () (ifold 41 (lam (s_n : Tuple Integer Integer) (let ((s n) s_n) (print{} \"\\n\"))) 0))",
        sums.join(" \" \"")
    );
    let expected = interpreted("lanes", &text).unwrap();
    let is_other = |line: &str| line.split(' ').collect::<std::collections::BTreeSet<_>>().len() > 1;
    assert!(expected.lines().filter(|line| is_other(line)).count() > 20, "the order makes no difference:\n{expected}");
    let programs = [("lanes".to_owned(), text)];
    for (name, flags) in [("lanes_0", &["-O0", "-Wall", "-Wextra"][..]), ("lanes_3", &["-O3", "-march=native"])] {
        let made = executable(&compiler, name, &programs, &Options::default(), flags);
        let found = Command::new(&made).arg("0").output().unwrap().stdout;
        assert_eq!(String::from_utf8_lossy(&found), expected, "{name}");
    }
}

/// The functions of the runtime are a few units in the last place off, whatever the argument, one at a time and several at once.
#[test]
fn wide_functions_are_nearly_those_of_the_library() {
    let Some(compiler) = compiler() else { return };
    let special = "0.0 -0.0 1.0 -1.0 1e-300 -1e-9 1e-5 0.3 -0.35 0.36 22.0 -22.5 709.7 709.79 710.5 -708.5 -740.0 -745.2 -746.5 1e999 -1e999 (div 0.0 0.0)";
    let scales = "0.001 0.5 3.0 40.0 1400.0";
    let text = format!(
        "(def at (Vec Float) () (Vec_init {special}))
         (def scales (Vec Float) () (Vec_init {scales}))
         (def random (Vec Float) (k : Integer) (build 2000 (lam (i : Integer) (mul (index k (scales)) (sub ($ranhashdoub i) 0.5)))))
         (def main Integer ()
           (print (map (lam (x : Float) (exp x)) (at)) (map (lam (x : Float) (tanh x)) (at))
                  (build 5 (lam (k : Integer) (map (lam (x : Float) (exp x)) (random k))))
                  (build 5 (lam (k : Integer) (map (lam (x : Float) (tanh x)) (random k))))))"
    );
    let (expected, options) =
        (interpreted("wide", &text).unwrap(), Options { wide_functions: true, ..Options::default() });
    for (name, flags) in [("wide_0", &["-O0", "-Wall", "-Wextra"][..]), ("wide_3", &["-O3", "-march=native"])] {
        let made = executable(&compiler, name, &[("wide".to_owned(), text.clone())], &options, flags);
        let found = String::from_utf8(Command::new(&made).arg("0").output().unwrap().stdout).unwrap();
        let numbers = |text: &str| -> Vec<f64> {
            text.split(|c: char| c.is_whitespace() || "[],".contains(c)).filter_map(|word| word.parse().ok()).collect()
        };
        let (expected, found) = (numbers(&expected), numbers(&found));
        assert_eq!((expected.len(), found.len()), (20_044, 20_044));
        for (a, b) in expected.iter().zip(&found) {
            // Below the least normal number the last place is 5e-324.
            let is_near =
                a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-15 * a.abs() + 1e-323 || (a.is_nan() && b.is_nan());
            assert!(is_near && a.is_sign_negative() == b.is_sign_negative() || a.is_nan(), "{name}: {a:e} {b:e}");
        }
    }
}

/// The program, and what its functions become under forward, reverse and split mode.
fn with_derivatives(program: &Generated) -> String {
    let defs = program.text.rsplit_once("(def main").map_or("", |(defs, _)| defs);
    let mut prints = String::new();
    for function in &program.functions {
        let (name, args) = (&function.name, function.args.join(" "));
        let at = if function.params.len() == 1 { args.clone() } else { format!("(tuple {args})") };
        prints += &format!(" ({name} {args}) \"\\n\"");
        if function.result.is_tangent() {
            for kind in ["rev", "sufrev"] {
                prints += &format!(" ([{kind} {name}] {at} ({name} {args})) \"\\n\"");
            }
        }
        if function.params.iter().all(Ty::is_tangent) {
            prints += &format!(" ([fwd {name}] {at} {at}) \"\\n\"");
        }
    }
    format!("{defs}\n(def main Integer () (print{prints}))")
}

#[test]
fn random_programs() {
    let Some(compiler) = compiler() else { return };
    let count: usize = std::env::var("LABRYS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let strategy = programs();
    let made: Vec<(String, String)> = (0..count)
        .map(|number| (format!("random_{number}.ks"), strategy.new_tree(&mut runner).unwrap().current()))
        .map(|(name, program)| (name, with_derivatives(&program)))
        .collect();
    let wrong = wrong(&compiler, "random", &made, &Options::default(), &["-O0", "-Wall", "-Wextra"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Without a warning of the optimiser; and under AddressSanitizer and UndefinedBehaviorSanitizer, which see most where nothing is
/// optimised, and then take less time.
#[test]
fn examples() {
    let Some(compiler) = compiler() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ks"));
    files.sort();
    assert!(files.len() >= 6);
    let programs: Vec<(String, String)> = files
        .iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap()))
        .collect();
    executable(&compiler, "warnings", &programs, &Options::default(), &["-O1", "-Wall", "-Wextra"]);
    let flags = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
    let wrong = wrong(&compiler, "examples", &programs, &Options::default(), &flags);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
