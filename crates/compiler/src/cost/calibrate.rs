//! Measuring [`Weights`]: a program of small loops, what times them, and what follows from the times.
//!
//! Each probe is a chain: each step needs the result of the one before, and two lengths of it tell what one step takes, without the loop around it.

use super::Weights;
use crate::ir::Prim;
use std::fmt::Write as _;

/// A function of one number that a probe applies again and again, with the weights that it has besides the one that it is for.
struct Probe {
    prim: Prim,
    /// With `x` for its argument; results stay moderate whatever they are applied to.
    step: &'static str,
    /// Additions and multiplications in it besides.
    besides: (f64, f64),
}

const fn probe(prim: Prim, step: &'static str, adds: f64, muls: f64) -> Probe {
    Probe { prim, step, besides: (adds, muls) }
}

const PROBES: [Probe; 15] = [
    probe(Prim::Add, "(add x 0.37)", 0.0, 0.0),
    probe(Prim::Mul, "(mul x 0.99)", 0.0, 0.0),
    probe(Prim::Div, "(div 1.3 (add x 1.1))", 1.0, 0.0),
    probe(Prim::Neg, "(neg (add x 0.37))", 1.0, 0.0),
    probe(Prim::Abs, "(abs (add x -0.37))", 1.0, 0.0),
    probe(Prim::Sqrt, "(sqrt (add x 1.3))", 1.0, 0.0),
    probe(Prim::Exp, "(exp (mul x -0.7))", 0.0, 1.0),
    probe(Prim::Log, "(log (add x 2.5))", 1.0, 0.0),
    probe(Prim::Sin, "(sin (add x 0.9))", 1.0, 0.0),
    probe(Prim::Cos, "(cos (add x 0.9))", 1.0, 0.0),
    probe(Prim::Tanh, "(tanh (add x 0.9))", 1.0, 0.0),
    probe(Prim::Erf, "(erf (add x 0.9))", 1.0, 0.0),
    probe(Prim::Lgamma, "(lgamma (add x 2.3))", 1.0, 0.0),
    probe(Prim::Pow, "(pow (add x 1.2) 0.3)", 1.0, 0.0),
    probe(Prim::Gt, "(if (gt x 0.5) (mul x 0.31) (add x 0.7))", 0.5, 0.5),
];
/// Lengths of the two chains.
const SHORT: usize = 2;
const LONG: usize = 6;
/// Elements of the tensors of the probes of loops.
const FEW: usize = 4;
const MANY: usize = 64;

/// Functions of loops: how a sum, a tensor, a call and sums in lanes grow with their sizes.
fn loops(size: usize) -> [String; 5] {
    [
        format!("(sumbuild {size} (lam (j : Integer) (index j v)))"),
        format!(
            "(let (w (build {size} (lam (j : Integer) (sqrt (add x (to_float j)))))) \
             (add (index 0 w) (index {} w)))",
            size - 1
        ),
        format!("(down {size} x)"),
        format!("(sumbuild$4 {size} (lam (j : Integer) (index j v)))"),
        format!("(sumbuild$8 {size} (lam (j : Integer) (index j v)))"),
    ]
}

const LOOPS: [&str; 5] = ["sum", "build", "call", "lanes4", "lanes8"];

/// Names of the functions that are timed: `name_short` and `name_long`.
pub fn names() -> Vec<String> {
    let prims = PROBES.iter().map(|probe| probe.prim.name().to_owned());
    let all = prims.chain(LOOPS.iter().map(ToString::to_string));
    all.flat_map(|name| [format!("{name}_short"), format!("{name}_long")]).collect()
}

/// The program of the probes; each takes the number of times to go round.
pub fn program() -> String {
    let mut text =
        "(def down Float ((n : Integer) (x : Float)) (if (gt n 0) (add 0.5 (down (sub n 1) (mul x 0.9))) x))\n"
            .to_owned();
    let mut define = |name: &str, body: &str| {
        _ = writeln!(
            text,
            "(def {name} Float (n : Integer)\n  (let (v (build {MANY} (lam (j : Integer) (div 1.0 (to_float (add j (add n 1)))))))\n  \
             (ifold n (lam (x_i : Tuple Float Integer) (let ((x i) x_i) (mul 0.01 {body}))) 0.7)))"
        );
    };
    for probe in &PROBES {
        for (length, count) in [("short", SHORT), ("long", LONG)] {
            let chain = (0..count).fold("x".to_owned(), |inner, _| format!("(let (x {inner}) {})", probe.step));
            define(&format!("{}_{length}", probe.prim.name()), &chain);
        }
    }
    for (length, size) in [("short", FEW), ("long", MANY)] {
        for (name, body) in LOOPS.iter().zip(loops(size)) {
            define(&format!("{name}_{length}"), &format!("(add x {body})"));
        }
    }
    text
}

