//! From text to IR and back.

use labrys_compiler::ir::{Body, Program};
use labrys_compiler::{Sources, check, render};

fn checked(text: &str) -> Program {
    let sources = Sources::with("test.ks", text).unwrap();
    check(&sources).unwrap_or_else(|errors| panic!("{}", render::message(&errors[0], &sources)))
}

/// Every definition of a program that is not of the prelude.
fn shown(program: &Program) -> String {
    let own = program.defs().filter(|def| def.span.file != Sources::PRELUDE);
    own.map(|def| program.show_def(def) + "\n").collect()
}

#[test]
fn the_prelude_is_right() {
    let program = checked("");
    assert!(program.defs().len() > 15);
}

#[test]
fn printed_programs_read_back_to_the_same() {
    let text = "
        (data Tree (Leaf Float) (Node Tree Tree) (Nothing))
        (def f Float ((x : Float) (v : Vec Float))
          (let ((y (mul x 2.0)) (n (size v)))
          (let ((a b) (tuple y n))
            (add a (sumbuild b (lam (i : Integer) (index i v)))))))
        (def total Float (t : Tree)
          (match t ((Leaf x) x) ((Node l r) (add (total l) (total r))) (else 0.0)))
        (def main Integer () (print (f 1.0 (Vec_init 1.0 2.0)) \"\\n\" (total (Node (Leaf 1.5) (Nothing)))))";
    let first = checked(text);
    let again = checked(&format!("(data Tree (Leaf Float) (Node Tree Tree) (Nothing))\n{}", shown(&first)));
    assert_eq!(shown(&first), shown(&again));
}

#[test]
fn substitution_does_not_capture() {
    let program = checked("(def f Integer ((x : Integer) (y : Integer)) (let (y (add x 1)) (mul x y)))");
    let def = *program.defs().last().unwrap();
    let Body::Expr(_, body) = def.body else { panic!() };
    let free = program.store.free_vars(body);
    assert_eq!(free.len(), 1, "only the parameter is free");
}
