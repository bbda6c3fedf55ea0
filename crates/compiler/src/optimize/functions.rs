//! Functions and programs: what of a body is rewritten, and how it is put back.

use crate::ir::{Body, Def, ExprId, FunId, Node, Program, VarId};
use crate::rewrite::certificate::{Step, Steps};
use crate::rewrite::{Action, RuleSet};

/// A function as a state to start from: its body below the lets that take its argument apart. They cost nothing that matters, and rewriting them would
/// hide what does.
#[derive(Clone, Debug)]
pub struct Opened {
    /// What it was made of.
    pub def: Def,
    param: VarId,
    /// The lets that take the argument apart.
    parts: Vec<(VarId, ExprId)>,
    /// What is rewritten, in canonical form.
    pub start: ExprId,
}

/// Opens a function; none if it has no body.
pub fn open(program: &mut Program, fun: FunId) -> Option<Opened> {
    let def = *program.def(fun)?;
    let Body::Expr(param, body) = def.body else { return None };
    // Binders with variables of their own: none of them is one that canonical forms bind.
    let whole = program.store.lam(param, body);
    let whole = program.store.refresh(whole);
    let Node::Lam(param, mut body) = program.store.node(whole) else { return None };
    let mut parts = vec![];
    while let Node::Let(var, value, rest) = program.store.node(body)
        && is_part(program, value)
    {
        parts.push((var, value));
        body = rest;
    }
    let start = program.store.canonical(body);
    Some(Opened { def, param, parts, start })
}

/// Whether an expression is a field of a field of a variable.
fn is_part(program: &Program, mut expr: ExprId) -> bool {
    while let Node::Get(_, whole) = program.store.node(expr) {
        expr = whole;
    }
    matches!(program.store.node(expr), Node::Var(_))
}

impl Opened {
    fn whole(&self, program: &mut Program, expr: ExprId) -> ExprId {
        program.store.lets(&self.parts, expr)
    }

    /// The function with another body.
    pub fn with(&self, program: &mut Program, expr: ExprId) -> Def {
        let body = self.whole(program, expr);
        Def { body: Body::Expr(self.param, body), ..self.def }
    }

    /// The rewrites of a way from the start, in words: rules, and places in the whole body.
    pub fn words(&self, program: &Program, rules: &RuleSet, steps: &[(Action, ExprId)]) -> Steps {
        let mut before = self.start;
        let mut words = vec![];
        for (action, after) in steps {
            let inside = action.place.path(&program.store, before).unwrap_or_default();
            let path = [vec![1; self.parts.len()], inside].concat();
            words.push(Step { rule: rules.rule(action.rule).name.clone(), path, choice: action.choice });
            before = *after;
        }
        Steps { function: program.store.show_fun(self.def.fun), steps: words }
    }
}
