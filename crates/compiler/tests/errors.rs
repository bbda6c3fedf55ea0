//! Every message, with its excerpt and hint.

use labrys_compiler::interpret::{Interpreter, Options};
use labrys_compiler::{Error, Sources, compile, render};
use std::fmt::Write as _;

/// The messages for a program: of the checker, or of what happened when it ran.
fn messages(text: &str) -> String {
    let sources = Sources::with("wrong.ks", text).unwrap();
    let errors = match compile(&sources) {
        Err(errors) => errors,
        Ok(program) => {
            let result = Interpreter::new(&program, Options::default(), &mut std::io::sink()).run_main();
            vec![result.expect_err(text)]
        }
    };
    let mut out = String::new();
    for error in &errors {
        _ = writeln!(out, "{}", shown(error, &sources));
    }
    out
}

fn shown(error: &Error, sources: &Sources) -> String {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("error: {}{hint}", render::message(error, sources))
}

fn all(programs: &[&str]) -> String {
    programs.iter().map(|text| messages(text) + "\n").collect()
}

#[test]
fn text() {
    insta::assert_snapshot!(all(&[
        "(def f Integer () 1) {",
        "(def f String () \"never ends)",
        "(def f String () \"a\\qb\")",
        "#| never #| ends |#",
        "(def f Integer () 12x)",
        "(def f Integer () 1.)",
        "(def f Integer () 99999999999999999999)",
        "(def f Integer (\n  (add 1 2)",
        "(def f Integer () 1))",
        "(def f Integer [x : Integer) 1)",
        "(def grüße Float () (add ßß \u{1F980}))",
    ]));
}

#[test]
fn forms() {
    insta::assert_snapshot!(all(&[
        "(define f 1)",
        "f",
        "(def f Float)",
        "(def 3 Float () 1.0)",
        "(def f Float x 1.0)",
        "(def f Float (x Float) 1.0)",
        "(def f Float ((x : Float) (y)) 1.0)",
        "(edef f Float)",
        "(gdef backwards [f Float])",
        "(gdef rev [g Float])",
        "(def f Float (x : Float) x)\n(def f Float (v : Vec Float) 1.0)\n(gdef rev f)",
        "(def f Float (x : Float) x)\n(gdef rev [f Integer])",
        "(rule first (x : Float) x x)",
        "(rule \"r\" (x : Float) x 1)",
        "(def f Float (x : Float) x)\n(def f Float (y : Float) y)",
        "(def build Float (x : Float) x)",
        "(def get$1$2 Float (x : Float) x)",
        "(def [rev f] Float ((x : Float)) x)",
        "(def [sufrevpass f] Float (t : Tuple Float Float) 1.0)",
        "(def f Float (x : Float) x)\n(def [rev f] Float ((x : Float) (dr : Integer)) 1.0)",
        "(def f Float (x : Float) x)\n(def [fwd [f Integer]] (Tuple) ((x : Float) (dx : Float)) (tuple))",
        "(def f Any (x : Float) x)",
    ]));
}

#[test]
fn types() {
    insta::assert_snapshot!(all(&[
        "(def f Flaot () 1.0)",
        "(def f (Vector Float) () 1.0)",
        "(def f (Tensor 0 Float) () 1.0)",
        "(def f (Vec Float Float) () 1.0)",
        "(def f (Lam Float) () 1.0)",
        "(def f () () 1.0)",
        "(def f 1 () 1.0)",
        "(def f Float () 1)",
        "(def f Integer (x : Float)\n  (add x 1.0))",
        "(def f Float (p : Bool) (if p 1.0 2))",
        "(def f Float (x : Float) (if x 1.0 2.0))",
        "(def f Float (x : Float) (assert x 1.0))",
        "(def f Float (t : Tuple Float Float) (get$3$2 t))",
        "(def f Float (t : Tuple Float Float) (get$1$3 t))",
        "(def f Float (t : Tuple Float Float) (get$x t))",
        "(def f Float (t : Tuple Float Float) (let ((a b c) t) a))",
        "(def f Float (t : Tuple Float (Tuple Float Float)) (let ((a (b c)) t) a))",
        "(def f Float (x : Float) (let x x))",
        "(def f Float (x : Float) (let (1 x) x))",
        "(def f Float (x : Float) (let (x 1.0 2.0) x))",
        "(def f Float (x : Float) (tuple))",
        "(def f Float (x : (Lam Float Float Float)) 1.0)",
        "(def f Float (x : (Tensor 65 Float)) 1.0)",
    ]));
}

