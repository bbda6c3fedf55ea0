//! Expressions to compare methods on. `docs/rewriting.md` says how they were made.

use crate::ir::{Body, FunId, Program};
use crate::source::Sources;

/// A set of functions.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// Its name.
    pub name: &'static str,
    /// Its program.
    pub text: &'static str,
    /// Whether only rules that bind apply, as in the paper's Generalization.
    pub only_binds: bool,
}

const fn set(name: &'static str, text: &'static str, only_binds: bool) -> Set {
    Set { name, text, only_binds }
}

/// Every set.
pub const SETS: [Set; 6] = [
    set("combined", include_str!("../../sets/combined.ks"), false),
    set("generalization-train", include_str!("../../sets/generalization_train.ks"), true),
    set("generalization-test", include_str!("../../sets/generalization_test.ks"), true),
    set("fresh", include_str!("../../sets/fresh.ks"), false),
    set("hard-train", include_str!("../../sets/hard_train.ks"), false),
    set("hard-test", include_str!("../../sets/hard_test.ks"), false),
];

impl Set {
    /// The set of a name.
    pub fn find(name: &str) -> Option<Self> {
        SETS.into_iter().find(|set| set.name == name)
    }

    /// The program, checked. Sets are right: a test sees to it.
    pub fn program(&self) -> Program {
        let sources = Sources::with(self.name, self.text);
        sources.ok().and_then(|sources| crate::compile(&sources).ok()).unwrap_or_default()
    }

    /// The functions of the set in a program that holds it, in order.
    pub fn functions(&self, program: &Program) -> Vec<FunId> {
        let own = program.defs().filter(|def| def.span.file != Sources::PRELUDE && matches!(def.body, Body::Expr(..)));
        own.map(|def| def.fun).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{Cost as _, Table};
    use crate::optimize::testing::start_of;

    #[test]
    fn sets_are_as_large_as_those_of_the_paper() {
        let expected = [(8, 64.0), (36, 514.0), (12, 161.0), (8, 201.0), (24, 440.0), (12, 238.0)];
        for (set, (count, total)) in SETS.iter().zip(expected) {
            let mut program = set.program();
            let functions = set.functions(&program);
            assert_eq!(functions.len(), count, "{}", set.name);
            let mut cost = Table::default();
            let costs = functions.into_iter().map(|fun| {
                let start = start_of(&mut program, fun);
                cost.cost(&mut program, start)
            });
            assert_eq!(costs.sum::<f64>(), total, "{}", set.name);
        }
    }

    #[test]
    fn training_and_test_have_nothing_in_common() {
        for (train, test) in [("generalization-train", "generalization-test"), ("hard-train", "hard-test")] {
            let lines = |name| Set::find(name).unwrap().text.lines().filter(|line| line.starts_with("  "));
            assert!(lines(test).all(|line| lines(train).all(|other| other != line)));
        }
    }
}
