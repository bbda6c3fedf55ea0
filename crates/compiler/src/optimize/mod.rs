//! Optimisers: which rewrites to do, and where, so that the cost of an expression falls.
//!
//! Suggested reading order: [`rewrites`] (expressions as a space to search), this file (the searches over it), [`baselines`] with `cse` and `egraph`,
//! `walk`, `sharing` and `local` (the same two as rewrites, one after another), [`functions`], [`programs`] and [`emission`], [`sets`] (expressions to compare
//! methods on). What a search finds is a list of rewrites; nothing else is believed.

pub mod baselines;
mod cse;
mod egraph;
pub mod emission;
pub mod functions;
mod lanes;
mod local;
pub mod programs;
pub mod rewrites;
pub mod sets;
mod sharing;
#[cfg(test)]
mod testing;
pub mod value;
mod walk;

use crate::cost::Cost;
use crate::ir::{ExprId, Program};
use crate::rewrite::{Action, Rewriter, RuleSet};
use labrys_search::mcts::Params;
use labrys_search::{Runner, StateGraph, beam, best_first, mcts};
use rewrites::Rewrites;
use value::Value;

/// How to choose among rewrites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Algorithm 2, under a guide if there is one.
    AStar,
    /// Best first by the reduction so far.
    Greedy,
    /// The best few of each number of steps.
    Beam,
    /// Algorithm 3.
    Mcts,
    /// Walks at random.
    Random,
    /// Common subexpressions, as rewrites.
    Cse,
    /// Equality saturation, and the cheapest tree, as rewrites.
    EGraph,
    /// Equality saturation that counts what is shared once, then A* for what binds and loops.
    Hybrid,
}

impl Method {
    /// Every method with its name.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::AStar, "astar"),
        (Self::Greedy, "greedy"),
        (Self::Beam, "beam"),
        (Self::Mcts, "mcts"),
        (Self::Random, "random"),
        (Self::Cse, "cse"),
        (Self::EGraph, "egraph"),
        (Self::Hybrid, "hybrid"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(method, _)| *method == self).map_or("astar", |(_, name)| name)
    }
}

/// How far to look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Which method.
    pub method: Method,
    /// H: rewrites from a root of the search, at most.
    pub horizon: u32,
    /// Whether the first half of the horizon has only rules that change much.
    pub has_two_phases: bool,
    /// Whether the search also starts from what common subexpressions and the e-graph find, and so is never above them.
    pub has_portfolio: bool,
    /// States of each number of steps that beam search keeps at first.
    pub width: usize,
}

impl Default for Settings {
    /// The paper's for arithmetic.
    fn default() -> Self {
        Self { method: Method::AStar, horizon: 10, has_two_phases: false, has_portfolio: false, width: 16 }
    }
}

/// A way from an expression to a cheaper one.
pub struct Optimized {
    /// The cheapest expression that was found, in canonical form.
    pub expr: ExprId,
    /// Costs of the expression that it began with and of this one.
    pub costs: (f64, f64),
    /// The rewrites, each with what it makes.
    pub steps: Vec<(Action, ExprId)>,
    /// What the search saw.
    pub graph: StateGraph<ExprId, Action>,
}

/// Rewrites an expression, which is in canonical form, as long as `run` allows.
pub fn optimize(
    program: &mut Program,
    rules: &RuleSet,
    cost: &mut dyn Cost,
    mut value: Option<&mut dyn Value>,
    start: ExprId,
    settings: Settings,
    run: &mut Runner<u32>,
) -> Optimized {
    let mut rewriter = Rewriter::new(rules);
    let before = cost.cost(program, start);
    let mut graph = StateGraph::new(start, before);
    let mut roots = vec![0];
    for walk in starts(program, &mut rewriter, cost, start, settings) {
        let costs: Vec<f64> = walk.steps.iter().map(|(_, expr)| cost.cost(program, *expr)).collect();
        let path = walk.steps.into_iter().zip(costs).map(|((action, expr), cost)| (action, expr, cost));
        let end = graph.insert_path(0, path);
        roots.push(end);
    }
    roots.sort_unstable();
    roots.dedup();
    let value = value.as_mut().map(|value| &mut **value as &mut dyn Value);
    let mut space = Rewrites { program: &mut *program, rewriter: &mut rewriter, cost: &mut *cost, value };
    search(&mut space, &mut graph, &roots, settings, run);
    let best = graph.best();
    let steps = graph.path(best).into_iter().map(|(action, node)| (*action, graph.state(node))).collect();
    Optimized { expr: graph.state(best), costs: (before, graph.cost(best)), steps, graph }
}

