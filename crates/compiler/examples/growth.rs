//! How the time of each step grows with the size of a program: `cargo run --release -p labrys-compiler --example growth`.
//!
//! A table of milliseconds for a size and its doubles. A row that doubles from column to column grows with the size.
#![allow(clippy::print_stdout, missing_docs)] // this is what it is for

use labrys_compiler::interpret::{Interpreter, Options};
use labrys_compiler::syntax::format::format;
use labrys_compiler::{Sources, check, derive};
use std::time::Instant;

#[path = "../tests/common/large.rs"]
mod large;

/// How many times the smallest size is doubled.
const DOUBLES: usize = 3;

/// A name, what makes the program, and the smallest size.
type Case = (&'static str, fn(usize) -> String, usize);

fn main() {
    let cases: [Case; 9] = [
        ("lets", large::lets, 5_000),
        ("long-lived lets", large::long_lived_lets, 5_000),
        ("nested, bytes", large::nested, 1 << 18),
        ("definitions", large::definitions, 5_000),
        ("derivatives of lets", large::smooth_lets, 2_500),
        ("derivatives of nested, bytes", large::smooth_nested, 1 << 17),
        ("derivatives of definitions", large::smooth_definitions, 2_500),
        ("derivatives of recursion", large::smooth_recursion, 5_000),
        ("derivatives of branches", large::smooth_branches, 250),
    ];
    for (name, make, smallest) in cases {
        let sizes: Vec<usize> = (0..=DOUBLES).map(|power| smallest << power).collect();
        println!("{name}: {sizes:?}");
        let columns: Vec<[f64; 5]> = sizes.iter().map(|size| measured(&make(*size))).collect();
        for (row, step) in ["check", "derive", "show", "format", "run"].iter().enumerate() {
            let times: String = columns.iter().map(|column| format!("{:10.1}", column[row])).collect();
            println!("  {step:8}{times}");
        }
    }
}

/// Milliseconds of each step.
fn measured(text: &str) -> [f64; 5] {
    let sources = Sources::with("growth.ks", text).expect("it is small enough");
    let file = sources.ids().last().expect("there is one");
    let mut times = [0.0; 5];
    let mut step = 0;
    let mut lap = |started: Instant| {
        times[step] = started.elapsed().as_secs_f64() * 1e3;
        step += 1;
    };
    let started = Instant::now();
    let mut program = check(&sources).expect("it is right");
    lap(started);
    let started = Instant::now();
    derive::complete(&mut program).expect("it has derivatives");
    lap(started);
    let started = Instant::now();
    let shown = program.show();
    lap(started);
    let started = Instant::now();
    let formatted = format(&sources, file).expect("it can be read");
    lap(started);
    let started = Instant::now();
    let options = Options::default();
    Interpreter::new(&program, options, &mut std::io::sink()).run_main().expect("it runs");
    lap(started);
    assert!(!shown.is_empty() && !formatted.is_empty());
    times
}
