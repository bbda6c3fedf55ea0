//! What evaluating an expression does besides giving a value: may it fail, may it act? A rule must keep what is done, and its order.

use super::matching::Bindings;
use super::pattern::{Head, Pattern, PatternKind, PatternRule};
use super::rule::{Mode, Settings};
use crate::ir::{ExprId, Node, Prim, Program, VarId};
use crate::simplify::facts::Facts;
use crate::stack;

/// Bits of what is known of an expression.
const KNOWN: u8 = 1;
/// It may end the program with an error, or not end.
const FAILS: u8 = 2;
/// It may print, or call something that is not known.
const ACTS: u8 = 4;
/// It reads an accumulator from outside or adds to one.
const TOUCHES: u8 = 8;

/// Facts about the expressions of a store, in canonical form. Kept by id: an id never changes its meaning, and accumulators have
/// canonical variables of their own.
pub(crate) struct Effects {
    facts: Facts,
    known: Vec<u8>,
    /// Whether what fails may as well not fail.
    ignores_failures: bool,
    /// What fails in whatever mode and with bounds checked, where that is not what is asked above: a program that does not fail must not
    /// come to fail, or to read what is out of bounds.
    checked: Option<Box<Self>>,
}

impl Effects {
    pub(crate) fn new(settings: Settings) -> Self {
        let Settings { mode, checks_bounds, .. } = settings;
        let ignores_failures = mode == Mode::Fast;
        let is_checked = checks_bounds && !ignores_failures;
        let checked =
            (!is_checked).then(|| Box::new(Self::new(Settings { width: settings.width, ..Settings::default() })));
        Self { facts: Facts::new(checks_bounds), known: vec![], ignores_failures, checked }
    }

    /// Whether failures must stay.
    pub(crate) fn keeps_failures(&self) -> bool {
        !self.ignores_failures
    }

    /// Whether a loop over indices below a size only gives a value.
    pub(crate) fn is_total_loop(&mut self, program: &Program, lam: ExprId, size: ExprId) -> bool {
        let Node::Lam(var, body) = program.store.node(lam) else { return false };
        self.is_pure(program, body)
            && (self.ignores_failures || !self.fails_where(program, body, &mut vec![(var, size)]))
    }

    /// Whether the expression only gives a value: nobody sees when it is evaluated, how often, and whether.
    pub(crate) fn is_total(&mut self, program: &Program, expr: ExprId) -> bool {
        let seen = if self.ignores_failures { ACTS | TOUCHES } else { FAILS | ACTS | TOUCHES };
        self.of(program, expr) & seen == 0
    }

    /// Whether the expression may be evaluated where it was not: it only gives a value, and never fails.
    pub(crate) fn is_harmless(&mut self, program: &Program, expr: ExprId) -> bool {
        match &mut self.checked {
            Some(checked) => checked.is_total(program, expr),
            None => self.is_total(program, expr),
        }
    }

    /// Whether the expression gives the same each time and does nothing, if it ends.
    pub(crate) fn is_pure(&mut self, program: &Program, expr: ExprId) -> bool {
        self.of(program, expr) & (ACTS | TOUCHES) == 0
    }

    /// Whether nobody sees if two expressions that are evaluated one after the other change places.
    pub(crate) fn may_swap(&mut self, program: &Program, a: ExprId, b: ExprId) -> bool {
        self.is_total(program, a) || self.is_total(program, b)
    }

    /// Whether a size is certainly not negative.
    pub(crate) fn is_size(&self, program: &Program, size: ExprId) -> bool {
        self.facts.is_size(program, size)
    }

    fn of(&mut self, program: &Program, expr: ExprId) -> u8 {
        match self.known.get(expr.index()) {
            Some(0) | None => {}
            Some(known) => return *known,
        }
        let found = stack::grow(|| self.find(program, expr)) | KNOWN;
        if self.known.len() <= expr.index() {
            self.known.resize(program.store.len(), 0);
        }
        self.known[expr.index()] = found;
        found
    }

