//! Rules: each does what its name says, where it may, and nowhere else.

use labrys_compiler::ir::{Body, ExprId, Node, Program};
use labrys_compiler::rewrite::{Action, Mode, Rewriter, RuleSet, Settings};
use labrys_compiler::{Sources, compile};

/// A function `f` and what can be done to its body.
struct Start {
    program: Program,
    rules: RuleSet,
    rewriter: Rewriter,
    body: ExprId,
}

impl Start {
    fn of(text: &str, settings: Settings) -> Self {
        let mut program = compile(&Sources::with("f.ks", text).unwrap()).unwrap();
        let rules = RuleSet::with_rules_of(&mut program, settings).unwrap();
        let Some(Body::Expr(param, body)) = program.defs().last().map(|def| def.body) else { panic!("{text}") };
        let rewriter = Rewriter::new(&rules);
        // Without the lets of the parameters, so that they keep their names.
        let mut inner = body;
        while let Node::Let(_, field, below) = program.store.node(inner)
            && matches!(program.store.node(field), Node::Get(..))
        {
            inner = below;
        }
        let (_, body) = rewriter.begin(&mut program, param, inner);
        Self { program, rules, rewriter, body }
    }

    fn actions(&mut self, expr: ExprId) -> Vec<(Action, ExprId)> {
        let mut out = vec![];
        self.rewriter.actions(&mut self.program, expr, &mut out);
        out
    }