/// Ways to begin with, beside none at all.
fn starts(
    program: &mut Program,
    rewriter: &mut Rewriter,
    cost: &mut dyn Cost,
    start: ExprId,
    settings: Settings,
) -> Vec<walk::Walk> {
    let mut walks = vec![];
    let is_any = settings.has_portfolio || settings.method == Method::Hybrid;
    if is_any || settings.method == Method::Cse {
        walks.push(sharing::shared(program, rewriter, cost, start));
    }
    if is_any || settings.method == Method::EGraph {
        walks.extend(local::saturated(program, rewriter, cost, start));
    }
    if is_any {
        let mut costs = walks.iter().map(|walk| cost.cost(program, walk.at)).enumerate();
        let first = costs.next();
        let best = costs.fold(first, |best, other| best.filter(|best| best.1 <= other.1).or(Some(other)));
        let walk = best.map_or_else(|| walk::Walk::new(start), |(number, _)| walks[number].clone());
        walks.extend(lanes::in_lanes(program, rewriter, cost, walk));
    }
    walks
}

/// Runs the search of a method.
fn search(
    space: &mut Rewrites<'_>,
    graph: &mut StateGraph<ExprId, Action>,
    roots: &[u32],
    settings: Settings,
    run: &mut Runner<u32>,
) {
    let Settings { method, horizon, width, .. } = settings;
    match method {
        Method::AStar | Method::Greedy | Method::Hybrid => {
            if method == Method::Greedy {
                space.value = None;
            }
            if settings.has_two_phases {
                two_phases(space, graph, roots, settings, run);
            } else {
                best_first(space, graph, roots, horizon, run, method.name());
            }
        }
        Method::Beam => beam(space, graph, horizon, width, run, method.name()),
        Method::Mcts => mcts(space, graph, horizon, Params::default(), run, method.name()),
        Method::Random => mcts(space, graph, horizon, Params::random_walks(), run, method.name()),
        Method::Cse | Method::EGraph => {}
    }
}