    fn find(&mut self, program: &Program, expr: ExprId) -> u8 {
        let store = &program.store;
        let mut found = if self.may_fail(program, expr, &[]) { FAILS } else { 0 };
        match store.node(expr) {
            Node::Var(var) if store.accumulates(var) => found |= TOUCHES,
            Node::Prim(Prim::Print | Prim::Trace, _) => found |= ACTS,
            Node::Call(fun, _) => {
                let (fails, acts) = self.facts.function(program, fun);
                found |= if fails { FAILS } else { 0 } | if acts { ACTS } else { 0 };
            }
            _ => {}
        }
        let mut number = 0;
        while let Some(part) = store.part(expr, number) {
            let mut inside = self.of(program, part);
            if inside & FAILS != 0
                && let Some((var, size, body)) = over_indices(program, expr, number)
                && !self.fails_where(program, body, &mut vec![(var, size)])
            {
                inside &= !FAILS;
            }
            found |= inside;
            number += 1;
        }
        if let Node::Lam(var, _) = store.node(expr)
            && store.accumulates(var)
            && !store.free_vars(expr).iter().any(|free| store.accumulates(*free))
        {
            found &= !TOUCHES;
        }
        found
    }

    /// Whether an expression may fail where variables are indices below sizes.
    fn fails_where(&mut self, program: &Program, expr: ExprId, below: &mut Vec<(VarId, ExprId)>) -> bool {
        if self.of(program, expr) & FAILS == 0 {
            return false;
        }
        if self.may_fail(program, expr, below) || matches!(program.store.node(expr), Node::Call(..)) {
            return true;
        }
        let mut number = 0;
        while let Some(part) = program.store.part(expr, number) {
            let fails = match over_indices(program, expr, number) {
                Some((var, size, body)) => {
                    below.push((var, size));
                    let fails = stack::grow(|| self.fails_where(program, body, below));
                    below.pop();
                    fails
                }
                None => stack::grow(|| self.fails_where(program, part, below)),
            };
            if fails {
                return true;
            }
            number += 1;
        }
        false
    }

    /// Whether the step itself may fail, given its parts, where variables are indices below sizes.
    fn may_fail(&self, program: &Program, expr: ExprId, below: &[(VarId, ExprId)]) -> bool {
        self.facts.may_fail(program, expr)
            && match program.store.node(expr) {
                Node::Prim(Prim::Index, args) => {
                    let (index, tensor) = (program.store.list(args)[0], program.store.list(args)[1]);
                    !is_in_range(program, index, tensor, below)
                }
                Node::Assert(condition, _) => program.store.node(condition) != Node::Bool(true),
                _ => true,
            }
    }
}

/// The variable, the size and the body of a loop over indices whose lambda is this part of an expression.
fn over_indices(program: &Program, expr: ExprId, number: usize) -> Option<(VarId, ExprId, ExprId)> {
    let Node::Prim(prim, args) = program.store.node(expr) else { return None };
    if !prim.is_over_indices() {
        return None;
    }
    let &[size, lam] = program.store.list(args) else { return None };
    match program.store.node(lam) {
        Node::Lam(var, body) if number == 1 => Some((var, size, body)),
        _ => None,
    }
}

/// Whether an index is certainly one of a tensor.
fn is_in_range(program: &Program, index: ExprId, tensor: ExprId, below: &[(VarId, ExprId)]) -> bool {
    let store = &program.store;
    let size = match store.node(tensor) {
        Node::Prim(Prim::Build | Prim::ConstVec | Prim::DeltaVec, args) => Some(store.list(args)[0]),
        _ => None,
    };
    let is_size = |known: ExprId| {
        size == Some(known)
            || matches!(store.node(known), Node::Prim(Prim::Size, args) if store.list(args)[0] == tensor)
    };
    match store.node(index) {
        Node::Var(var) => below.iter().any(|(other, size)| *other == var && is_size(*size)),
        _ => size.is_some_and(|size| is_below(program, index, size)),
    }
}

/// Whether an index that is written as a number is below a size that is.
fn is_below(program: &Program, index: ExprId, size: ExprId) -> bool {
    let store = &program.store;
    match (store.node(index), store.node(size)) {
        (Node::Integer(index), Node::Integer(size)) => 0 <= index && index < size,
        (Node::Tuple(index), Node::Tuple(size)) => {
            store.list(index).iter().zip(store.list(size)).all(|(index, size)| is_below(program, *index, *size))
        }
        _ => false,
    }
}

