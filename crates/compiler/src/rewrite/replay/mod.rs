//! Does what a certificate says once more, by a second, slow applier of rules that shares nothing with the fast one but the rules
//! themselves. Both must come to the same expression at each step; the fast one says, besides, whether the step is allowed in the mode of
//! the certificate.

mod builtin;
mod pattern;

use super::certificate::{Certificate, Step, Steps};
use super::place::{Action, Place};
use super::rule::{Kind, RuleId, Settings};
use super::set::{RuleSet, standard_patterns};
use super::{NotApplicable, Rewriter};
use crate::error::Error;
use crate::ir::{Body, Def, ExprId, FunId, Node, Program, Rule, Store, VarId};
use crate::source::Span;
use crate::stack;
use rustc_hash::FxHashMap;

/// What is wrong with a certificate.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is nothing to do the step to.
    #[error("the program has no function {0} with a body")]
    NoFunction(String),
    /// A rule of the program that cannot be used.
    #[error("{0}")]
    Rule(Box<Error>),
    /// A step that cannot be done.
    #[error("{0}")]
    Step(Box<StepError>),
}

/// A step that cannot be done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("step {number} of {function}, {step}: {why}")]
pub struct StepError {
    /// The function.
    pub function: String,
    /// The number of the step, from 1.
    pub number: usize,
    /// The step.
    pub step: Step,
    /// Why not.
    pub why: Why,
}

/// Why a step cannot be done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Why {
    /// The rule does not exist, or may not be used.
    #[error("in mode {0} there is no rule of this name")]
    NoRule(&'static str),
    /// The rule does not apply.
    #[error("{0}")]
    NotApplicable(NotApplicable),
    /// Our own fault.
    #[error("two ways to apply the rule disagree: {fast} and {slow}")]
    Disagree {
        /// What the optimiser makes of it.
        fast: String,
        /// What the checker makes of it.
        slow: String,
    },
}

/// A step that was done again.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The step.
    pub step: Step,
    /// What was replaced.
    pub place: Option<Span>,
    /// The body before it.
    pub before: ExprId,
    /// The body after it.
    pub after: ExprId,
}

/// A function that was optimised again.
#[derive(Clone, Debug)]
pub struct Function {
    /// The function.
    pub fun: FunId,
    /// Its parameter.
    pub param: VarId,
    /// Its body at the start, in canonical form.
    pub start: ExprId,
    /// What was done to it.
    pub steps: Vec<Replayed>,
}

impl Function {
    /// The body after all steps.
    pub fn result(&self) -> ExprId {
        self.steps.last().map_or(self.start, |step| step.after)
    }
}

/// Does again what a certificate says, to the program that it is about, which stays as it is but for new expressions.
///
/// # Errors
/// The first step that cannot be done.
pub fn replay(program: &mut Program, certificate: &Certificate) -> Result<Vec<Function>, ReplayError> {
    let rules =
        RuleSet::with_rules_of(program, certificate.settings).map_err(|error| ReplayError::Rule(Box::new(error)))?;
    let (patterns, standard) = standard_patterns();
    let checker = Checker { settings: certificate.settings, rules, patterns, standard };
    certificate.functions.iter().map(|steps| checker.function(program, steps)).collect()
}

struct Checker {
    settings: Settings,
    rules: RuleSet,
    /// The store of the rules of the files, and these.
    patterns: Store,
    standard: Vec<Rule>,
}

impl Checker {
    fn function(&self, program: &mut Program, steps: &Steps) -> Result<Function, ReplayError> {
        let missing = || ReplayError::NoFunction(steps.function.clone());
        let named = program.defs().find(|def| program.store.show_fun(def.fun) == steps.function).copied();
        let Some(Def { fun, body: Body::Expr(param, body), .. }) = named else { return Err(missing()) };
        let mut rewriter = Rewriter::new(&self.rules);
        let (param, start) = rewriter.begin(program, param, body);
        let mut function = Function { fun, param, start, steps: vec![] };
        for (number, step) in (1..).zip(&steps.steps) {
            let before = function.result();
            let done = self.step(program, &mut rewriter, before, step).map_err(|why| {
                let (function, step) = (steps.function.clone(), step.clone());
                ReplayError::Step(Box::new(StepError { function, number, step, why }))
            })?;
            function.steps.push(done);
        }
        Ok(function)
    }

