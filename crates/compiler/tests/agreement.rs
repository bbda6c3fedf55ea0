//! Every way to compute a value or a derivative gives the same, on random programs.
//!
//! `LABRYS_PROGRAMS=10000 cargo test --release -p labrys-compiler --test agreement -- --nocapture` runs as many programs and says what
//! it found; without the variable it is a small number of them.
#![allow(clippy::print_stderr)] // the report of a long run

mod common;

use common::generate::generate;
use labrys_compiler::check_grad::{Settings, check};
use labrys_compiler::interpret::{Interpreter, Options, Value, Width};
use labrys_compiler::ir::{Derivation, FunId, Program};
use labrys_compiler::{ErrorKind, Sources, compile, derive, render};
use labrys_search::Seed;
use rand::RngExt as _;

/// Agreement of modes with each other, relative to derivatives above 1.
const BETWEEN_MODES: f64 = 1e-9;
/// Agreement with finite differences, except close to where the function is not smooth.
const FROM_DIFFERENCES: f64 = 1e-5;
/// Directions that may meet such a place: programs compare, take absolute values, and choose maxima.
const NOT_SMOOTH: f64 = 0.05;

#[derive(Default, Debug)]
struct Report {
    programs: u64,
    functions: u64,
    directions: u64,
    not_smooth: u64,
    not_finite: u64,
    between_modes: f64,
}

#[test]
fn modes_agree_with_each_other_and_with_finite_differences() {
    let count = std::env::var("LABRYS_PROGRAMS").ok().map_or(60, |text| text.parse().unwrap());
    let mut report = Report::default();
    for number in 0..count {
        let mut rng = Seed(1).stream("program", number);
        let length = rng.random_range(1..600);
        let choices: Vec<u32> = (0..length).map(|_| rng.random()).collect();
        let generated = generate(&choices);
        let sources = Sources::with("random.ks", generated.text.as_str()).unwrap();
        let mut program = compile(&sources).unwrap();
        let names: Vec<&str> = generated.functions.iter().map(|function| function.name.as_str()).collect();
        let own = |program: &Program| -> Vec<FunId> {
            let is_own = |fun: &FunId| names.contains(&program.store.text(program.store.parts(*fun).1));
            program.defs().map(|def| def.fun).filter(is_own).collect()
        };
        for fun in own(&program) {
            agree(&mut program, fun, number, &mut report).unwrap_or_else(|error| {
                panic!("program {number}: {}\n{}", render::message(&error, &sources), generated.text)
            });
        }
        report.programs += 1;
    }
    eprintln!("{report:?}");
    assert!(report.directions > count, "{report:?}");
    assert!((report.not_smooth as f64) < NOT_SMOOTH * report.directions as f64, "{report:?}");
    assert!((report.not_finite as f64) < NOT_SMOOTH * report.directions as f64, "{report:?}");
}

fn agree(program: &mut Program, fun: FunId, number: u64, report: &mut Report) -> Result<(), labrys_compiler::Error> {
    let span = program.def(fun).unwrap().span;
    let settings = Settings { samples: 2, size: 3, range: (-1.0, 1.0), seed: Seed(number), width: Width::Bits64 };
    let samples = match check(program, fun, None, &settings, span) {
        // There is nothing to derive by, or nothing to derive. Anything else can be derived.
        Err(error) if matches!(&error.kind, ErrorKind::NotDerivable { reason, .. } if reason.contains("no Float")) => {
            return Ok(());
        }
        samples => samples?,
    };
    report.functions += 1;
    for sample in samples {
        report.directions += 1;
        let between = sample.between_modes();
        if between.is_nan() {
            report.not_finite += 1;
            continue;
        }
        assert!(between < BETWEEN_MODES, "program {number}, {}: {sample:?}", program.store.show_fun(fun));
        report.between_modes = report.between_modes.max(between);
        report.not_smooth += u64::from(sample.from_differences() > FROM_DIFFERENCES);
    }
    values_agree(program, fun, &settings)
}

/// The value that forward and split mode compute on the way, against that of the function.
fn values_agree(program: &mut Program, fun: FunId, settings: &Settings) -> Result<(), labrys_compiler::Error> {
    let span = program.def(fun).unwrap().span;
    let [dual, there] = [Derivation::Fwdt, Derivation::SufFwdPass].map(|kind| program.store.derived(kind, fun));
    derive::complete_function(program, dual, span)?;
    derive::complete_function(program, there, span)?;
    let (x, dx) = labrys_compiler::check_grad::argument(program, fun, settings).unwrap();
    let mut nowhere = std::io::sink();
    let mut interpreter = Interpreter::new(program, Options::default(), &mut nowhere);
    let value = interpreter.call(fun, x.clone())?;
    let [by_dual, by_split] = [(dual, Value::tuple(vec![x.clone(), dx])), (there, x)]
        .map(|(derived, arg)| interpreter.call(derived, arg).map(|both| both.fields()[0].clone()));
    let name = program.store.show_fun(fun);
    assert!(is_close(&value, &by_dual?) && is_close(&value, &by_split?), "{name}");
    Ok(())
}

fn is_close(a: &Value, b: &Value) -> bool {
    let (a, b) = (a.all_floats(), b.all_floats());
    let same =
        |a: f64, b: f64| (a - b).abs() <= BETWEEN_MODES * (1.0 + a.abs()) || a.to_bits() == b.to_bits() || a.is_nan();
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(*a, *b))
}
