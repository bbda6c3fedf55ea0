//! The travelling salesman.

use super::SolveArgs;
use super::answer::{Answer, Search};
use super::input::Instance;
use crate::error::CliError;
use crate::progress::Progress;
use labrys_combopt::{Problem, tsp};
use labrys_search::Seed;
use std::time::Instant;

pub(super) fn solve(args: &SolveArgs, input: tsp::tsplib::Loaded, started: Instant) -> Result<Answer, CliError> {
    let progress = Progress::new(args.quiet);
    let mut run = args.runner(started, &progress, |value| value.to_string());
    let guide = args.guide.of_cities(Seed(args.seed))?;
    tsp::solve(&input.cities, guide.as_deref(), &mut run);
    let bound = run.bound().unwrap_or(0);
    let outcome = run.finish();
    drop(progress);
    let (score, order) =
        outcome.best.as_ref().ok_or_else(|| CliError::infeasible("the search was stopped before it found anything"))?;
    Ok(Answer {
        problem: Problem::Tsp,
        nodes: order.clone(),
        objective: score.value as i64,
        bound: bound as i64,
        search: Search::new(&outcome, |value| value as i64),
        input: Instance::Cities(input),
    })
}
