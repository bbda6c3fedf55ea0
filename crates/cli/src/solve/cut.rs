//! Max cut.

use super::SolveArgs;
use super::answer::{Answer, Search};
use super::input::Instance;
use crate::error::CliError;
use crate::progress::Progress;
use labrys_combopt::Problem;
use labrys_combopt::cover::listed;
use labrys_combopt::cut::{self, Switches};
use labrys_graph::formats::Loaded;
use std::time::Instant;

pub(super) fn solve(args: &SolveArgs, input: Loaded, started: Instant) -> Result<Answer, CliError> {
    let total = cut::total_positive(&input.graph);
    let objective = move |missed: u64| total - missed as i64;
    let progress = Progress::new(args.quiet);
    let mut run = args.runner(started, &progress, move |value| objective(value).to_string());
    let switches = Switches {
        reductions: !args.no_reductions,
        anneal: !args.no_local_search,
        tabu: !args.no_local_search,
        exact: !args.no_exact,
    };
    let guide = args.guide(input.graph.nodes(), &run)?;
    cut::solve(&input.graph, guide.as_deref(), switches, &mut run);
    let bound = run.bound().unwrap_or(0);
    let outcome = run.finish();
    drop(progress);
    let (score, side) =
        outcome.best.as_ref().ok_or_else(|| CliError::infeasible("the search was stopped before it found anything"))?;
    Ok(Answer {
        problem: Problem::MaxCut,
        nodes: listed(side),
        objective: objective(score.value),
        bound: objective(bound),
        search: Search::new(&outcome, objective),
        input: Instance::Graph(input),
    })
}
