//! A function before and after rewriting.

use labrys_compiler::ir::{Body, Def, ExprId, FunId, Node, Program, VarId};
use labrys_compiler::rewrite::Mode;
use labrys_compiler::rewrite::compare::{Arguments, Verdict, outcome};
use labrys_compiler::{ErrorKind, RunError, Span};
use labrys_search::Seed;

/// A function of a program, and the same in another form.
pub struct Pair {
    pub program: Program,
    pub param: VarId,
    pub body: ExprId,
    before: FunId,
    after: FunId,
    span: Span,
}

impl Pair {
    pub fn new(mut program: Program, param: VarId, body: ExprId, span: Span) -> Self {
        let (arg, result) = (program.store.var_type(param), program.store.ty(body));
        let [before, after] = ["before", "after"].map(|name| {
            let name = program.store.symbol(name);
            let fun = program.store.base(name, arg);
            program.store.declare(fun, arg, result);
            fun
        });
        program.define(Def { fun: before, body: Body::Expr(param, body), span });
        Self { program, param, body, before, after, span }
    }

    /// The last function of a program.
    pub fn last(program: Program) -> Self {
        let def = program.defs().rev().find(|def| matches!(def.body, Body::Expr(..))).copied().unwrap();
        let Body::Expr(param, body) = def.body else { panic!() };
        Self::new(program, param, body, def.span)
    }

    /// `(def f Integer (...) (let (r e) 0))` for e.
    pub fn of_value(program: Program) -> Self {
        let mut pair = Self::last(program);
        let (mut lets, mut inner) = (vec![], pair.body);
        while let Node::Let(var, value, rest) = pair.program.store.node(inner) {
            if pair.program.store.node(rest) == Node::Integer(0) {
                let body = pair.program.store.lets(&lets, value);
                return Self::new(pair.program, pair.param, body, pair.span);
            }
            lets.push((var, value));
            inner = rest;
        }
        panic!("no let")
    }

    /// How the function compares with another body on random arguments. Nothing is said of what `is_lost` says may not fail any more.
    #[allow(clippy::print_stdout)] // shown where a test fails
    pub fn compare(&mut self, body: ExprId, mode: Mode, is_lost: fn(&ErrorKind) -> bool, seed: u64) -> Vec<Verdict> {
        self.program.define(Def { fun: self.after, body: Body::Expr(self.param, body), span: self.span });
        let mut arguments = Arguments::new(Seed(seed), Default::default());
        let ty = self.program.store.var_type(self.param);
        let mut verdicts = vec![];
        for number in 0..6 {
            // In exact rules nothing may differ; rounding is seen in numbers of moderate size.
            arguments.are_wild = mode == Mode::Strict || (mode == Mode::Real && number < 2);
            let Some(argument) = arguments.value(&self.program.store.types, ty) else { break };
            let [before, after] =
                [self.before, self.after].map(|fun| outcome(&self.program, fun, &argument, Default::default()));
            // What failed may come to fail by such an error first.
            let is_lost =
                before.result.as_ref().is_err_and(|error| is_lost(error) || after.result.as_ref().is_err_and(is_lost));
            let verdict = if is_lost { Verdict::Unknown } else { before.compare(&after, mode) };
            if verdict == Verdict::Different {
                println!("at {argument}\nbefore {before:?}\nafter  {after:?}");
            }
            verdicts.push(verdict);
        }
        verdicts
    }
}

/// No error is lost.
pub fn none(_: &ErrorKind) -> bool {
    false
}

/// In fast mode every error may be.
pub fn any(_: &ErrorKind) -> bool {
    true
}

/// Where bounds are not checked, an index out of range has no meaning.
pub fn out_of_range(error: &ErrorKind) -> bool {
    matches!(error, ErrorKind::Run(RunError::OutOfRange { .. }))
}
