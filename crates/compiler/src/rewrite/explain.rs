//! What each step of a certificate brought, and where.

use super::replay::Function;
use crate::cost::Cost;
use crate::ir::Program;
use crate::source::Span;

/// A step and what the body of the function cost before and after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The function.
    pub function: String,
    /// The step as the certificate has it.
    pub step: String,
    /// The rule.
    pub rule: String,
    /// Where in the source stands what was replaced, as far as that is known.
    pub place: Option<Span>,
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
}

/// The costs before and after each step that was done again.
pub fn explain(program: &mut Program, functions: &[Function], cost: &mut dyn Cost) -> Vec<Line> {
    let mut lines = vec![];
    for function in functions {
        let name = program.store.show_fun(function.fun);
        if let Some(def) = program.def(function.fun).copied() {
            cost.enter(program, &def);
        }
        for step in &function.steps {
            lines.push(Line {
                function: name.clone(),
                step: step.step.to_string(),
                rule: step.step.rule.clone(),
                place: step.place,
                before: cost.cost(program, step.before),
                after: cost.cost(program, step.after),
            });
        }
    }
    lines
}

/// How often each rule was used, and by how much it changed the cost: the one that saved most first.
pub fn by_rule(lines: &[Line]) -> Vec<(&str, usize, f64)> {
    let mut rules: Vec<(&str, usize, f64)> = vec![];
    for line in lines {
        let saved = line.before - line.after;
        match rules.iter_mut().find(|(rule, ..)| *rule == line.rule) {
            Some((_, count, total)) => {
                *count += 1;
                *total += saved;
            }
            None => rules.push((&line.rule, 1, saved)),
        }
    }
    rules.sort_by(|a, b| b.2.total_cmp(&a.2));
    rules
}
