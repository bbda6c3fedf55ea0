//! Certificates: what the optimiser did, done again by the checker, and what the checker refuses.

mod common;

use common::wild::{CALLED, PARAMETERS, TYPES, Wild};
use labrys_compiler::ir::{Body, Def, Node, Program};
use labrys_compiler::rewrite::certificate::{Certificate, Step, Steps};
use labrys_compiler::rewrite::explain::{by_rule, explain};
use labrys_compiler::rewrite::replay::{ReplayError, Why, replay};
use labrys_compiler::rewrite::verify::{Refused, verify};
use labrys_compiler::rewrite::{Mode, Rewriter, RuleSet, Settings};
use labrys_compiler::{Sources, compile, cost};
use labrys_search::Seed;
use std::collections::BTreeMap;

const SAMPLES: (u64, Seed) = (20, Seed(1));

fn program(text: &str) -> Program {
    compile(&Sources::with("f.ks", text).unwrap()).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]))
}

/// Takes random steps on the last function; gives the certificate and the optimised program.
fn optimise(text: &str, settings: Settings, steps: usize, wild: &mut Wild) -> (Certificate, String) {
    let mut program = program(text);
    let rules = RuleSet::with_rules_of(&mut program, settings).unwrap();
    let def = *program.defs().last().unwrap();
    let Body::Expr(param, body) = def.body else { panic!() };
    let mut rewriter = Rewriter::new(&rules);
    let (param, mut state) = rewriter.begin(&mut program, param, body);
    let mut taken = vec![];
    for _ in 0..steps {
        let mut found = vec![];
        rewriter.actions(&mut program, state, &mut found);
        let mut by_rule: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, (action, _)) in found.iter().enumerate() {
            by_rule.entry(&rules.rule(action.rule).name).or_default().push(number);
        }
        let Some((rule, numbers)) = by_rule.iter().nth(wild.below(by_rule.len().max(1))) else { break };
        let (action, next) = found[numbers[wild.below(numbers.len())]];
        let path = action.place.path(&program.store, state).unwrap();
        taken.push(Step { rule: (*rule).to_owned(), path, choice: action.choice });
        state = next;
    }
    let function = program.store.show_fun(def.fun);
    program.define(Def { body: Body::Expr(param, state), ..def });
    (Certificate { settings, functions: vec![Steps { function, steps: taken }] }, program.show())
}

fn cases() -> u64 {
    std::env::var("LABRYS_FUZZ_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(60)
}

/// Two appliers of rules agree at every step of random sequences in every mode, and the certificate survives being written.
#[test]
fn what_was_done_is_done_again() {
    for seed in 0..cases() {
        let mut wild = Wild::new(seed.wrapping_mul(17) + 3);
        let ty = TYPES[wild.below(TYPES.len())];
        let text = format!("{CALLED}(def f {ty} {PARAMETERS} {})", wild.expr(ty, 4));
        let mode = Mode::ALL[seed as usize % 3];
        let (certificate, optimised) = optimise(&text, Settings { mode, ..Settings::default() }, 12, &mut wild);
        let written = format!("{optimised}{certificate}");
        let read = Certificate::read(&written).unwrap().unwrap();
        assert_eq!(read, certificate);
        // Rounding adds up where numbers are not moderate: what the interpreter says is for strict mode here.
        let samples = if mode == Mode::Strict { SAMPLES } else { (0, Seed(0)) };
        let report = verify(&mut program(&text), &read, Some(&written), samples);
        let report = report.unwrap_or_else(|error| panic!("{error}\n{text}\n{written}"));
        assert_eq!(report.steps, certificate.functions[0].steps.len());
    }
}

const TEXT: &str = "(def f Float ((x : Float) (y : Float)) (add (mul x 1.0) (mul x y)))";

fn certificate(mode: Mode, steps: &[&str]) -> Certificate {
    let steps = steps.iter().map(|step| Step::read(step).unwrap()).collect();
    let settings = Settings { mode, ..Settings::default() };
    Certificate { settings, functions: vec![Steps { function: "[f (Tuple Float Float)]".to_owned(), steps }] }
}

#[test]
fn a_forged_certificate_is_refused() {
    let check = |certificate: &Certificate| verify(&mut program(TEXT), certificate, None, SAMPLES);
    assert_eq!(check(&certificate(Mode::Strict, &["mul_one@1.1.0"])).unwrap().steps, 1);
    let refused = |mode, steps: &[&str]| check(&certificate(mode, steps)).unwrap_err();
    // Another place, no such place, a rule of another class, no rule.
    let why = |refused| match refused {
        Refused::Replay(ReplayError::Step(step)) => step.why,
        other => panic!("{other}"),
    };
    let is_refused = |refused| matches!(why(refused), Why::NotApplicable(_));
    assert!(is_refused(refused(Mode::Strict, &["mul_one@1.1.1"])));
    assert!(is_refused(refused(Mode::Strict, &["mul_one@1.1.0.7"])));
    assert!(is_refused(refused(Mode::Strict, &["mul_one@1.1.0", "mul_one@1.1.0"])));
    let is_unknown = |refused| matches!(why(refused), Why::NoRule(_));
    assert!(is_unknown(refused(Mode::Strict, &["commute_mul@1.1.1"])));
    assert!(check(&certificate(Mode::Real, &["commute_mul@1.1.1"])).is_ok());
    assert!(is_unknown(refused(Mode::Fast, &["no_rule@."])));
    let mut other = certificate(Mode::Strict, &[]);
    other.functions[0].function = "[g Float]".to_owned();
    assert_eq!(check(&other), Err(Refused::Replay(ReplayError::NoFunction("[g Float]".to_owned()))));
}

/// The program that comes with a certificate must be the one that it leads to.
#[test]
fn another_program_is_refused() {
    let good = "(def f Float ((x : Float) (y : Float)) (add x (mul x y)))";
    let bad = "(def f Float ((x : Float) (y : Float)) (add x (mul y x)))";
    let certificate = certificate(Mode::Strict, &["mul_one@1.1.0"]);
    let check = |text: &str| verify(&mut program(TEXT), &certificate, Some(text), SAMPLES);
    assert!(check(good).is_ok());
    assert!(matches!(check(bad), Err(Refused::Body { .. })));
    assert!(matches!(check("(def g Float () 1.0)"), Err(Refused::Body { .. })));
    assert!(matches!(check("(def f Float"), Err(Refused::Program(_))));
}

/// A wrong rule of the program is applied as it says, and the interpreter finds out.
#[test]
fn a_wrong_rule_is_caught() {
    let text = format!("(rule \"wrong\" ((a : Float) (b : Float)) (mul a b) (add a b) exact)\n{TEXT}");
    let certificate = certificate(Mode::Strict, &["wrong@1.1.1"]);
    let refused = verify(&mut program(&text), &certificate, None, SAMPLES).unwrap_err();
    assert!(matches!(refused, Refused::Result { .. }), "{refused}");
}

const SUM: &str = "(def f Float ((x : Float) (v : Vec Float))
  (add (sumbuild (size v) (lam (i : Integer) (index i v))) (sumbuild 11 (lam (i : Integer) (sub x (div 1.0 (to_float (add i 1))))))))";

