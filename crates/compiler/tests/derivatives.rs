//! Derivatives against finite differences, and against each other.

mod common;

use common::run;
use labrys_compiler::check::State;
use labrys_compiler::check_grad::{Settings, check as check_grad};
use labrys_compiler::interpret::{Options, Width};
use labrys_compiler::{Sources, syntax};
use labrys_search::Seed;

/// A function `f`, the expressions of its arguments, of directions to move them in, and of a cotangent of the result.
struct Case(&'static str, &'static str, &'static str, &'static str);

/// Prints how far forward mode is from central differences along the direction, relative to it, and how far every other derivation is
/// from forward mode.
fn program(Case(defs, at, along, cotangent): &Case, of: &str) -> String {
    format!(
        "{defs}
(def $at (Tuple Float) () (tuple 0.0))
(def main Integer ()
  (let ((h 1e-5)
        (x {at})
        (dx {along})
        (dt {cotangent})
        (up ({of} (ts_add x (ts_scale h dx))))
        (down ({of} (ts_add x (ts_scale (neg h) dx))))
        (expected (div (sub (ts_dot dt up) (ts_dot dt down)) (mul 2.0 h)))
        (forward (ts_dot dt ([fwd {of}] x dx)))
        (others (Vec_init (ts_dot ([rev {of}] x dt) dx) (ts_dot ([sufrev {of}] x dt) dx) (ts_dot dt (get$2$2 ([fwdt {of}] x dx)))
                          (ts_dot dt (lmApply ([D {of}] x) dx)) (ts_dot (lmApplyR dt (get$2$2 ([Dt {of}] x))) dx)))
        (scale (add 1.0 (abs expected))))
    (print (div (abs (sub forward expected)) scale) \" \"
           (div (max (map (lam (other : Float) (abs (sub other forward))) others)) scale))))"
    )
}