/// Half of the horizon and of the work with rules that change much, the rest with all rules, from everything that was found.
fn two_phases(
    space: &mut Rewrites<'_>,
    graph: &mut StateGraph<ExprId, Action>,
    roots: &[u32],
    settings: Settings,
    run: &mut Runner<u32>,
) {
    let (horizon, by) = (settings.horizon, settings.method.name());
    let all = space.rewriter.rules().clone();
    let big = all.filtered(|rule| rule.big);
    let mut first: Runner<u32> = run.part(0.5, "first phase");
    {
        let mut rewriter = Rewriter::new(&big);
        let value = space.value.as_mut().map(|value| &mut **value as &mut dyn Value);
        let mut space =
            Rewrites { program: &mut *space.program, rewriter: &mut rewriter, cost: &mut *space.cost, value };
        best_first(&mut space, graph, roots, horizon / 2, &mut first, by);
    }
    run.spend(first.work());
    graph.forget_steps();
    let every: Vec<u32> = (0..graph.len() as u32).collect();
    best_first(space, graph, &every, horizon - horizon / 2, run, by);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Table;
    use crate::optimize::sets::{SETS, Set};
    use crate::optimize::testing::start_of;
    use crate::rewrite::{self, Mode};
    use labrys_search::{Limits, Seed};

    /// States of a search in these tests.
    const WORK: u64 = 200;

    /// A guide that says something else to each question.
    struct Hostile {
        asked: u32,
    }

    impl Value for Hostile {
        fn values(&mut self, _: &Program, states: &[ExprId], out: &mut Vec<f32>) {
            const SAYS: [f32; 5] = [f32::NAN, f32::INFINITY, -7.0, 1e30, 0.5];
            for number in 0..states.len() * (self.horizon() + 1) {
                self.asked += 1;
                out.push(SAYS[(number + self.asked as usize) % SAYS.len()]);
            }
        }

        fn horizon(&self) -> usize {
            4
        }
    }

    fn rules_of(set: &Set, program: &mut Program) -> RuleSet {
        let settings = rewrite::Settings { mode: Mode::Fast, ..rewrite::Settings::default() };
        let rules = RuleSet::standard(program, settings);
        if set.only_binds { rules.filtered(|rule| rule.subject == "binding") } else { rules }
    }

    /// Optimises each function of a set.
    fn optimized(set: &Set, settings: Settings, mut value: Option<&mut dyn Value>) -> Vec<(f64, f64)> {
        let mut program = set.program();
        let rules = rules_of(set, &mut program);
        let mut costs = vec![];
        for fun in set.functions(&program) {
            let start = start_of(&mut program, fun);
            let mut run = Runner::new(Limits { work: Some(WORK), time: None }, Seed(0));
            let value = value.as_mut().map(|value| &mut **value as &mut dyn Value);
            let found = optimize(&mut program, &rules, &mut Table::default(), value, start, settings, &mut run);
            replayed(&mut program, &rules, start, &found);
            costs.push(found.costs);
        }
        costs
    }

    /// The steps lead from the start to the result, and the costs are true.
    fn replayed(program: &mut Program, rules: &RuleSet, start: ExprId, found: &Optimized) {
        let mut rewriter = Rewriter::new(rules);
        let mut at = start;
        for (action, to) in &found.steps {
            at = rewriter.apply(program, at, action).unwrap();
            assert_eq!(at, *to);
        }
        assert_eq!(at, found.expr);
        let mut cost = Table::default();
        assert_eq!((cost.cost(program, start), cost.cost(program, at)), found.costs);
    }

    #[test]
    fn every_method_gives_a_way_to_something_no_worse() {
        for set in [SETS[0], SETS[2]] {
            for (method, name) in Method::ALL {
                for has_two_phases in [false, true] {
                    let settings = Settings { method, has_two_phases, ..Settings::default() };
                    let costs = optimized(&set, settings, None);
                    assert!(costs.iter().all(|(before, after)| after <= before), "{name} on {}", set.name);
                    let is_better = costs.iter().map(|c| c.0).sum::<f64>() > costs.iter().map(|c| c.1).sum::<f64>();
                    // What is shared takes more steps to bind than so few states show a search that nothing guides.
                    assert!(is_better || set.only_binds, "{name} on {}", set.name);
                    assert_eq!(costs, optimized(&set, settings, None), "the same again");
                }
            }
        }
    }

    #[test]
    fn a_hostile_guide_makes_nothing_worse() {
        for method in [Method::AStar, Method::Beam, Method::Mcts, Method::Hybrid] {
            let settings = Settings { method, ..Settings::default() };
            let costs = optimized(&SETS[0], settings, Some(&mut Hostile { asked: 0 }));
            assert!(costs.iter().all(|(before, after)| after <= before), "{}", method.name());
        }
    }

    #[test]
    fn with_the_portfolio_a_search_is_never_above_the_baselines() {
        for set in SETS {
            let settings = Settings { method: Method::Hybrid, ..Settings::default() };
            let found = optimized(&set, settings, None);
            let mut program = set.program();
            let rules = rules_of(&set, &mut program);
            for (fun, (_, after)) in set.functions(&program).into_iter().zip(found) {
                let start = start_of(&mut program, fun);
                let name = program.store.show_fun(fun);
                let mut cost = Table::default();
                let mut others = vec![baselines::hash_consing(&mut program, &rules, &mut cost, start)];
                for counts_sharing in [false, true] {
                    others.push(baselines::e_graph(&mut program, &rules, &mut cost, start, counts_sharing));
                }
                for other in others {
                    let other = cost.cost(&mut program, other);
                    assert!(after <= other + 1e-9, "{name} of {}: {after} above {other}", set.name);
                }
            }
        }
    }
}