fn sums(mode: Mode, step: &str) -> Certificate {
    let settings = Settings { mode, ..Settings::default() };
    let steps = vec![Step::read(step).unwrap()];
    Certificate { settings, functions: vec![Steps { function: "[f (Tuple Float (Vec Float))]".to_owned(), steps }] }
}

/// Sums in lanes are another rounding: allowed where that may change, and in no other mode.
#[test]
fn lanes_are_for_real_mode() {
    let whole = program(SUM);
    let Body::Expr(_, mut body) = whole.defs().last().unwrap().body else { panic!() };
    // Below the lets that take the argument apart.
    let mut path = String::new();
    while let Node::Let(_, _, rest) = whole.store.node(body) {
        (path, body) = (path + "1.", rest);
    }
    for (rule, part) in [("sumbuild_in_lanes", 0), ("sumbuild_in_lanes.eight", 1)] {
        let step = format!("{rule}@{path}{part}");
        let check = |mode| verify(&mut program(SUM), &sums(mode, &step), None, SAMPLES);
        assert_eq!(check(Mode::Real).unwrap_or_else(|error| panic!("{error}")).steps, 1);
        let Err(Refused::Replay(ReplayError::Step(step))) = check(Mode::Strict) else {
            panic!("strict mode has {rule}")
        };
        assert!(matches!(step.why, Why::NoRule(_)), "{step}");
    }
    // Rules that say what is not so: that the bits are the same; a sum that forgets the second round; one that adds each term twice.
    let wrong = [
        ("(sumbuild$4 n (lam (i : Integer) e)) exact", 1, Mode::Strict),
        ("(sumbuild$8 n (lam (i : Integer) (if (lt i 8) e 0.0))) real", 1, Mode::Real),
        ("(sumbuild$4 n (lam (i : Integer) (add e e))) real", 0, Mode::Real),
    ];
    for (rhs, part, mode) in wrong {
        let rule = "(rule \"wrong\" ((n : Integer) (e : Float)) (sumbuild n (lam (i : Integer) e))";
        let text = format!("{rule} {rhs})\n{SUM}");
        let step = format!("wrong@{path}{part}");
        let refused = verify(&mut program(&text), &sums(mode, &step), None, SAMPLES).unwrap_err();
        assert!(matches!(refused, Refused::Result { .. }), "{rhs}: {refused}");
    }
}

#[test]
fn steps_are_explained() {
    let mut program = program(TEXT);
    let functions = replay(&mut program, &certificate(Mode::Strict, &["mul_one@1.1.0", "new_bind@1.1#1"])).unwrap();
    let lines = explain(&mut program, &functions, &mut cost::Table::default());
    assert_eq!(lines.len(), 2);
    let (saved, spent) = (lines[0].before - lines[0].after, lines[1].after - lines[1].before);
    assert!((saved - 2.0).abs() < 1e-9 && (spent - 0.1).abs() < 1e-9, "{saved} {spent}");
    let place = lines[0].place.unwrap();
    assert_eq!(Sources::with("f.ks", TEXT).unwrap().text(place), "(mul x 1.0)");
    assert_eq!(by_rule(&lines)[0].0, "mul_one");
}

/// A function that runs for minutes does not hold up the check, and what it does is left open.
#[test]
fn what_takes_too_long_is_not_compared() {
    let text = "(def slow Float () (mul 1.0 (sumbuild 100000000 (lam (i : Integer) (to_float i)))))";
    let steps = vec![Step::read("mul_one.left@.").unwrap()];
    let functions = vec![Steps { function: "[slow (Tuple)]".to_owned(), steps }];
    let certificate = Certificate { settings: Settings::default(), functions };
    let report = verify(&mut program(text), &certificate, None, SAMPLES).unwrap();
    assert_eq!((report.calls, report.unknown), (0, 1));
}
