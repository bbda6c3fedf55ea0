//! What to take out of an e-graph.

use super::language::{Label, Term};
use super::meaning::Meaning;
use crate::cost::Cost;
use crate::ir::ExprId;
use egg::{EGraph, Id};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Passes over what is chosen, in search of a better choice.
const PASSES: usize = 8;

/// A way to make a class.
#[derive(Clone, Debug)]
struct Choice {
    label: Label,
    parts: Vec<Id>,
    /// What the step costs, its parts aside.
    step: f64,
}

/// The ways to make each class, and what they cost.
pub(super) struct Extraction<'a> {
    egraph: &'a mut EGraph<Term, Meaning>,
    choices: BTreeMap<Id, Vec<Choice>>,
    /// The choice that makes the cheapest tree, with its cost.
    cheapest: FxHashMap<Id, (f64, usize)>,
}

impl<'a> Extraction<'a> {
    pub(super) fn of(egraph: &'a mut EGraph<Term, Meaning>, cost: &mut dyn Cost) -> Self {
        let mut classes: Vec<(Id, Vec<Term>)> = egraph.classes().map(|class| (class.id, class.nodes.clone())).collect();
        classes.sort();
        let mut choices = BTreeMap::new();
        for (id, mut terms) in classes {
            terms.sort();
            terms.dedup();
            let made = terms.into_iter().map(|term| choice(egraph, cost, term)).collect();
            choices.insert(id, made);
        }
        let mut extraction = Self { egraph, choices, cheapest: FxHashMap::default() };
        extraction.settle();
        extraction
    }

    /// Finds the cheapest tree of each class: until nothing gets cheaper.
    fn settle(&mut self) {
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for (id, choices) in &self.choices {
                for (number, choice) in choices.iter().enumerate() {
                    let parts: Option<f64> = choice.parts.iter().map(|part| Some(self.cheapest.get(part)?.0)).sum();
                    let Some(parts) = parts else { continue };
                    let cost = choice.step + parts;
                    if self.cheapest.get(id).is_none_or(|(best, _)| cost < *best - 1e-9) {
                        self.cheapest.insert(*id, (cost, number));
                        is_settled = false;
                    }
                }
            }
        }
    }

    fn cheapest_choices(&self) -> FxHashMap<Id, usize> {
        self.cheapest.iter().map(|(id, (_, number))| (*id, *number)).collect()
    }

    /// The cheapest tree of a class.
    pub(super) fn tree(&mut self, root: Id) -> Option<ExprId> {
        let chosen = self.cheapest_choices();
        self.write(root, &chosen)
    }

    /// The cheapest expression when equal parts cost once, as far as changing one choice after another leads from the cheapest tree.
    pub(super) fn shared(&mut self, root: Id) -> Option<ExprId> {
        let mut chosen = self.cheapest_choices();
        let mut best = self.shared_cost(root, &chosen)?;
        for _ in 0..PASSES {
            let before = best;
            for id in self.used(root, &chosen) {
                best = self.improve(root, id, &mut chosen, best);
            }
            if best >= before {
                break;
            }
        }
        self.write(root, &chosen)
    }

    /// Takes the best choice for one class, the others being as they are.
    fn improve(&self, root: Id, id: Id, chosen: &mut FxHashMap<Id, usize>, mut best: f64) -> f64 {
        let Some(mut own) = chosen.get(&id).copied() else { return best };
        for other in 0..self.choices[&id].len() {
            chosen.insert(id, other);
            match self.shared_cost(root, chosen) {
                Some(cost) if cost < best - 1e-9 => (best, own) = (cost, other),
                _ => {}
            }
        }
        chosen.insert(id, own);
        best
    }

    /// The classes that a choice for each class needs, in order; none if one needs itself.
    fn needed(&self, root: Id, chosen: &FxHashMap<Id, usize>) -> Option<Vec<Id>> {
        let (mut order, mut open, mut done) = (vec![], FxHashSet::default(), FxHashSet::default());
        let mut stack = vec![(root, false)];
        while let Some((id, is_left)) = stack.pop() {
            if is_left {
                open.remove(&id);
                done.insert(id);
                order.push(id);
            } else if !done.contains(&id) {
                if !open.insert(id) {
                    return None;
                }
                stack.push((id, true));
                let parts = &self.choices[&id][*chosen.get(&id)?].parts;
                if parts.iter().any(|part| open.contains(part)) {
                    return None;
                }
                stack.extend(parts.iter().filter(|part| !done.contains(*part)).map(|part| (*part, false)));
            }
        }
        Some(order)
    }

    fn used(&self, root: Id, chosen: &FxHashMap<Id, usize>) -> Vec<Id> {
        self.needed(root, chosen).unwrap_or_default()
    }

    fn shared_cost(&self, root: Id, chosen: &FxHashMap<Id, usize>) -> Option<f64> {
        let needed = self.needed(root, chosen)?;
        Some(needed.iter().map(|id| self.choices[id][chosen[id]].step).sum())
    }

    fn write(&mut self, root: Id, chosen: &FxHashMap<Id, usize>) -> Option<ExprId> {
        let mut written: FxHashMap<Id, ExprId> = FxHashMap::default();
        for id in self.needed(root, chosen)? {
            let choice = &self.choices[&id][chosen[&id]];
            let parts: Vec<ExprId> = choice.parts.iter().map(|part| written[part]).collect();
            let made = self.egraph.analysis.make(choice.label, &parts);
            written.insert(id, made);
        }
        written.get(&root).copied()
    }
}

/// A term with the cost of its step: that of an expression of its class over one of each of its parts, less the parts.
fn choice(egraph: &mut EGraph<Term, Meaning>, cost: &mut dyn Cost, term: Term) -> Choice {
    let exprs: Vec<ExprId> = term.parts.iter().map(|part| egraph[*part].data).collect();
    let made = egraph.analysis.make(term.label, &exprs);
    let program = &mut egraph.analysis.program;
    let whole = cost.cost(program, made);
    let inside: f64 = exprs.iter().map(|expr| cost.cost(program, *expr)).sum();
    let parts = term.parts.iter().map(|part| egraph.find(*part)).collect();
    Choice { label: term.label, parts, step: (whole - inside).max(0.0) }
}
