//! Sums in lanes as `labrys compile -O` makes them: where they pay, and nowhere else.

use labrys_compiler::emit::{self, Options};
use labrys_compiler::optimize::emission::{Prepared, prepare};
use labrys_compiler::optimize::programs::Budget;
use labrys_compiler::rewrite::Mode;
use labrys_compiler::rewrite::verify::verify;
use labrys_compiler::{Program, Sources, compile};
use labrys_search::Seed;

/// A matrix times a vector, again and again.
fn program(width: usize) -> Program {
    let text = format!(
        "(def random (Vec Float) ((seed : Integer) (n : Integer)) (build n (lam (i : Integer) (sub ($ranhashdoub (add seed i)) 0.5))))
         (def times (Vec Float) ((m : Tensor 2 Float) (v : Vec Float))
           (let ((rows columns) (size m))
             (build rows (lam (i : Integer) (sumbuild columns (lam (j : Integer) (mul (index (tuple i j) m) (index j v))))))))
         (def main Integer ()
           (let (m (build (tuple {width} {width}) (lam (ij : Tuple Integer Integer) (let ((i j) ij) (to_float (sub i j))))))
             (print (ifold 3 (lam (s_k : Tuple (Vec Float) Integer) (times m (get$1$2 s_k))) (random 1 {width})))))"
    );
    compile(&Sources::with("f.ks", text).unwrap()).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

fn prepared(program: &Program, mode: Mode) -> Prepared {
    exporting(program, mode, &[])
}

fn exporting(program: &Program, mode: Mode, exports: &[&str]) -> Prepared {
    let options = Options { exports: exports.iter().map(ToString::to_string).collect(), ..Options::default() };
    let budget = Budget { work: Some(300), ..Budget::default() };
    prepare(program, &options, mode, &budget).unwrap_or_else(|failed| panic!("{failed}"))
}

/// How many sums of the program are in lanes, and how many steps of its certificate say so.
fn lanes(prepared: &Prepared) -> (usize, usize) {
    let steps = prepared.certificate.functions.iter().flat_map(|function| &function.steps);
    let is_one = |rule: &str| rule.starts_with("sumbuild_in_lanes");
    (prepared.program.show().matches("(sumbuild$").count(), steps.filter(|step| is_one(&step.rule)).count())
}

#[test]
fn long_sums_go_in_lanes_where_rounding_may_change() {
    let program = program(64);
    let found = prepared(&program, Mode::Real);
    let (sums, steps) = lanes(&found);
    assert!(sums > 0 && steps > 0, "{}", found.program.show());
    assert!(found.costs.1 < 0.6 * found.costs.0, "{:?}", found.costs);
    // The checker does every step again.
    let mut simplified = emit::simplified(&program, &Options::default()).unwrap();
    let report = verify(&mut simplified, &found.certificate, None, (10, Seed(3)));
    assert!(report.unwrap_or_else(|error| panic!("{error}")).steps >= steps);
}

#[test]
fn strict_mode_and_short_sums_have_none() {
    assert_eq!(lanes(&prepared(&program(64), Mode::Strict)), (0, 0));
    assert_eq!(lanes(&prepared(&program(3), Mode::Real)), (0, 0));
}

/// A function that `main` calls once is written out there; what is exported goes by the sizes of that call all the same.
#[test]
fn exported_functions_go_by_the_calls_of_main() {
    let sums = |width: usize| lanes(&exporting(&program(width), Mode::Real, &["times"])).0;
    assert_eq!((sums(64), sums(3)), (2, 0));
}

/// What is printed can be read again, and simplified.
#[test]
fn lanes_survive_a_file() {
    let found = prepared(&program(64), Mode::Real);
    let text = found.program.show();
    let again =
        compile(&Sources::with("g.ks", text.as_str()).unwrap()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let again = emit::simplified(&again, &Options::default()).unwrap();
    assert_eq!(again.show().matches("(sumbuild$").count(), lanes(&found).0);
}
