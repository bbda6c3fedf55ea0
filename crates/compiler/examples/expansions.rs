//! How many expressions a second the rewriter expands: all successors of each, with the cost of each, starting from expressions of 30 steps
//! and going where a random walk goes.
//!
//! `cargo run --release -p labrys-compiler --example expansions [MODE] [PROGRAM]`
#![allow(clippy::print_stdout)] // this is what it is for

use labrys_compiler::cost::{Cost, Table};
use labrys_compiler::ir::Body;
use labrys_compiler::rewrite::{Mode, Rewriter, RuleSet, Settings};
use labrys_compiler::{Sources, compile};
use rustc_hash::FxHashSet;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Expansions of each program.
const EXPANSIONS: u64 = 20_000;

const PROGRAMS: [(&str, &str); 3] = [
    (
        "arithmetic",
        "(def f Float ((x : Float) (y : Float) (z : Float))
           (add (mul (add x y) (div (mul x 2.0) (add y 1.0))) (sub (mul (add x y) z) (mul (exp x) (exp (add y z))))))",
    ),
    (
        "sharing",
        "(def f Float ((x : Float) (y : Float))
           (let (a (mul (add x y) (add x y)))
             (let (b (div a (add (mul a 2.0) (exp x))))
               (if (gt a b) (add (mul a b) (mul (add x y) b)) (sub a (div b (add x y)))))))",
    ),
    (
        "loops",
        "(def f Float ((x : Float) (v : Vec Float))
           (let (w (build (size v) (lam (i : Integer) (mul (index i v) (exp x)))))
             (add (sumbuild (size v) (lam (j : Integer) (mul (index j w) (add x 1.0)))) (sum (map (lam (q : Float) (mul q x)) v)))))",
    ),
];

fn main() {
    let mut args = std::env::args().skip(1);
    let (only_mode, only_program) = (args.next(), args.next());
    let is_wanted = |only: &Option<String>, name: &str| only.as_ref().is_none_or(|only| only == name);
    for mode in Mode::ALL.into_iter().filter(|mode| is_wanted(&only_mode, mode.keyword())) {
        for (name, text) in PROGRAMS.into_iter().filter(|(name, _)| is_wanted(&only_program, name)) {
            expand(mode, name, text);
        }
    }
}

/// Best-first search by cost.
fn expand(mode: Mode, name: &str, text: &str) {
    let Ok(sources) = Sources::with(name, text) else { return };
    let Ok(mut program) = compile(&sources) else { return };
    let Some(Body::Expr(param, body)) = program.defs().last().map(|def| def.body) else { return };
    let rules = RuleSet::standard(&mut program, Settings { mode, ..Settings::default() });
    let (mut rewriter, mut cost) = (Rewriter::new(&rules), Table::default());
    let (_, start) = rewriter.begin(&mut program, param, body);
    let (mut seen, mut open, mut found) = (FxHashSet::default(), BinaryHeap::new(), vec![]);
    // Costs are positive, so their bits are in their order.
    open.push((!cost.cost(&mut program, start).to_bits(), start));
    seen.insert(start);
    let (mut expansions, mut successors, mut sizes) = (0u64, 0u64, 0u64);
    let started = Instant::now();
    while let Some((_, expr)) = open.pop() {
        found.clear();
        rewriter.actions(&mut program, expr, &mut found);
        expansions += 1;
        successors += found.len() as u64;
        sizes += u64::from(program.store.size(expr));
        for (_, next) in &found {
            if seen.insert(*next) {
                open.push((!cost.cost(&mut program, *next).to_bits(), *next));
            }
        }
        if expansions == EXPANSIONS {
            break;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{:6} {name:10}: {:.0} expansions/s of {:.1} steps, {:.1} successors each, {} states, {} nodes",
        mode.keyword(),
        expansions as f64 / seconds,
        sizes as f64 / expansions as f64,
        successors as f64 / expansions as f64,
        seen.len(),
        program.store.len()
    );
}