    /// What a rule makes of the body, shown on one line.
    fn results(&mut self, rule: &str) -> Vec<String> {
        let all = self.actions(self.body);
        let by_rule = all.into_iter().filter(|(action, _)| self.rules.rule(action.rule).name == rule);
        by_rule.map(|(_, expr)| one_line(&self.program.store.show(expr))).collect()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn settings(mode: Mode) -> Settings {
    Settings { mode, ..Settings::default() }
}

/// What a rule makes of the body of a function of Floats x and y, Integers i and j, and a vector v.
#[track_caller]
fn check(mode: Mode, body: &str, rule: &str, expected: &[&str]) {
    for ty in ["Float", "Integer", "Bool", "(Vec Float)", "(Tuple Float Float)"] {
        let text = format!(
            "(def g Float (x : Float) (mul x 2.0))
             (def f {ty} ((x : Float) (y : Float) (i : Integer) (j : Integer) (v : Vec Float)) {body})"
        );
        if compile(&Sources::with("f.ks", text.clone()).unwrap()).is_err() {
            continue;
        }
        assert_eq!(Start::of(&text, settings(mode)).results(rule), expected, "{rule} of {body}");
        return;
    }
    panic!("{body} has none of the types");
}

#[test]
fn arithmetic() {
    check(Mode::Real, "(add x 0.0)", "add_zero", &["x"]);
    check(Mode::Strict, "(add x 0.0)", "add_zero", &[]);
    check(Mode::Strict, "(add (exp x) 0.0)", "add_zero.exact", &["(exp x)"]);
    check(Mode::Strict, "(add i 0)", "add_zero.integer", &["i"]);
    check(Mode::Real, "(mul x (add y 1.0))", "mul_by_add", &["(add (mul x y) (mul x 1.0))"]);
    check(Mode::Strict, "(mul i (add j 1))", "mul_by_add.integer", &["(add (mul i j) (mul i 1))"]);
    check(Mode::Real, "(div (div x y) x)", "div_of_div", &["(div x (mul y x))"]);
    check(Mode::Strict, "(add 2 (mul 3 4))", "cprop_mul", &["(add 2 12)"]);
}

/// An index may fail: it is neither left out nor moved past another.
#[test]
fn failures_stay() {
    check(Mode::Real, "(mul (index i v) 0.0)", "mul_zero", &[]);
    check(Mode::Fast, "(mul (index i v) 0.0)", "mul_zero", &["0.0"]);
    check(Mode::Real, "(add (index i v) (index j v))", "commute_add", &[]);
    check(Mode::Real, "(add (index i v) x)", "commute_add", &["(add x (index i v))"]);
    check(Mode::Strict, "(let (z (index i v)) x)", "delete_let", &[]);
    check(Mode::Strict, "(let (z (exp y)) x)", "delete_let", &["x"]);
    check(Mode::Strict, "(mul (div i j) 0)", "mul_zero.integer", &[]);
    check(Mode::Strict, "(mul (div i 2) 0)", "mul_zero.integer", &["0"]);
    check(Mode::Fast, "(mul (print \"a\") 0)", "mul_zero.integer", &[]);
    check(Mode::Strict, "(if (gt x y) (index i v) (index i v))", "if_both_same", &["(index i v)"]);
    check(Mode::Strict, "(if (gt (index i v) y) x x)", "if_both_same", &[]);
}

#[test]
fn bindings() {
    check(Mode::Strict, "(mul x (exp y))", "new_bind", &["(mul x (let (v0 (exp y)) v0))"]);
    check(Mode::Strict, "(mul x (let (z (exp y)) z))", "lift_bind", &["(let (v0 (exp y)) (mul x v0))"]);
    check(
        Mode::Strict,
        "(add (let (a (exp x)) (mul a a)) (let (b (exp y)) (mul b b)))",
        "lift_bind",
        &[
            "(let (v0 (exp x)) (add (mul v0 v0) (let (v1 (exp y)) (mul v1 v1))))",
            "(let (v0 (exp y)) (add (let (v1 (exp x)) (mul v1 v1)) (mul v0 v0)))",
        ],
    );
    check(
        Mode::Strict,
        "(let (a (exp x)) (let (b (exp y)) (add a b)))",
        "lift_bind",
        &["(let (v0 (exp y)) (let (v1 (exp x)) (add v1 v0)))"],
    );
    check(Mode::Strict, "(let (a (exp x)) (let (b (mul a y)) (add a b)))", "lift_bind", &[]);
    check(
        Mode::Strict,
        "(let (a (exp x)) (let (b (exp x)) (add a b)))",
        "cse_bind",
        &["(let (v0 (exp x)) (add v0 v0))"],
    );
    check(
        Mode::Strict,
        "(let (a (exp x)) (add a (mul a y)))",
        "inline_let",
        &["(let (v0 (exp x)) (add (exp x) (mul v0 y)))", "(let (v0 (exp x)) (add v0 (mul (exp x) y)))"],
    );
    check(Mode::Strict, "(let (a (exp x)) a)", "let_recover", &["(exp x)"]);
    check(Mode::Strict, "(let (a (print x)) (add a a))", "inline_let", &[]);
    check(Mode::Strict, "(mul y (g x))", "inline_call", &["(mul y (let (v0 x) (mul v0 2.0)))"]);
    check(Mode::Strict, "(add x (if (gt x y) 1.0 y))", "lift_if", &["(if (gt x y) (add x 1.0) (add x y))"]);
    check(Mode::Strict, "(get$1$2 (tuple x y))", "select_of_tuple", &["x"]);
}

/// Rules of a program serve beside the built-in ones; their class is real unless they say otherwise.
#[test]
fn rules_of_programs() {
    let text = "
        (rule \"square\" (x : Float) (mul x x) (pow x 2) unsafe big)
        (rule \"add.zero\" (x : Float) (add x 0.0) x)
        (rule \"double\" (x : Integer) (add x x) (mul 2 x) exact)
        (def f Float (x : Float) (mul (add x 0.0) (add x 0.0)))";
    let mut start = Start::of(text, settings(Mode::Fast));
    assert_eq!(start.results("square"), ["(pow (add x 0.0) 2)"]);
    // The built-in rule says the same, and comes first.
    assert_eq!(start.results("add.zero").len() + start.results("add_zero").len(), 2);
    let strict = Start::of(text, Settings::default());
    assert!(strict.rules.find("double").is_some() && strict.rules.find("add.zero").is_none());
}

/// Every state that a few steps lead to is canonical, well typed, and what applying the action anew gives.
#[test]
fn actions_are_what_they_say() {
    let text = "(def f Float ((x : Float) (y : Float) (v : Vec Float))
        (let (s (sumbuild (size v) (lam (i : Integer) (mul (index i v) x))))
          (if (gt s y) (add (mul s (add x y)) (let (z (exp x)) (mul z s))) (div s (mul 2.0 x)))))";
    let mut start = Start::of(text, settings(Mode::Fast));
    let (mut open, mut seen) = (vec![start.body], 0);
    for _ in 0..3 {
        let mut next = vec![];
        for expr in open.iter().step_by(1 + open.len() / 20) {
            let all = start.actions(*expr);
            let mut distinct: Vec<ExprId> = all.iter().map(|(_, expr)| *expr).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), all.len(), "each successor once");
            for (action, successor) in all {
                let store = &mut start.program.store;
                assert_eq!(store.canonical(successor), successor, "{}", store.show(successor));
                let again = start.rewriter.apply(&mut start.program, *expr, &action).unwrap();
                assert_eq!(again, successor);
                next.push(successor);
                seen += 1;
            }
        }
        open = next;
    }
    assert!(seen > 500, "{seen}");
}
