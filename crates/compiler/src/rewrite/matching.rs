//! Does an expression look like the left side of a rule, and what do the variables stand for?

use super::pattern::{Head, MOST_SLOTS, MOST_VARS, Pattern, PatternKind, PatternRule, Step, fits};
use crate::ir::{ExprId, Node, Store, VarId};

/// What the variables of a rule stand for.
#[derive(Clone, Debug)]
pub(super) struct Bindings {
    /// The expression of each variable, with the number of binders around it.
    pub(super) vars: [Option<(ExprId, u32)>; MOST_VARS],
    /// The variable that each slot binds.
    pub(super) slots: [Option<VarId>; MOST_SLOTS],
}

impl Bindings {
    /// What a variable stands for.
    pub(super) fn var(&self, number: u8) -> Option<ExprId> {
        self.vars[usize::from(number)].map(|(expr, _)| expr)
    }
}

/// The bindings that make the left side of a rule the expression, which `depth` binders are around.
pub(super) fn bindings(store: &Store, rule: &PatternRule, expr: ExprId, depth: u32) -> Option<Bindings> {
    let bindings = Bindings { vars: [None; MOST_VARS], slots: [None; MOST_SLOTS] };
    let mut matching = Matching { store, rule, bindings };
    (matching.fits(&rule.lhs, expr, depth) && matching.keeps_scopes()).then_some(matching.bindings)
}

struct Matching<'a> {
    store: &'a Store,
    rule: &'a PatternRule,
    bindings: Bindings,
}

impl Matching<'_> {
    fn fits(&mut self, pattern: &Pattern, expr: ExprId, depth: u32) -> bool {
        match &pattern.kind {
            PatternKind::Var(number) => self.bind(usize::from(*number), expr, depth),
            PatternKind::Bound(slot) => match self.store.node(expr) {
                Node::Var(var) => self.bindings.slots[usize::from(*slot)] == Some(var),
                _ => false,
            },
            PatternKind::Constant(node) => self.store.node(expr) == *node,
            PatternKind::Step(step) => self.step(step, expr, depth),
        }
    }

    fn bind(&mut self, number: usize, expr: ExprId, depth: u32) -> bool {
        match self.bindings.vars[number] {
            Some((bound, _)) => bound == expr,
            None => {
                self.bindings.vars[number] = Some((expr, depth));
                fits(&self.store.types, self.rule.vars[number], self.store.ty(expr))
            }
        }
    }

    fn step(&mut self, step: &Step, expr: ExprId, depth: u32) -> bool {
        let store = self.store;
        match (step.head, store.node(expr)) {
            (Head::Prim(prim), Node::Prim(found, args)) => prim == found && self.all(step, store.list(args), depth),
            (Head::Tuple, Node::Tuple(fields)) => self.all(step, store.list(fields), depth),
            (Head::Get(field), Node::Get(found, a)) => field == found && self.all(step, &[a], depth),
            (Head::Call(fun), Node::Call(found, a)) => fun == found && self.all(step, &[a], depth),
            (Head::If, Node::If(a, b, c)) => self.all(step, &[a, b, c], depth),
            (Head::Assert, Node::Assert(a, b)) => self.all(step, &[a, b], depth),
            (Head::Let, Node::Let(var, a, b)) => {
                self.bind_slot(step, var);
                self.fits(&step.parts[0], a, depth) && self.fits(&step.parts[1], b, depth + 1)
            }
            (Head::Lam, Node::Lam(var, body)) => {
                self.bind_slot(step, var);
                let is_typed = step.binds.is_some_and(|(_, ty)| fits(&store.types, ty, store.var_type(var)));
                is_typed && self.fits(&step.parts[0], body, depth + 1)
            }
            (Head::Construct(data, number), Node::Construct(found, of, a)) => {
                (data, number) == (found, of) && self.all(step, &[a], depth)
            }
            (Head::Match, Node::Match(value, arms)) => {
                let arms = store.list(arms);
                step.parts.len() == arms.len() + 1
                    && self.fits(&step.parts[0], value, depth)
                    && step.parts[1..].iter().zip(arms).all(|(pattern, arm)| self.fits(pattern, *arm, depth))
            }
            _ => false,
        }
    }

    fn all(&mut self, step: &Step, parts: &[ExprId], depth: u32) -> bool {
        step.parts.len() == parts.len()
            && step.parts.iter().zip(parts).all(|(pattern, part)| self.fits(pattern, *part, depth))
    }

    fn bind_slot(&mut self, step: &Step, var: VarId) {
        if let Some((slot, _)) = step.binds {
            self.bindings.slots[usize::from(slot)] = Some(var);
        }
    }

    /// Whether nothing mentions a variable that the right side does not bind around it.
    fn keeps_scopes(&self) -> bool {
        self.rule.forbidden.iter().zip(&self.bindings.vars).all(|(forbidden, bound)| {
            let mut slots = (0..MOST_SLOTS).filter(|slot| forbidden >> slot & 1 == 1);
            *forbidden == 0
                || slots.all(|slot| match (bound, self.bindings.slots[slot]) {
                    (Some((expr, _)), Some(var)) => !self.store.mentions(*expr, var),
                    _ => true,
                })
        })
    }
}