/// C++ that times exported functions of one Integer, to be appended to an emitted program without `main`: prints the name of each and nanoseconds for each
/// time round, the least of several runs.
pub fn driver(names: &[String]) -> String {
    let mut table = String::new();
    for name in names {
        _ = writeln!(table, "  {{\"{name}\", {name}}},");
    }
    format!("{DRIVER_HEAD}{table}{DRIVER_TAIL}")
}

const DRIVER_HEAD: &str = r#"
#include <chrono>
#include <cstdio>

namespace {
struct timed { const char* name; double (*run)(ks::arena*, ks::integer); };
volatile double sink;
const timed all[] = {
"#;
const DRIVER_TAIL: &str = r#"};

double seconds(const timed& probe, ks::arena* memory, ks::integer rounds) {
  const auto start = std::chrono::steady_clock::now();
  sink = probe.run(memory, rounds);
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
  ks_memory_reset(memory);
  return used.count();
}
}  // namespace

int main() {
  ks::arena* memory = ks_memory_new();
  for (const timed& probe : all) {
    ks::integer rounds = 1000;
    while (seconds(probe, memory, rounds) < 2e-3) rounds *= 2;
    double best = 1e9;
    for (int i = 0; i < 7; ++i) {
      const double used = seconds(probe, memory, rounds);
      best = used < best ? used : best;
    }
    std::printf("%s %.6f\n", probe.name, 1e9 * best / static_cast<double>(rounds));
  }
  ks_memory_free(memory);
}
"#;

/// What is wrong with times or weights that somebody wrote.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CalibrationError {
    /// A line is no name and number.
    #[error("line {0}: expected a name and a number, as in exp = 4.2")]
    Line(usize),
    /// A name means nothing.
    #[error("line {0}: there is no weight {1}")]
    Name(usize, String),
    /// A number is missing.
    #[error("there is no time of {0}")]
    Missing(String),
}

/// Weights in nanoseconds, from what the driver prints.
///
/// # Errors
/// If a time is missing.
pub fn weights(printed: &str) -> Result<Weights, CalibrationError> {
    let time = |name: &str, length: &str| -> Result<f64, CalibrationError> {
        let name = format!("{name}_{length}");
        let mut words = printed.lines().filter_map(|line| line.split_once(' '));
        let found = words.find(|(word, _)| *word == name).and_then(|(_, time)| time.trim().parse().ok());
        found.ok_or(CalibrationError::Missing(name))
    };
    let slope = |name: &str, short: usize, long: usize| -> Result<f64, CalibrationError> {
        Ok(((time(name, "long")? - time(name, "short")?) / (long - short) as f64).max(0.0))
    };
    let mut weights = Weights::table();
    let add = slope("add", SHORT, LONG)?.max(LEAST);
    let mul = slope("mul", SHORT, LONG)?.max(LEAST);
    for probe in &PROBES {
        let (adds, muls) = probe.besides;
        let own = slope(probe.prim.name(), SHORT, LONG)? - adds * add - muls * mul;
        weights.set(probe.prim, own.max(LEAST));
    }
    share(&mut weights, add);
    let [element, stored, call] = [slope("sum", FEW, MANY)?, slope("build", FEW, MANY)?, slope("call", FEW, MANY)?];
    weights.iteration = (element - add - weights.prim(Prim::Index)).max(LEAST);
    let sqrt = weights.prim(Prim::Sqrt) + add + weights.prim(Prim::ToFloat);
    weights.element = (stored - sqrt - weights.iteration).max(LEAST);
    weights.tensor = (time("build", "short")? - FEW as f64 * stored).max(LEAST);
    let lanes = [slope("lanes4", FEW, MANY)?.max(LEAST), slope("lanes8", FEW, MANY)?.max(LEAST)];
    weights.lanes = lanes.map(|each| (element / each).max(1.0));
    // The few are one round in 4 lanes.
    weights.gather = (time("lanes4", "short")? - time("sum", "short")? + FEW as f64 * (element - lanes[0])).max(LEAST);
    weights.call = (call - add - mul - weights.branch - weights.prim(Prim::Gt)).max(LEAST);
    Ok(weights)
}

/// Less than anything that can be told from nothing; never nothing, so that what is done twice costs more than what is done once.
const LEAST: f64 = 0.01;