    fn step(
        &self,
        program: &mut Program,
        rewriter: &mut Rewriter,
        before: ExprId,
        step: &Step,
    ) -> Result<Replayed, Why> {
        let rule = self.rules.find(&step.rule).ok_or_else(|| Why::NoRule(self.settings.mode.keyword()))?;
        let place = Place::of_path(&program.store, before, &step.path);
        let place = place.ok_or(Why::NotApplicable(NotApplicable::NoPlace))?;
        let action = Action { rule, choice: step.choice, place };
        let after = rewriter.apply(program, before, &action).map_err(Why::NotApplicable)?;
        let slow = self.apply(program, rule, before, step);
        if !slow.is_some_and(|slow| program.store.alpha_equal(slow, after)) {
            let fast = program.store.show(after);
            let slow = slow.map_or_else(|| "nothing".to_owned(), |slow| program.store.show(slow));
            return Err(Why::Disagree { fast, slow });
        }
        let place = place.expr(&program.store, before).and_then(|expr| program.store.origin(expr));
        Ok(Replayed { step: step.clone(), place, before, after })
    }

    /// The slow way.
    fn apply(&self, program: &mut Program, rule: RuleId, root: ExprId, step: &Step) -> Option<ExprId> {
        let root = apart(&mut program.store, root, &mut FxHashMap::default());
        let here = step.path.iter().try_fold(root, |expr, number| program.store.part(expr, *number))?;
        let rule = self.rules.rule(rule);
        let made = match (&rule.kind, rule.span) {
            (Kind::Builtin(_), _) => {
                builtin::apply(program, &rule.name, here, usize::from(step.choice), self.settings.width)?
            }
            (Kind::Pattern(_), None) => {
                let written = self.standard.iter().find(|written| written.name == rule.name)?;
                pattern::apply(&self.patterns, written, &mut program.store, here)?
            }
            (Kind::Pattern(_), Some(span)) => {
                let written = program.rules.iter().find(|written| written.span == span)?.clone();
                // The rule is in the same store; a copy of it stays as it is.
                let patterns = program.store.clone();
                pattern::apply(&patterns, &written, &mut program.store, here)?
            }
        };
        Some(put(&mut program.store, root, &step.path, made))
    }
}

/// The expression with a variable of its own for each binder, however often the same expression occurs in it.
fn apart(store: &mut Store, expr: ExprId, names: &mut FxHashMap<VarId, VarId>) -> ExprId {
    match store.node(expr) {
        Node::Var(var) => names.get(&var).map_or(expr, |name| store.var(*name)),
        Node::Lam(var, body) => {
            let (var, body) = below(store, var, body, names);
            store.lam(var, body)
        }
        Node::Let(var, value, body) => {
            let value = stack::grow(|| apart(store, value, names));
            let (var, body) = below(store, var, body, names);
            store.let_(var, value, body)
        }
        _ => store.map_children(expr, |store, part| stack::grow(|| apart(store, part, names))),
    }
}

fn below(store: &mut Store, var: VarId, body: ExprId, names: &mut FxHashMap<VarId, VarId>) -> (VarId, ExprId) {
    let fresh = store.fresh_like(var);
    let outer = names.insert(var, fresh);
    let body = stack::grow(|| apart(store, body, names));
    match outer {
        Some(outer) => names.insert(var, outer),
        None => names.remove(&var),
    };
    (fresh, body)
}

/// The expression with another at the end of a path.
fn put(store: &mut Store, root: ExprId, path: &[usize], new: ExprId) -> ExprId {
    let [first, rest @ ..] = path else { return new };
    let part = store.part(root, *first).unwrap_or(root);
    let part = put(store, part, rest, new);
    store.with_part(root, *first, part)
}
