//! Programs: each function is rewritten on its own.

use super::functions::{Opened, open};
use super::value::Value;
use super::{Optimized, Settings, optimize};
use crate::cost::Cost;
use crate::ir::{Body, ExprId, FunId, Program};
use crate::rewrite::certificate::Certificate;
use crate::rewrite::compare::{Verdict, calls};
use crate::rewrite::{Action, Rewriter, RuleSet};
use crate::source::Sources;
use labrys_search::{Limits, Runner, Seed, StopReason};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How much to spend on a program.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Expressions that are looked at for each function.
    pub work: Option<u64>,
    /// For all functions together.
    pub time: Option<Duration>,
    /// Where randomness begins.
    pub seed: Seed,
    /// A flag that ends everything when it becomes true.
    pub interrupt: Arc<AtomicBool>,
}

/// What became of a function.
pub struct Improved {
    /// Which one.
    pub fun: FunId,
    /// Its body, from canonical form on, below the lets that take its argument apart.
    pub opened: Opened,
    /// What became of that.
    pub expr: ExprId,
    /// The rewrites, each with what it makes.
    pub steps: Vec<(Action, ExprId)>,
    /// What the body costs, before and after, other functions being as they were.
    pub costs: (f64, f64),
    /// States that were expanded and seen.
    pub expansions: u64,
    /// Likewise.
    pub states: u64,
    /// What ended the search.
    pub stop: StopReason,
}

/// Rewrites every function that the program defines or asks for, and puts the new bodies in their places.
pub fn improve(
    program: &mut Program,
    rules: &RuleSet,
    cost: &mut dyn Cost,
    mut value: Option<&mut dyn Value>,
    settings: Settings,
    budget: &Budget,
) -> Vec<Improved> {
    let clock: Runner<()> = Runner::new(Limits { time: budget.time, work: None }, budget.seed);
    let own = program.defs().filter(|def| def.span.file != Sources::PRELUDE && matches!(def.body, Body::Expr(..)));
    let functions: Vec<FunId> = own.map(|def| def.fun).collect();
    let mut improved = vec![];
    for (number, fun) in functions.iter().enumerate() {
        let Some(opened) = open(program, *fun) else { continue };
        let before = opened.with(program, opened.start);
        cost.enter(program, &before);
        // What is left of the time, in equal shares.
        let share = clock.time_left().map(|time| time / (functions.len() - number) as u32);
        let limits = Limits { time: share, work: budget.work };
        let mut run = Runner::new(limits, budget.seed.derive("function", number as u64))
            .with_interrupt(Arc::clone(&budget.interrupt));
        let value = value.as_mut().map(|value| &mut **value as &mut dyn Value);
        let Optimized { expr, costs, steps, graph } =
            optimize(program, rules, cost, value, opened.start, settings, &mut run);
        let stop = run.finish().stop;
        let (expansions, states) = (graph.expansions(), graph.len() as u64);
        improved.push(Improved { fun: *fun, opened, expr, steps, costs, expansions, states, stop });
    }
    // Only now: a call that was written out is the function as it was.
    for function in &improved {
        let def = function.opened.with(program, function.expr);
        program.replace(def);
    }
    improved
}

/// What the bodies of these functions cost, all together.
pub fn total(program: &mut Program, cost: &mut dyn Cost, functions: &[FunId]) -> f64 {
    let mut sum = 0.0;
    for fun in functions {
        let Some(opened) = open(program, *fun) else { continue };
        let def = opened.with(program, opened.start);
        cost.enter(program, &def);
        sum += cost.cost(program, opened.start);
    }
    sum
}

/// Everything that was done, in words.
pub fn certificate(program: &Program, rules: &RuleSet, improved: &[Improved]) -> Certificate {
    let changed = improved.iter().filter(|function| !function.steps.is_empty());
    let functions = changed.map(|function| function.opened.words(program, rules, &function.steps)).collect();
    Certificate { settings: rules.settings(), functions }
}

/// A result that its own check refuses: a bug.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// Doing the rewrites again gives something else.
    #[error("{0}: step {1} of its certificate does not lead where it led")]
    Step(String, usize),
    /// The interpreter sees a difference.
    #[error("{0}: the optimised function gives something else for some arguments")]
    Result(String),
}

/// Random arguments that each function is called with.
const CALLS: u64 = 24;

/// Does every rewrite again from the start, and compares the functions that changed with those of the program `before` on random arguments.
///
/// # Errors
/// The first difference.
pub fn confirm(
    before: &Program,
    program: &Program,
    rules: &RuleSet,
    improved: &[Improved],
    seed: Seed,
) -> Result<(), Refused> {
    let mut again = program.clone();
    for function in improved {
        let def = function.opened.with(&mut again, function.opened.start);
        again.replace(def);
    }
    for function in improved.iter().filter(|function| function.expr != function.opened.start) {
        let name = program.store.show_fun(function.fun);
        let mut rewriter = Rewriter::new(rules);
        let mut at = function.opened.start;
        for (number, (action, to)) in function.steps.iter().enumerate() {
            at = rewriter
                .apply(&mut again, at, action)
                .ok()
                .filter(|made| made == to)
                .ok_or(Refused::Step(name.clone(), number))?;
        }
        if at != function.expr {
            return Err(Refused::Step(name, function.steps.len()));
        }
        let mut calls = calls((before, program), function.fun, rules.settings(), (CALLS, seed));
        if calls.any(|call| call.verdict == Verdict::Different) {
            return Err(Refused::Result(name));
        }
    }
    Ok(())
}