/// What happens when a side of a rule is evaluated, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    /// What a variable stands for is evaluated.
    Var(u8),
    /// A step fails, or does not.
    Step(usize),
    /// What has this number is no size, or it is one.
    Size(usize),
    /// The condition with this number holds, or an assert fails.
    Assert(usize),
    /// One of several parts is evaluated, or one is several times: which and how often depends on what has this number.
    Open(usize),
    /// The next of these parts.
    Next,
    /// A part of what has this number, by its own number.
    Arm(usize, usize),
    /// The end of it.
    Close,
}

/// Whether nobody sees that the right side of a rule takes the place of the left: everything that may fail or act is evaluated as
/// often and in the same order. `lhs` and `rhs` are the two sides with what the variables stand for.
pub(super) fn are_kept(
    effects: &mut Effects,
    program: &Program,
    rule: &PatternRule,
    bindings: &Bindings,
    (lhs, rhs): (ExprId, ExprId),
) -> bool {
    let sides = [(&rule.lhs, lhs), (&rule.rhs, rhs)];
    let are_total = sides.iter().all(|(_, expr)| effects.is_total(program, *expr));
    if !are_total && trace(effects, program, bindings, sides[0]) != trace(effects, program, bindings, sides[1]) {
        return false;
    }
    match &mut effects.checked {
        Some(checked) if rule.covered != u16::MAX => adds_no_failure(checked, program, rule, bindings, sides),
        _ => true,
    }
}

/// Whether all that may fail on the right side was evaluated on the left, at least as often.
fn adds_no_failure(
    checked: &mut Effects,
    program: &Program,
    rule: &PatternRule,
    bindings: &Bindings,
    sides: [(&Pattern, ExprId); 2],
) -> bool {
    if checked.is_total(program, sides[1].1) {
        return true;
    }
    let [lhs, rhs] = sides.map(|side| places(&trace(checked, program, bindings, side)));
    rhs.iter().all(|(event, around)| {
        let is_said = matches!(event, Event::Var(number) if rule.covered >> number & 1 == 1);
        let was_there = |(before, outside): &(Event, Vec<Event>)| {
            before == event && outside.iter().all(|place| around.contains(place))
        };
        is_said || lhs.iter().any(was_there)
    })
}

fn trace(
    effects: &mut Effects,
    program: &Program,
    bindings: &Bindings,
    (pattern, expr): (&Pattern, ExprId),
) -> Vec<Event> {
    let mut trace = Trace { effects, program, bindings, events: vec![], seen: vec![], below: vec![] };
    trace.visit(pattern, expr);
    trace.events
}

/// What happens, each with the loops and arms that it is in: a loop or a choice, and the number of the arm.
fn places(events: &[Event]) -> Vec<(Event, Vec<Event>)> {
    let (mut found, mut around) = (vec![], vec![]);
    for event in events {
        match event {
            Event::Open(which) => around.push(Event::Arm(*which, 0)),
            Event::Next => {
                if let Some(Event::Arm(_, arm)) = around.last_mut() {
                    *arm += 1;
                }
            }
            Event::Close => _ = around.pop(),
            _ => found.push((*event, around.clone())),
        }
    }
    found
}

struct Trace<'a> {
    effects: &'a mut Effects,
    program: &'a Program,
    bindings: &'a Bindings,
    events: Vec<Event>,
    /// What was evaluated for certain, and gives the same again.
    seen: Vec<Event>,
    /// Variables of loops around, with the sizes that they are below.
    below: Vec<(VarId, ExprId)>,
}