fn check(case: &Case, of: &str) {
    let text = program(case, of);
    let output = run("case.ks", &text, Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let errors: Vec<f64> = output.split(' ').map(|error| error.parse().unwrap()).collect();
    let [by_differences, between] = errors[..] else { panic!("{output}") };
    assert!(by_differences < 1e-6 && between < 1e-10, "{}: {output}", case.0);
}

const SCALAR: &str = "(tuple 0.7 1.3)";
const VECTORS: &str = "(tuple (Vec_init 0.3 -0.8 1.7) (Vec_init 1.1 0.4 0.6))";

#[test]
fn functions_of_scalars() {
    let bodies = [
        "(neg x)",
        "(add x y)",
        "(sub x y)",
        "(mul x y)",
        "(div x y)",
        "(pow x 3)",
        "(pow x -2)",
        "(pow x y)",
        "(pow x 0)",
        "(abs (neg x))",
        "(abs x)",
        "(exp x)",
        "(log x)",
        "(sin x)",
        "(cos x)",
        "(sinh x)",
        "(cosh x)",
        "(tanh x)",
        "(sqrt x)",
        "(erf x)",
        "(lgamma x)",
        "(polygamma 1 x)",
        "(max x y)",
        "(max y x)",
        "(mul x 3)",
        "(mul x (to_float 2))",
        "(mul x ($ranhashdoub 7))",
        "(bool_to_float (gt x y))",
        "(sin (mul (exp x) (log (add y (mul x x)))))",
        "(if (gt x y) (mul x x) (mul x (sin y)))",
        "(if (lt x y) (exp (mul x y)) y)",
        "(let ((a (mul x y)) (b (sin a)) (c (mul a b))) (add (mul c a) (div b c)))",
        "(assert (gt y 0.0) (log y))",
        "(get$2$3 (tuple x (mul x y) y))",
        "(let ((p q) (tuple (mul x x) y)) (mul p q))",
        "($trace (mul x y))",
        "($inline (sin x))",
        "($copydown (sin x))",
        "(delta 1 1 (mul x y))",
        "(delta 1 2 (mul x y))",
    ];
    for body in bodies {
        let defs = format!("(def f Float ((x : Float) (y : Float)) {body})");
        let case = Case(Box::leak(defs.into_boxed_str()), SCALAR, "(tuple 0.6 -0.9)", "1.7");
        if body.contains("$trace") {
            continue;
        }
        check(&case, "f");
    }
}

#[test]
fn functions_of_vectors() {
    let bodies = [
        "(sumbuild (size v) (lam (i : Integer) (mul (index i v) (index i w))))",
        "(sum (build (size v) (lam (i : Integer) (exp (mul (index i v) (index 0 w))))))",
        "(sumbuild 3 (lam (i : Integer) (sumbuild 3 (lam (j : Integer) (mul (sin (index i v)) (exp (index j w)))))))",
        "(fold (lam (a_x : Tuple Float Float) (let ((a x) a_x) (mul (sin a) x))) 0.5 v)",
        "(ts_dot v w)",
        "(dot (exp v) (mul v w))",
        "(sum (map (lam (x : Float) (mul x (index 1 w))) v))",
        "(sum (map2 (lam (x_y : Tuple Float Float) (mul x_y)) v w))",
        "(max v)",
        "(sum (sub v 2.0))",
        "(sum (mul (exp v) (max v 0.2)))",
        "(index 1 (get$2$2 (unzip (build 3 (lam (i : Integer) (tuple (index i v) (mul (index i w) (index i w))))))))",
        "(ts_dot v (deltaVec 3 1 (mul (index 1 v) (index 2 w))))",
        "(ts_dot v (deltaVec 3 7 (index 1 v)))",
        "(sum (index 2 (diag 3 3 (lam (i : Integer) (mul (index i v) (index i w))))))",
        "(ts_dot v (constVec 3 (mul (index 0 v) (index 1 w))))",
        "(sum (Vec_init (index 0 v) (sin (index 1 w)) 1.0))",
        "(ts_dot w (buildFromSparse 3 5 (lam (j : Integer) (tuple (sub j 1) (mul (index 1 v) (to_float j))))))",
        "(let ((a b) (buildFromSparseTupled (tuple 3 3) 3 (lam (j : Integer) (tuple (tuple j (index j v)) (tuple 1 (mul (index j v) (index j w))))))) (ts_dot a b))",
        "(ts_dot (ts_neg v) (ts_scale (index 0 v) (ts_add w v)))",
        "(ts_dot v ($zero w))",
        "(ifold 4 (lam (s_i : Tuple Float Integer) (let ((s i) s_i) (add (mul s (index 0 v)) (sin (index 1 w))))) 1.0)",
        "(sum (fold (lam (s_x : Tuple (Vec Float) Float) (let ((s x) s_x) (mul (mul s x) w))) v (Vec_init 1.0 (index 0 v))))",
        "(let (r (if (gt (index 0 v) 0.0) (exp v) w)) (dot r r))",
        "(sumbuild 3 (lam (i : Integer) (if (gt (index i v) 0.0) (exp (mul (index i v) (index i w))) (index i w))))",
        "(sum (sumbuild 2 (lam (i : Integer) (mul (exp v) (index i w)))))",
        "(let (m (build (tuple 3 3) (lam (ij : Tuple Integer Integer) (let ((i j) ij) (mul (index i v) (index j w)))))) (sum (mul m (mul m v))))",
        "(let (rows (build 3 (lam (i : Integer) (mul v (index i w))))) (sumbuild 3 (lam (i : Integer) (let (row (index i rows)) (dot row row)))))",
    ];
    for body in bodies {
        let defs = format!("(def f Float ((v : Vec Float) (w : Vec Float)) {body})");
        let along = "(tuple (Vec_init 0.5 1.5 -0.7) (Vec_init -0.2 0.9 0.8))";
        check(&Case(Box::leak(defs.into_boxed_str()), VECTORS, along, "0.8"), "f");
    }
}

#[test]
fn vectors_as_results() {
    let bodies = [
        "(mul (exp v) w)",
        "(build 3 (lam (i : Integer) (sin (mul (index i v) (index 0 w)))))",
        "(if (gt (index 0 v) 5.0) v (mul w 2.0))",
        "(deltaVec 3 2 (exp (index 0 v)))",
        "(fold (lam (a_x : Tuple (Vec Float) Float) (let ((a x) a_x) (mul (exp a) x))) w v)",
        "v",
    ];
    for body in bodies {
        let defs = format!("(def f (Vec Float) ((v : Vec Float) (w : Vec Float)) {body})");
        let along = "(tuple (Vec_init 0.5 1.5 -0.7) (Vec_init -0.2 0.9 0.8))";
        check(&Case(Box::leak(defs.into_boxed_str()), VECTORS, along, "(Vec_init 0.4 1.0 -0.3)"), "f");
    }
}

#[test]
fn calls_and_recursion() {
    let power = "(def g Float ((x : Float) (n : Integer)) (if (lte n 0) 1.0 (mul (sin x) (g (mul x 1.01) (sub n 1)))))
        (def f Float ((x : Float) (y : Float)) (add (g x 5) (g (mul x y) 3)))";
    let walk = "(def g Float ((i : Integer) (a : Float) (v : Vec Float))
          (if (gte i (size v)) a (g (add i 1) (mul (cos a) (index i v)) v)))
        (def f Float ((x : Float) (y : Float)) (g 0 x (Vec_init x y 2.0)))";
    let tree = "(data Tree (Leaf Float) (Node Tree Tree))
        (def grow Tree ((n : Integer) (x : Float)) (if (eq n 0) (Leaf (exp x)) (Node (grow (sub n 1) (mul x 0.5)) (Leaf x))))
        (def total Float (t : Tree) (match t ((Leaf x) (mul x x)) ((Node l r) (mul (total l) (sin (total r))))))
        (def f Float ((x : Float) (y : Float)) (mul (total (grow 3 x)) (total (Node (Leaf y) (grow 2 (mul x y))))))";
    for defs in [power, walk, tree] {
        check(&Case(defs, SCALAR, "(tuple 0.6 -0.9)", "1.7"), "f");
    }
}

