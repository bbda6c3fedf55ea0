//! Expressions to learn from, at random: trees over a few parts that come more than once, disguised by a few rewrites.

use crate::ir::{ExprId, Prim, Program, TypeId};
use crate::rewrite::{Rewriter, RuleSet};
use labrys_search::seed::Rng;
use rand::RngExt as _;
use std::ops::RangeInclusive;

/// Nodes of an expression.
const SIZES: RangeInclusive<u32> = 7..=32;
/// Steps of a tree, those of its parts not counted.
const STEPS: RangeInclusive<u32> = 2..=6;
/// Parts that a tree is over.
const PARTS: RangeInclusive<usize> = 1..=3;
/// Rewrites that disguise it at most.
const DISGUISES: u32 = 5;
/// Variables.
const NAMES: [&str; 4] = ["x", "y", "z", "w"];

/// Draws expressions over variables of its own.
pub struct Generator {
    rewriter: Rewriter,
    variables: Vec<ExprId>,
    parts: Vec<ExprId>,
}

impl Generator {
    /// A generator for the program that the rules were made for.
    pub fn new(program: &mut Program, rules: &RuleSet) -> Self {
        let store = &mut program.store;
        let variable = |name: &&str| {
            let var = store.fresh(name, TypeId::FLOAT);
            store.var(var)
        };
        let variables = NAMES.iter().map(variable).collect();
        // What binds would not disguise: it shows what is to be bound.
        let rewriter = Rewriter::new(&rules.filtered(|rule| rule.subject != "binding"));
        Self { rewriter, variables, parts: vec![] }
    }

    /// An expression in canonical form.
    pub fn draw(&mut self, program: &mut Program, rng: &mut Rng) -> ExprId {
        loop {
            self.parts.clear();
            self.parts = (0..rng.random_range(PARTS)).map(|_| self.part(program, rng)).collect();
            let steps = rng.random_range(STEPS);
            let tree = self.tree(program, rng, steps);
            let tree = program.store.canonical(tree);
            let disguised = self.disguise(program, rng, tree);
            if SIZES.contains(&program.store.size(disguised)) {
                return disguised;
            }
        }
    }

    /// One step or two over variables.
    fn part(&mut self, program: &mut Program, rng: &mut Rng) -> ExprId {
        let steps = rng.random_range(1..=2);
        self.tree(program, rng, steps)
    }

    fn tree(&mut self, program: &mut Program, rng: &mut Rng, steps: u32) -> ExprId {
        if steps == 0 {
            return self.leaf(program, rng);
        }
        if rng.random_range(0..4) == 0 {
            let inner = self.tree(program, rng, steps - 1);
            return program.store.prim(function(rng), &[inner]);
        }
        let left = rng.random_range(0..steps);
        let first = self.tree(program, rng, left);
        let second = self.tree(program, rng, steps - 1 - left);
        program.store.prim(operation(rng), &[first, second])
    }

    fn leaf(&mut self, program: &mut Program, rng: &mut Rng) -> ExprId {
        match rng.random_range(0..24) {
            0 => program.store.float(0.0),
            1 => program.store.float(1.0),
            number if number >= 9 && !self.parts.is_empty() => self.parts[rng.random_range(0..self.parts.len())],
            _ => self.variables[rng.random_range(0..self.variables.len())],
        }
    }

    /// The same after a few rewrites at random.
    fn disguise(&mut self, program: &mut Program, rng: &mut Rng, mut expr: ExprId) -> ExprId {
        let mut found = vec![];
        for _ in 0..rng.random_range(0..=DISGUISES) {
            found.clear();
            self.rewriter.actions(program, expr, &mut found);
            if found.is_empty() {
                break;
            }
            expr = found[rng.random_range(0..found.len())].1;
        }
        expr
    }
}

fn operation(rng: &mut Rng) -> Prim {
    [Prim::Add, Prim::Add, Prim::Mul, Prim::Mul, Prim::Sub, Prim::Div][rng.random_range(0..6)]
}

/// Those of rules, and two that stand for all others.
fn function(rng: &mut Rng) -> Prim {
    [Prim::Exp, Prim::Exp, Prim::Exp, Prim::Log, Prim::Log, Prim::Tanh, Prim::Cos][rng.random_range(0..7)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::sets::Set;
    use crate::rewrite::{Mode, Settings};
    use crate::value::ExprGraph;
    use labrys_search::Seed;

    /// A few expressions.
    fn drawn(seed: u64) -> Vec<Option<ExprGraph>> {
        let mut program = Set { name: "random", text: "", only_binds: false }.program();
        let rules = RuleSet::standard(&mut program, Settings { mode: Mode::Fast, ..Settings::default() });
        let mut generator = Generator::new(&mut program, &rules);
        let mut rng = Seed(seed).stream("expressions", 0);
        let mut drawn = vec![];
        for _ in 0..40 {
            let expr = generator.draw(&mut program, &mut rng);
            assert!(SIZES.contains(&program.store.size(expr)));
            assert_eq!(program.store.ty(expr), TypeId::FLOAT);
            assert_eq!(program.store.canonical(expr), expr);
            drawn.push(ExprGraph::new(&program.store, expr));
        }
        drawn
    }

    #[test]
    fn a_seed_gives_the_same_expressions_each_time() {
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }
}