#[test]
fn calls() {
    insta::assert_snapshot!(all(&[
        "(def f Float (number : Float) numbr)",
        "(def f Float (x : Float) f)",
        "(def f Float (x : Float) (g x))\n(def g Float (x : Float) x)",
        "(def f Float (x : Float) (sumbiuld 3 x))",
        "(def f Float (x : Float) (fwd$f x 1.0))",
        "(def f Float (x : Float) (f x x))",
        "(def f Float (x : Float) (add x 1))",
        "(def f Float (v : Vec Float) (index v 1))",
        "(def f (Vec Float) (n : Integer) (build n 1.0))",
        "(def f (Vec Float) (n : Integer) (build n))",
        "(def f Float (n : Integer) (lam (x : Float) x))",
        "(def f Float (x : Float) x)\n(def g Float (x : Float) (f (lam (y : Float) y)))",
        "(def f Float (x : Float) (\"f\" x))",
        "(def f Float (x : Float) ())",
        "(def f Float (v : Vec Bool) (sum v))",
        "(def f Float (x : Float) x)\n(def g Float (x : Float) ([rev f] x))",
        "(def f Float (x : Float) x)\n(def g Float (x : Float) ([sufrevpass f] x x))",
        "(def g Float (x : Float) ([rev nothing] x x))",
    ]));
}

#[test]
fn sum_types() {
    let tree = "(data Tree (Leaf Float) (Node Tree Tree))\n";
    let programs: Vec<String> = [
        "(data Empty)",
        "(data Float (A))",
        "(data Tree (A))",
        "(data Other (A) (A))",
        "(data Other (add Float))",
        "(data Other Float)",
        "(def f Tree () (Leaf 1))",
        "(def f Tree () (Node (Leaf 1.0)))",
        "(def f Float (t : Tree) (match t ((Leaf x) x)))",
        "(def f Float (t : Tree) (match t ((Leaf x) x) ((Leaf y) y) (else 0.0)))",
        "(def f Float (t : Tree) (match t ((Leaf x) x) ((Branch y) y)))",
        "(def f Float (t : Tree) (match t ((Leaf x) x) ((Node l m r) 1.0)))",
        "(def f Float (t : Tree) (match t ((Leaf x) x) ((Node l r) 1)))",
        "(def f Float (t : Tree) (match t ((Leaf x) x) (Node 1.0)))",
        "(def f Float (x : Float) (match x ((Leaf x) x) (else 1.0)))",
    ]
    .iter()
    .map(|text| format!("{tree}{text}"))
    .collect();
    insta::assert_snapshot!(all(&programs.iter().map(String::as_str).collect::<Vec<_>>()));
}

#[test]
fn spaces() {
    insta::assert_snapshot!(all(&[
        "(space)",
        "(space Float Float exp exp)",
        "(space S Float sharpen exp)",
        "(def s Float (x : Float) x)\n(space S Float s s)",
        "(def s Integer ((x : Float) (dx : Float)) 1)\n(space S Float s s)",
        "(space S Tree add add)",
        "(space S (Vec Float) multinomial_sharp multinomial_retract)\n(space S Float add add)",
        "(def f Float (p : Multinomal) 1.0)",
    ]));
}