/// Linear maps in what is derived: put together and applied, held by variables, given by functions, taken by functions.
#[test]
fn linear_maps() {
    let maps = "(def g Float ((x : Float) (y : Float)) (mul (sin x) (mul y y)))
        (def partial (LM Float Float) ((x : Float) (y : Float)) (if (gt x 0.0) (lmScale 1.0 (mul x y)) (lmOne 1.0)))
        (def use Float ((m : LM Float Float) (x : Float)) (mul x (lmApply m (mul x x))))
        (def pick (LM (Tuple Float Float) Float) (x : Float) (lmHCat (lmScale 1.0 x) (lmScale 1.0 (mul x x))))
        (def both (Tuple Float (LM Float Float)) (x : Float) (tuple (exp x) (lmScale 1.0 (sin x))))";
    let bodies = [
        "(lmApply (lmScale 1.0 (mul x y)) (sin x))",
        "(lmApplyR (sin x) (lmScale 1.0 (mul x y)))",
        "(lmApply ([D g] x y) (tuple y x))",
        "(let ((a b) (lmApplyR x ([D g] (mul x y) y))) (mul a (sin b)))",
        "(let (m ([D g] x y)) (add (lmApply m (tuple 1.0 x)) (get$1$2 (lmApplyR y m))))",
        "(let ((v m) ([Dt g] x y)) (mul v (lmApply m (tuple x 1.0))))",
        "(let (t ([Dt g] x y)) (mul (get$1$2 t) (lmApply (get$2$2 t) (tuple x 1.0))))",
        "(lmApply (lmCompose (lmScale 1.0 x) (lmAdd (lmScale 1.0 y) (lmOne 2.0))) (mul x x))",
        "(lmApplyR (mul x x) (lmCompose (lmScale 1.0 x) (lmAdd (lmScale 1.0 y) (lmOne 2.0))))",
        "(let ((a b) (lmApply (lmVCat (lmScale 1.0 x) (lmVariant (lmScale 1.0 y))) (mul x y))) (mul a (sin b)))",
        "(lmApplyR (tuple x (mul x y)) (lmVCat (lmScale 1.0 x) (lmScale 1.0 y)))",
        "(lmApply (lmHCat (lmScale 1.0 x) (lmScale 1.0 y)) (tuple y (mul x y)))",
        "(let ((a b) (lmApplyR (mul x y) (lmHCat (lmScale 1.0 x) (lmScale 1.0 y)))) (mul a (sin b)))",
        "(ts_dot (Vec_init 1.0 2.0 y) (lmApply (lmVCatV (build 3 (lam (i : Integer) (lmScale 1.0 (mul x (to_float i)))))) y))",
        "(lmApplyR (Vec_init x y 1.0) (lmVCatV (build 3 (lam (i : Integer) (lmScale 1.0 (mul x (to_float i)))))))",
        "(lmApply (lmHCatV (build 3 (lam (i : Integer) (lmScale 1.0 (mul x (to_float i)))))) (Vec_init x y 1.0))",
        "(ts_dot (Vec_init 1.0 2.0 y) (lmApplyR (mul x y) (lmHCatV (build 3 (lam (i : Integer) (lmScale 1.0 (mul x (to_float i))))))))",
        "(ts_dot (Vec_init 1.0 2.0 y) (lmApply (lmScaleR (Vec_init x y (mul x y))) (mul x y)))",
        "(lmApply (lmDot (Vec_init x y (mul x y))) (Vec_init y 1.0 x))",
        "(add (lmApply (lmZero x y) x) (lmApplyR x (lmZero x y)))",
        "(let (ms (build 3 (lam (i : Integer) (lmScale 1.0 (mul x (to_float i)))))) (lmApply (index 2 ms) y))",
        "(lmApply (partial x y) (mul y y))",
        "(use (partial x y) y)",
        "(lmApply (pick x) (tuple y x))",
        "(let ((a b) (lmApplyR y (pick x))) (mul a b))",
        "(let ((v m) (both x)) (mul v (lmApply m y)))",
        "(lmApply (get$2$2 (tuple x (lmScale 1.0 x))) y)",
        "(let (m (lmScale 1.0 (exp x))) (lmApply m (lmApply m y)))",
        "(let (fold (lmFold 0.0
            (lam (acc_z : Tuple Float Float) (let ((acc z) acc_z) (mul (mul acc z) x)))
            (lam (acc_z : Tuple Float Float) (let ((acc z) acc_z)
               (lmHCat (lmScale 1.0 (mul acc z)) (lmHCat (lmScale 1.0 (mul z x)) (lmScale 1.0 (mul acc x))))))
            y (Vec_init x 2.0 y)))
           (let ((s (a v)) (lmApplyR x fold)) (add (lmApply fold (tuple x (tuple y (Vec_init 1.0 x y)))) (add s (sum v)))))",
    ];
    for body in bodies {
        let body = body.replace("(let ((s (a v)) (lmApplyR x fold)) ", "(let (((s av) (lmApplyR x fold)) ((a v) av)) ");
        let defs = format!("{maps}\n(def f Float ((x : Float) (y : Float)) {body})");
        check(&Case(Box::leak(defs.into_boxed_str()), SCALAR, "(tuple 0.6 -0.9)", "1.7"), "f");
    }
}