impl Trace<'_> {
    fn visit(&mut self, pattern: &Pattern, expr: ExprId) {
        if self.effects.is_total(self.program, expr) {
            return;
        }
        match &pattern.kind {
            PatternKind::Var(number) => {
                let stands = self.bindings.var(*number).unwrap_or(expr);
                let is_pure = self.effects.is_pure(self.program, stands);
                self.happens(Event::Var(*number), is_pure);
            }
            PatternKind::Bound(_) | PatternKind::Constant(_) => {}
            PatternKind::Step(step) => {
                let part = |number: usize| self.program.store.part(expr, number).unwrap_or(expr);
                let parts: Vec<(&Pattern, ExprId)> =
                    step.parts.iter().enumerate().map(|(number, pattern)| (pattern, part(number))).collect();
                self.step(step.head, &parts, expr);
                self.own(step.head, pattern.id, expr);
            }
        }
    }

    fn happens(&mut self, event: Event, is_pure: bool) {
        if is_pure && self.seen.contains(&event) {
            return;
        }
        self.events.push(event);
        if is_pure {
            self.seen.push(event);
        }
    }

    fn step(&mut self, head: Head, parts: &[(&Pattern, ExprId)], expr: ExprId) {
        match (head, parts) {
            (Head::If | Head::Match, [first, arms @ ..]) => {
                self.visit(first.0, first.1);
                self.some_times(first.0.id, arms, true);
            }
            (Head::Assert, [first, body]) => {
                self.visit(first.0, first.1);
                let is_pure = self.effects.is_pure(self.program, first.1);
                let holds = self.program.store.node(first.1) == Node::Bool(true);
                if !holds && self.effects.keeps_failures() {
                    self.happens(Event::Assert(first.0.id), is_pure);
                }
                self.visit(body.0, body.1);
            }
            _ => {
                let is_lam =
                    |part: &&(&Pattern, ExprId)| matches!(&part.0.kind, PatternKind::Step(s) if s.head == Head::Lam);
                parts.iter().filter(|part| !is_lam(part)).for_each(|part| self.visit(part.0, part.1));
                let lams: Vec<_> = parts.iter().filter(is_lam).copied().collect();
                let over = parts.iter().rfind(|part| !is_lam(part)).map_or(0, |part| part.0.id);
                if let (true, Some(size)) = (has_size(head), parts.first())
                    && !self.effects.is_size(self.program, size.1)
                    && self.effects.keeps_failures()
                {
                    self.happens(Event::Size(size.0.id), true);
                }
                let around = over_indices(self.program, expr, 1);
                self.below.extend(around.map(|(var, size, _)| (var, size)));
                self.some_times(over, &lams, false);
                if around.is_some() {
                    self.below.pop();
                }
            }
        }
    }

    /// Parts of which one is evaluated, or that are evaluated again and again.
    fn some_times(&mut self, which: usize, parts: &[(&Pattern, ExprId)], is_choice: bool) {
        let (from, seen) = (self.events.len(), self.seen.len());
        let mut arms = vec![];
        for part in parts {
            match &part.0.kind {
                PatternKind::Step(step) if step.head == Head::Lam => {
                    let body = self.program.store.part(part.1, 0).unwrap_or(part.1);
                    self.visit(&step.parts[0], body);
                }
                _ => self.visit(part.0, part.1),
            }
            arms.push(self.events.split_off(from));
            self.seen.truncate(seen);
        }
        if is_choice && arms.windows(2).all(|pair| pair[0] == pair[1]) {
            self.events.extend(arms.into_iter().next().unwrap_or_default());
        } else if arms.iter().any(|arm| !arm.is_empty()) {
            self.events.push(Event::Open(which));
            for arm in arms {
                self.events.extend(arm);
                self.events.push(Event::Next);
            }
            self.events.push(Event::Close);
        }
    }

    /// What a step itself does after its parts.
    fn own(&mut self, head: Head, id: usize, expr: ExprId) {
        let acts = match head {
            Head::Call(fun) => {
                let (fails, acts) = self.effects.facts.function(self.program, fun);
                if !fails && !acts {
                    return;
                }
                acts
            }
            Head::Assert => return,
            _ => false,
        };
        let is_trivial = || self.program.store.types.has_trivial_shape(self.program.store.ty(expr));
        let is_done = has_size(head) && (head != Head::Prim(Prim::Sumbuild) || is_trivial());
        let fails = !is_done && self.effects.keeps_failures() && self.effects.may_fail(self.program, expr, &self.below);
        if acts || fails {
            self.happens(Event::Step(id), !acts);
        }
    }
}

/// Whether the first part of a step is a size, which must not be negative.
fn has_size(head: Head) -> bool {
    matches!(head, Head::Prim(prim) if prim.is_over_indices() || matches!(prim, Prim::ConstVec | Prim::DeltaVec))
}