/// Weights of steps that have no probe, by those that have one.
fn share(weights: &mut Weights, add: f64) {
    let (gt, exp, sin) = (weights.prim(Prim::Gt), weights.prim(Prim::Exp), weights.prim(Prim::Sin));
    // A comparison and the choice that it makes are one probe.
    weights.branch = (gt / 2.0).max(LEAST);
    for prim in [Prim::Gt, Prim::Lt, Prim::Gte, Prim::Lte, Prim::Eq, Prim::Ne, Prim::And, Prim::Or] {
        weights.set(prim, (gt / 2.0).max(LEAST));
    }
    weights.set(Prim::Sub, add);
    weights.set(Prim::ToFloat, add);
    weights.set(Prim::Index, add / 2.0);
    weights.set(Prim::Size, LEAST);
    weights.set(Prim::Ranhashdoub, 4.0 * add);
    weights.set(Prim::Sinh, 2.0 * exp);
    weights.set(Prim::Cosh, 2.0 * exp);
    weights.set(Prim::Polygamma, 4.0 * sin);
    weights.bind = LEAST;
    weights.field = LEAST;
    weights.assert = weights.branch;
    weights.external = 10.0 * add;
}

/// Weights as lines of names and numbers.
pub fn write(weights: &Weights) -> String {
    let mut weights = weights.clone();
    let mut text = String::new();
    for (name, weight) in weights.named() {
        _ = writeln!(text, "{name} = {weight}");
    }
    for prim in Prim::ALL {
        _ = writeln!(text, "\"prim.{}\" = {}", prim.name(), weights.prim(*prim));
    }
    text
}

/// Reads what [`write`] wrote. Weights that are not there are those of the table.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str) -> Result<Weights, CalibrationError> {
    let mut weights = Weights::table();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = CalibrationError::Line(number + 1);
        let (name, value) = line.split_once('=').ok_or(wrong.clone())?;
        let (name, value) = (name.trim().trim_matches('"'), value.trim().parse::<f64>().map_err(|_| wrong.clone())?);
        if !value.is_finite() || value < 0.0 {
            return Err(wrong);
        }
        let unknown = CalibrationError::Name(number + 1, name.to_owned());
        match name.strip_prefix("prim.") {
            Some(prim) => weights.set(Prim::from_name(prim).ok_or(unknown)?, value),
            None => match weights.named().into_iter().find(|(own, _)| *own == name) {
                Some((_, weight)) => *weight = value,
                None => return Err(unknown),
            },
        }
    }
    Ok(weights)
}

/// Spearman's rank correlation of two lists of the same length; equal values share their mean rank.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let covariance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    covariance(&a, &b) / (covariance(&a, &a) * covariance(&b, &b)).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|value| below(*value) + (equal(*value) - 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sources, compile};

    #[test]
    fn the_probes_are_a_program() {
        let text = program();
        let sources = Sources::with("probes", text.as_str()).unwrap();
        assert!(compile(&sources).is_ok(), "{text}");
        assert!(names().iter().all(|name| text.contains(&format!("(def {name} "))));
    }

    #[test]
    fn weights_follow_from_times() {
        // Nanoseconds of a machine where everything takes as long as the table says.
        let mut printed = String::new();
        let table = Weights::table();
        for probe in &PROBES {
            let (adds, muls) = probe.besides;
            let step = table.prim(probe.prim) + adds + 2.0 * muls;
            for (length, count) in [("short", SHORT), ("long", LONG)] {
                _ = writeln!(printed, "{}_{length} {}", probe.prim.name(), 3.0 + step * count as f64);
            }
        }
        for name in LOOPS {
            _ = writeln!(printed, "{name}_short {}\n{name}_long {}", 5.0 + 20.0, 5.0 + 20.0 * 16.0);
        }
        let found = weights(&printed).unwrap();
        for prim in [Prim::Add, Prim::Mul, Prim::Div, Prim::Exp, Prim::Sqrt, Prim::Sin] {
            assert!((found.prim(prim) - table.prim(prim)).abs() < 1e-9, "{}", prim.name());
        }
        assert_eq!(weights("add_short 1.0\n").unwrap_err(), CalibrationError::Missing("add_long".to_owned()));
    }

    #[test]
    fn weights_survive_a_file() {
        let mut weights = Weights::table();
        weights.set(Prim::Exp, 7.25);
        weights.iteration = 0.5;
        assert_eq!(read(&write(&weights)).unwrap(), weights);
        assert_eq!(read("exp 3").unwrap_err(), CalibrationError::Line(1));
        assert_eq!(read("\n\"prim.foo\" = 3").unwrap_err(), CalibrationError::Name(2, "prim.foo".to_owned()));
        assert_eq!(read("bind = NaN").unwrap_err(), CalibrationError::Line(1));
    }

    #[test]
    fn ranks_correlate() {
        assert_eq!(rank_correlation(&[1.0, 5.0, 9.0], &[10.0, 20.0, 21.0]), 1.0);
        assert_eq!(rank_correlation(&[1.0, 5.0, 9.0], &[3.0, 2.0, 1.0]), -1.0);
        assert!(rank_correlation(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]) < 1.0);
    }
}