/// A check is a function too, smooth where it is not zero.
#[test]
fn checks() {
    let defs = "(def g Float (t : Tuple Float Float) (let ((x y) t) (mul (exp x) y)))
        (def f Float ((x : Float) (y : Float))
          ($check (lam (t : Tuple Float Float) (g t)) (lam (t_dt : Tuple (Tuple Float Float) Float) ([rev g] t_dt))
                  (tuple x y) (tuple y (mul x x)) (sin x)))";
    check(&Case(defs, SCALAR, "(tuple 0.6 -0.9)", "1.7"), "f");
}

/// Forward mode of recursive functions, and of functions that call one above twice, takes as many calls as the function itself does.
#[test]
fn forward_mode_computes_nothing_twice() {
    let deep = "(def g Float ((x : Float) (n : Integer)) (if (lte n 0) x (sin (g (mul x 1.01) (sub n 1)))))
        (def main Integer () (print ([fwd g] (tuple 0.5 20000) (tuple 1.0 (tuple)))))";
    assert!(run("deep.ks", deep, Options::default()).is_ok());
    let chain: String = (1..60)
        .map(|number| format!("(def f{number} Float (x : Float) (sin (f{} (mul x 0.9))))\n", number - 1))
        .collect();
    let twice: String = (1..12)
        .map(|number| format!("(def g{number} Float (x : Float) (mul (g{0} x) (g{0} (sin x))))\n", number - 1))
        .collect();
    let text = format!(
        "(def f0 Float (x : Float) x)\n{chain}(def g0 Float (x : Float) (exp x))\n{twice}
         (def main Integer () (print (lt (abs (sub ([fwd f59] 0.5 1.0) ([rev f59] 0.5 1.0))) 1e-12) (lt (abs (sub (div ([fwd g5] 0.5 1.0) ([rev g5] 0.5 1.0)) 1.0)) 1e-9)))"
    );
    assert_eq!(run("chain.ks", &text, Options::default()).unwrap(), "11");
}