#[test]
fn derivations() {
    let apply = "(edef apply Float ((Lam Float Float) Float))\n(def f Float (x : Float) (apply (lam (y : Float) (mul x y)) x))\n";
    let folds = "(def f Float (x : Float)
  (lmApply (fold (lam (m_y : Tuple (LM Float Float) Float) (let ((m y) m_y) (lmCompose m (lmScale 1.0 (mul x y))))) (lmOne 1.0) (Vec_init 1.0 2.0)) x))\n";
    let programs = [
        format!("{apply}(gdef rev [f Float])"),
        format!("{apply}(def main Integer () (print ([fwd f] 1.0 1.0)))"),
        format!("{apply}(def g Float (x : Float) ([sufrev f] x 1.0))\n(def main Integer () (print (g 1.0)))"),
        format!("{folds}(def main Integer () (print ([rev f] 1.0 1.0)))"),
        "(edef far Float (Float))\n(def main Integer () (print ([rev far] 1.0 1.0)))".to_owned(),
        "(def f Float (x : Float) x)\n(def [D f] (LM Float Integer) (x : Float) (lmZero 1.0 1))".to_owned(),
        "(def f Float (x : Float) x)\n(def [fwdt f] Float ((x : Float) (dx : Float)) x)".to_owned(),
        "(def g Float (x : Float) x)\n(def main Integer () (print ([D g] 1.0 1.0)))".to_owned(),
        "(def g Float (x : Float) x)\n(gdef rev [D [g Float]])".to_owned(),
    ];
    insta::assert_snapshot!(all(&programs.iter().map(String::as_str).collect::<Vec<_>>()));
}

#[test]
fn running() {
    let main = |body: &str| {
        format!("(edef far Float (Float))\n(data T (A Float) (B Float))\n(def main Integer ()\n  (print {body}))")
    };
    let bodies = [
        "(assert (lt 2 1) 0)",
        "(index 3 (Vec_init 1 2 3))",
        "(index -1 (Vec_init 1 2 3))",
        "(index (tuple 0 5) (constVec (tuple 2 3) 1.0))",
        "(build -1 (lam (i : Integer) i))",
        "(constVec (tuple 1000000 1000000) 1.0)",
        "(ts_add (Vec_init 1.0) (Vec_init 1.0 2.0))",
        "(map2 (lam (ab : Tuple Float Float) 1.0) (Vec_init 1.0) (Vec_init 1.0 2.0))",
        "(div 1 0)",
        "(sum (build 0 (lam (i : Integer) (Vec_init 1.0))))",
        "(sumbuild 0 (lam (i : Integer) (Vec_init 1.0)))",
        "(far 1.0)",
        "(sum (Vec_init (ts_dot (A 1.0) (B 1.0))))",
    ];
    let mut programs: Vec<String> = bodies.iter().map(|body| main(body)).collect();
    programs.push("(def f Integer (n : Integer) (add 1 (f n)))\n(def main Integer () (f 0))".to_owned());
    programs.push("(def f Integer (n : Integer) 1)".to_owned());
    insta::assert_snapshot!(all(&programs.iter().map(String::as_str).collect::<Vec<_>>()));
}

#[test]
fn recursion_in_constant_space_ends_too() {
    let text = "(def f Integer (n : Integer) (f (add n 1)))\n(def main Integer () (f 0))";
    let sources = Sources::with("wrong.ks", text).unwrap();
    let program = compile(&sources).unwrap();
    let options = Options { most_tail_calls: 1000, ..Options::default() };
    let error = Interpreter::new(&program, options, &mut std::io::sink()).run_main().unwrap_err();
    insta::assert_snapshot!(shown(&error, &sources));
}

#[test]
fn all_mistakes_are_told_up_to_a_limit() {
    let text =
        "(def f Float () 1)\n".to_owned() + "(def g Float () (f 1))\n(def h Integer () 1)\n(def i Integer () x)\n";
    insta::assert_snapshot!(messages(&text));
    let many: String = (0..1000).map(|number| format!("(def f{number} Float () 1)\n")).collect();
    assert_eq!(messages(&many).matches("error: ").count(), 20);
}
