//! Everything that can be done to an expression in one step.

use super::builtin::Site;
use super::effects::{self, Effects};
use super::guard::Ranges;
use super::place::{Action, Place};
use super::rule::{Kind, RuleId};
use super::set::RuleSet;
use super::{instantiate, matching};
use crate::ir::{ExprId, Node, Prim, Program, VarId};
use crate::stack;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Actions that are kept at most, 12 bytes each.
const MOST_KEPT: usize = 1 << 23;

/// An action that an expression does not offer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotApplicable {
    /// The expression is too small.
    #[error("there is no such place")]
    NoPlace,
    /// The rule says nothing about what stands there.
    #[error("the rule {0} does not apply there")]
    NoMatch(String),
}

/// What an action makes of an expression.
#[derive(Clone, Copy, Debug)]
struct Successor {
    action: Action,
    expr: ExprId,
}

/// Finds what can be done to expressions, in canonical form. What can be done to a part depends on nothing but the part and the number of
/// binders around it, so it is found once: a step costs what it changed.
pub struct Rewriter {
    rules: RuleSet,
    effects: Effects,
    ranges: Ranges,
    /// The successors of parts, with the number of binders around.
    known: FxHashMap<(ExprId, u32), Rc<[Successor]>>,
    kept: usize,
    nothing: Rc<[Successor]>,
    /// The search in which each expression was last found, to leave out what is found twice.
    found_in: Vec<u32>,
    search: u32,
    results: Vec<(u16, ExprId)>,
}

impl Rewriter {
    /// A rewriter for the expressions of the program that the rules were made for.
    pub fn new(rules: &RuleSet) -> Self {
        Self {
            rules: rules.clone(),
            effects: Effects::new(rules.settings()),
            ranges: Ranges::new(rules.settings()),
            known: FxHashMap::default(),
            kept: 0,
            nothing: Rc::new([]),
            found_in: vec![],
            search: 0,
            results: vec![],
        }
    }

    /// The rules.
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// Whether an expression in canonical form only gives a value: nobody sees when it is evaluated, how often, and whether.
    pub(crate) fn is_total(&mut self, program: &Program, expr: ExprId) -> bool {
        self.effects.is_total(program, expr)
    }

    /// The body of a function as a state to start from: in canonical form, with a parameter that no binder of such forms takes for its
    /// own.
    pub fn begin(&self, program: &mut Program, param: VarId, body: ExprId) -> (VarId, ExprId) {
        let store = &mut program.store;
        if !store.is_canonical_var(param) {
            return (param, store.canonical(body));
        }
        let fresh = store.fresh_like(param);
        let stands = store.var(fresh);
        let body = store.substitute(body, param, stands);
        (fresh, store.canonical(body))
    }

    /// Every action that an expression in canonical form offers, with the expression that it leads to, in canonical form. Each such
    /// expression is there once; the order is that of the steps of the expression, and for each that of the rules.
    pub fn actions(&mut self, program: &mut Program, expr: ExprId, out: &mut Vec<(Action, ExprId)>) {
        let found = self.find(program, expr, 0);
        out.extend(found.iter().map(|successor| (successor.action, successor.expr)));
    }

    /// What an action makes of an expression in canonical form. New steps stand where those stood whose place they take.
    ///
    /// # Errors
    /// If the expression does not offer the action.
    pub fn apply(&mut self, program: &mut Program, expr: ExprId, action: &Action) -> Result<ExprId, NotApplicable> {
        let path = action.place.path(&program.store, expr).ok_or(NotApplicable::NoPlace)?;
        let (mut above, mut here, mut depth) = (vec![], expr, 0);
        for number in path {
            above.push((here, number));
            depth += binders_around(program, here, number);
            here = program.store.part(here, number).ok_or(NotApplicable::NoPlace)?;
        }
        self.results.clear();
        self.try_rule(program, action.rule, here, depth);
        let name = || self.rules.rule(action.rule).name.clone();
        let result = self.results.iter().find(|(choice, _)| *choice == action.choice).map(|(_, result)| *result);
        let mut result = result.ok_or_else(|| NotApplicable::NoMatch(name()))?;
        inherit_origins(program, result, here);
        for (whole, number) in above.into_iter().rev() {
            result = program.store.with_part(whole, number, result);
            program.store.inherit_origin(result, whole);
        }
        Ok(result)
    }