/// Derivations of external functions are external; what cannot be made is a mistake only where it is needed.
#[test]
fn what_cannot_be_made_matters_only_where_it_is_needed() {
    let external = "(edef far Float (Float))\n(def f Float (x : Float) (mul x (far x)))\n";
    let unused =
        format!("{external}(def g Float (x : Float) ([sufrev f] x 1.0))\n(def main Integer () (print (gt 2.0 1.0)))");
    assert_eq!(run("unused.ks", &unused, Options::default()).unwrap(), "1");
    let given = format!(
        "{external}(def [rev far] Float ((x : Float) (d : Float)) (mul 3.0 d))\n(def main Integer () (print ([rev far] 1.0 2.0)))"
    );
    assert_eq!(run("given.ks", &given, Options::default()).unwrap(), "6");
    let used = format!("{external}(def main Integer () (print ([rev f] 2.0 1.0)))");
    assert!(run("used.ks", &used, Options::default()).unwrap_err().contains("[far Float] is external"));
    let taken = "(edef apply Float ((Lam Float Float) Float))
        (def f Float (x : Float) (apply (lam (y : Float) (mul x y)) x))
        (def unused Float (x : Float) ([rev f] x 1.0))
        (def main Integer () ";
    assert_eq!(run("taken.ks", &format!("{taken} (print 1))"), Options::default()).unwrap(), "1");
    assert!(run("taken.ks", &format!("{taken} (print (unused 1.0)))"), Options::default()).is_err());
}

/// Derivatives of derivatives: `f` is made of the gradient, or of the directional derivative, of `h`.
#[test]
fn derivatives_nest() {
    let bodies = [
        "(sin (mul x (exp y)))",
        "(let (v (build 3 (lam (i : Integer) (exp (mul x (to_float i)))))) (sumbuild 3 (lam (i : Integer) (mul y (mul (index i v) (index 1 v))))))",
        "(fold (lam (a_z : Tuple Float Float) (let ((a z) a_z) (mul (sin a) z))) y (Vec_init x y 0.5))",
        "(if (gt x 0.0) (mul (exp x) y) x)",
    ];
    for body in bodies {
        let outer = ["(let ((a b) ([rev h] (tuple x y) 1.0)) (mul (sin a) b))", "([fwd h] (tuple x y) (tuple y 1.0))"];
        for outer in outer {
            let defs = format!(
                "(def h Float ((x : Float) (y : Float)) {body})\n(def f Float ((x : Float) (y : Float)) {outer})"
            );
            check(&Case(Box::leak(defs.into_boxed_str()), SCALAR, "(tuple 0.6 -0.9)", "1.7"), "f");
        }
    }
}

/// Derivations of derivations, to a depth of three, of recursion, sum types, folds and loops in loops.
#[test]
fn derivations_of_derivations() {
    let text = "(data Tree (Leaf Float) (Node Tree Tree))
        (def total Float (t : Tree) (match t ((Leaf x) (exp x)) ((Node l r) (mul (total l) (sin (total r))))))
        (def g Float ((x : Float) (n : Integer))
          (if (lte n 0) (exp x) (if (gt x 0.5) (mul x (g (mul x 0.5) (sub n 1))) (add (sin x) (g (mul x 2.0) (sub n 1))))))
        (def h Float (v : Vec Float) (fold (lam (a_x : Tuple Float Float) (let ((a x) a_x) (mul (sin (add a x)) x))) 0.5 v))
        (def k (Vec Float) (v : Vec Float)
          (let (w (map (lam (x : Float) (if (gt x 0.0) (mul x x) (sin x))) v))
            (build (size v) (lam (i : Integer) (mul (index i w) (sum w))))))
        (def s Float ((x : Float) (name : String) (b : Bool)) (if (and b (eq name \"a\")) (mul x x) (exp x)))";
    let names = [
        "[rev total]",
        "[fwd total]",
        "[rev [rev total]]",
        "[rev g]",
        "[fwd [rev g]]",
        "[rev [sufrev g]]",
        "[suffwdpass g]",
        "[rev h]",
        "[rev [fwd h]]",
        "[rev [rev h]]",
        "[rev [fwdt h]]",
        "[suffwdpass h]",
        "[rev k]",
        "[fwd [rev k]]",
        "[fwdt k]",
        "[rev s]",
    ];
    let settings = Settings { samples: 2, size: 3, range: (-1.0, 1.0), seed: Seed(5), width: Width::Bits64 };
    for name in names {
        let mut sources = Sources::with("nested.ks", text).unwrap();
        let mut state = State::default();
        for file in sources.ids() {
            assert_eq!(state.add(&sources, &syntax::parse(file, &sources.file(file).text).unwrap()), []);
        }
        let file = sources.add("name", name).unwrap();
        let tree = syntax::parse(file, name).unwrap();
        let fun = state.function(&sources, &tree, tree.roots[0]).unwrap();
        let samples = check_grad(&mut state.program, fun, None, &settings, tree.get(tree.roots[0]).span).unwrap();
        for sample in samples {
            assert!(sample.between_modes() < 1e-10 && sample.from_differences() < 1e-8, "{name}: {sample:?}");
        }
    }
}

/// What a function prints, its derivatives print once.
#[test]
fn effects_happen_once() {
    let text = "(def p Float (x : Float) (let (n (print \"p\")) (mul x (to_float n))))
        (def main Integer () (print ([rev p] 2.0 1.0) ([fwd p] 2.0 1.0) ([fwdt p] 2.0 1.0) ([sufrev p] 2.0 1.0)))";
    assert_eq!(run("effects.ks", text, Options::default()).unwrap(), "pppp112,11");
}
