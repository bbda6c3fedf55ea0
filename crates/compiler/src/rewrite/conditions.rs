//! The conditions of rules that are matched elsewhere, in an e-graph.

use super::guard::Ranges;
use super::matching::Bindings;
use super::pattern::{MOST_SLOTS, MOST_VARS, PatternRule, fits};
use super::rule::Settings;
use crate::ir::{ExprId, Program};

/// What is known of expressions, to hold conditions against.
pub(crate) struct Conditions {
    ranges: Ranges,
}

impl Conditions {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { ranges: Ranges::new(settings) }
    }

    /// Whether what the variables of a rule stand for has the types and the properties that the rule asks for.
    pub(crate) fn hold(&mut self, program: &Program, rule: &PatternRule, exprs: &[Option<ExprId>]) -> bool {
        let mut bindings = Bindings { vars: [None; MOST_VARS], slots: [None; MOST_SLOTS] };
        for (number, expr) in exprs.iter().enumerate() {
            let Some(expr) = expr else { continue };
            if !fits(&program.store.types, rule.vars[number], program.store.ty(*expr)) {
                return false;
            }
            bindings.vars[number] = Some((*expr, 0));
        }
        self.ranges.hold(program, rule, &bindings)
    }
}
