//! `rule` forms.

use super::{Checker, Result};
use crate::error::ErrorKind;
use crate::ir::{Class, Guard, Rule, Test, VarId};
use crate::syntax::{Kind, SexpId};

const RULE: &str = "(rule \"name\" ((x : T) ...) left right option ...)";
const OPTION: &str = "options are exact, real, unsafe, big, covered and conditions such as (nonzero x)";

impl Checker<'_> {
    pub(super) fn rule(&mut self, id: SexpId, parts: &[SexpId]) -> Result<()> {
        let [name, params, left, right, options @ ..] = parts else { return self.expected(id, "a rule", RULE) };
        let Kind::String(text) = &self.tree.get(*name).kind else {
            return self.expected(*name, "the name of the rule as a string", RULE);
        };
        let params = self.params(*params)?;
        let vars = params.iter().map(|(name, ty)| {
            let var = self.state.program.store.fresh_named(*name, *ty);
            self.scope.push(*name, var);
            var
        });
        let vars: Vec<VarId> = vars.collect();
        let (lhs, rhs) = (self.expr(*left)?, self.expr(*right)?);
        let (lhs_type, rhs_type) = (self.state.program.store.ty(lhs), self.state.program.store.ty(rhs));
        if lhs_type != rhs_type {
            let (expected, found) = self.show_pair(lhs_type, rhs_type);
            let what = "the right side of the rule".to_owned();
            return self.fail(*right, ErrorKind::Mismatch { what, expected, found });
        }
        let (name, span) = (text.to_string(), self.tree.get(*name).span);
        let mut rule = Rule {
            name,
            vars,
            lhs,
            rhs,
            class: Class::default(),
            is_big: false,
            guards: vec![],
            covered: vec![],
            is_covered: false,
            span,
        };
        for option in options {
            self.rule_option(*option, &mut rule)?;
        }
        self.state.program.rules.push(rule);
        Ok(())
    }

    fn rule_option(&mut self, id: SexpId, rule: &mut Rule) -> Result<()> {
        match (self.name(id), self.parts(id)) {
            (Some("big"), _) => rule.is_big = true,
            (Some("covered"), _) => rule.is_covered = true,
            (Some(word), _) => match Class::ALL.into_iter().find(|class| class.keyword() == word) {
                Some(class) => rule.class = class,
                None => return self.expected(id, "an option of a rule", OPTION),
            },
            (None, [word, var]) if self.name(*word) == Some("covered") => {
                let var = self.pattern_variable(*var, &rule.vars)?;
                rule.covered.push(var);
            }
            (None, [test, var]) => {
                let found = Test::ALL.into_iter().find(|known| self.name(*test) == Some(known.keyword()));
                let Some(test) = found else {
                    let known: Vec<&str> = Test::ALL.iter().map(|test| test.keyword()).collect();
                    return self.expected(*test, "a condition", &format!("conditions are {}", known.join(", ")));
                };
                let var = self.pattern_variable(*var, &rule.vars)?;
                rule.guards.push(Guard { test, var });
            }
            _ => return self.expected(id, "an option of a rule", OPTION),
        }
        Ok(())
    }

    fn pattern_variable(&mut self, id: SexpId, vars: &[VarId]) -> Result<VarId> {
        let var = self.symbol(id).and_then(|name| self.scope.get(name)).filter(|var| vars.contains(var));
        match var {
            Some(var) => Ok(var),
            None => self.expected(id, "a variable of the rule", RULE),
        }
    }
}