    fn successors(&mut self, program: &mut Program, expr: ExprId, depth: u32) -> Rc<[Successor]> {
        if program.store.size(expr) == 1 && self.rules.for_root(program.store.node(expr)).is_empty() {
            return self.nothing.clone();
        }
        if let Some(known) = self.known.get(&(expr, depth)) {
            return known.clone();
        }
        let found: Rc<[Successor]> = stack::grow(|| self.find(program, expr, depth)).into();
        if self.kept + found.len() > MOST_KEPT {
            self.known.clear();
            self.kept = 0;
        }
        self.kept += found.len() + 1;
        self.known.insert((expr, depth), found.clone());
        found
    }

    fn find(&mut self, program: &mut Program, expr: ExprId, depth: u32) -> Vec<Successor> {
        // Those of the parts first: the search below must not be interrupted.
        let mut below = vec![];
        let mut number = 0;
        while let Some(part) = program.store.part(expr, number) {
            let depth = depth + binders_around(program, expr, number);
            below.push(if is_place(program, expr, number) {
                self.nothing.clone()
            } else {
                self.successors(program, part, depth)
            });
            number += 1;
        }
        self.next_search();
        let mut found = Vec::with_capacity(below.iter().map(|part| part.len()).sum::<usize>() + 4);
        self.mark(expr);
        self.here(program, expr, depth, &mut found);
        let mut before = 1u32;
        for (number, part) in below.iter().enumerate() {
            for Successor { action, expr: changed } in part.iter() {
                let Some(place) = action.place.0.checked_add(before) else { continue };
                let whole = program.store.with_part(expr, number, *changed);
                if self.mark(whole) {
                    found.push(Successor { action: Action { place: Place(place), ..*action }, expr: whole });
                }
            }
            let size = program.store.part(expr, number).map_or(0, |part| program.store.size(part));
            // Places beyond 32 bits have no number.
            before = before.saturating_add(size);
        }
        found
    }

    /// What rules make of the expression itself.
    fn here(&mut self, program: &mut Program, expr: ExprId, depth: u32, found: &mut Vec<Successor>) {
        let count = self.rules.for_root(program.store.node(expr)).len();
        for number in 0..count {
            let rule = self.rules.for_root(program.store.node(expr))[number];
            self.results.clear();
            self.try_rule(program, rule, expr, depth);
            for at in 0..self.results.len() {
                let (choice, result) = self.results[at];
                if self.mark(result) {
                    found.push(Successor { action: Action { rule, choice, place: Place::ROOT }, expr: result });
                }
            }
        }
    }

    /// Puts what a rule makes of an expression into `results`.
    fn try_rule(&mut self, program: &mut Program, rule: RuleId, expr: ExprId, depth: u32) {
        match &self.rules.rule(rule).kind {
            Kind::Pattern(pattern) => {
                let Some(bindings) = matching::bindings(&program.store, pattern, expr, depth) else { return };
                if !self.ranges.hold(program, pattern, &bindings) {
                    return;
                }
                let result = instantiate::right_side(&mut program.store, pattern, &bindings, depth);
                let fits = |result: &ExprId| program.store.ty(*result) == program.store.ty(expr);
                let Some(result) = result.filter(fits) else { return };
                if effects::are_kept(&mut self.effects, program, pattern, &bindings, (expr, result)) {
                    self.results.push((0, result));
                }
            }
            Kind::Builtin(builtin) => {
                let settings = self.rules.settings();
                let (effects, results) = (&mut self.effects, &mut self.results);
                (builtin.find)(&mut Site { program, effects, settings, expr, depth, results });
            }
        }
    }

    fn next_search(&mut self) {
        if self.search == u32::MAX {
            self.found_in.fill(0);
            self.search = 0;
        }
        self.search += 1;
    }

    /// Whether an expression has not been found before in this search.
    fn mark(&mut self, expr: ExprId) -> bool {
        if self.found_in.len() <= expr.index() {
            self.found_in.resize((expr.index() + 1).next_power_of_two(), 0);
        }
        std::mem::replace(&mut self.found_in[expr.index()], self.search) != self.search
    }
}

/// Gives the new steps of an expression the place of the one that it replaces.
fn inherit_origins(program: &mut Program, new: ExprId, old: ExprId) {
    for part in program.store.post_order(new) {
        if program.store.size(part) > 1 {
            program.store.inherit_origin(part, old);
        }
    }
}

/// How many variables an expression binds around a part.
fn binders_around(program: &Program, expr: ExprId, number: usize) -> u32 {
    match program.store.node(expr) {
        Node::Lam(..) => 1,
        Node::Let(..) => number as u32,
        _ => 0,
    }
}

/// Whether a part is a place in an accumulator, which is no value.
fn is_place(program: &Program, expr: ExprId, number: usize) -> bool {
    number == 0 && matches!(program.store.node(expr), Node::Prim(Prim::AddTo, _))
}
