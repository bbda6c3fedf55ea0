//! Rewrites that are known before they are searched for.

use super::rewrites::Rewrites;
use crate::cost::Cost;
use crate::ir::{ExprId, Program};
use crate::rewrite::{Action, Place, Rewriter};
use labrys_search::{Limits, Runner, Seed, StateGraph, best_first};
use rustc_hash::FxHashSet;

/// A way from an expression to another, rewrite by rewrite.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// Where it has come to.
    pub(super) at: ExprId,
    /// The rewrites so far, each with what it made.
    pub(super) steps: Vec<(Action, ExprId)>,
}

impl Walk {
    /// A walk that stands at an expression in canonical form.
    pub(super) fn new(at: ExprId) -> Self {
        Self { at, steps: vec![] }
    }

    /// Does a rewrite.
    pub(super) fn push(&mut self, action: Action, expr: ExprId) {
        self.steps.push((action, expr));
        self.at = expr;
    }

    /// Does the rewrite of a rule at a path; says whether there is one.
    pub(super) fn take(
        &mut self,
        program: &mut Program,
        rewriter: &mut Rewriter,
        rule: &str,
        path: &[usize],
        choice: usize,
    ) -> bool {
        let action = (|| {
            let rule = rewriter.rules().find(rule)?;
            let place = Place::of_path(&program.store, self.at, path)?;
            Some(Action { rule, choice: u16::try_from(choice).ok()?, place })
        })();
        let Some(action) = action else { return false };
        match rewriter.apply(program, self.at, &action) {
            Ok(expr) => {
                self.push(action, expr);
                true
            }
            Err(_) => false,
        }
    }

    /// Goes on to the last of some expressions that a search of a few rewrites finds; says which, if it finds any.
    pub(super) fn go_to_last(
        &mut self,
        program: &mut Program,
        rewriter: &mut Rewriter,
        cost: &mut dyn Cost,
        of: &[ExprId],
    ) -> Option<usize> {
        const REACH: [(u32, u64); 2] = [(2, 400), (8, 2500)];
        for (horizon, work) in REACH {
            let mut graph = StateGraph::new(self.at, cost.cost(program, self.at));
            let mut run = Runner::new(Limits { work: Some(work), time: None }, Seed::default());
            let mut space =
                Rewrites { program: &mut *program, rewriter: &mut *rewriter, cost: &mut *cost, value: None };
            best_first(&mut space, &mut graph, &[0], horizon, &mut run, "retrace");
            let found = (0..of.len()).rev().find_map(|number| Some((number, graph.number(of[number])?)));
            let Some((number, node)) = found else { continue };
            for (action, to) in graph.path(node) {
                self.push(*action, graph.state(to));
            }
            return Some(number);
        }
        None
    }

    /// Leaves out what leads back to where it has been.
    pub(super) fn without_loops(mut self, from: ExprId) -> Self {
        let mut seen: FxHashSet<ExprId> = FxHashSet::from_iter([from]);
        let mut kept: Vec<(Action, ExprId)> = vec![];
        for (action, expr) in self.steps {
            if seen.insert(expr) {
                kept.push((action, expr));
                continue;
            }
            while kept.last().is_some_and(|(_, last)| *last != expr) {
                if let Some((_, dropped)) = kept.pop() {
                    seen.remove(&dropped);
                }
            }
        }
        self.steps = kept;
        self
    }
}
