//! Peak memory by simulated annealing over order, placement and the time of transfers, move by move.
//!
//! A move is priced from what it changes alone: a shift of an op looks at the cells that it passes, never at the whole plan.
//! Suggested reading order: [`timeline`], [`state`], [`change`], [`walk`], [`compound`], [`style`].

mod balance;
mod change;
mod compound;
mod energy;
mod starts;
mod state;
mod style;
mod timeline;
mod walk;
mod warm;

pub use starts::{constructive, guided};
pub use warm::GuidedPlan;

use crate::problem::{Plan, Problem};
use crate::simulate::Simulator;
use labrys_search::Runner;
use rayon::prelude::*;
use style::Style;
use walk::Walk;
use warm::WarmStart;

/// Independent walks, whatever the number of threads.
const WALKS: usize = 2;
/// As many begin a long search where tensors come in few sizes, all but the first one from afar: which plateau a walk ends on is
/// luck, and can be told early.
const CANDIDATE_WALKS: usize = 8;
/// The progress at which the best [`WALKS`] of the candidates are selected.
const SELECTED_AT: f64 = 0.3;
/// Moves of a walk between two looks at the clock.
const BATCH: u64 = 1_000;
/// Moves per op if the runner has no limits.
const MOVES_PER_OP: u64 = 2_000;
const NAME: &str = "peak annealing";

/// Improves on `start`, or on the runner's best plan if that is better, until the runner stops it. One move is one unit of work.
///
/// The result depends on the seed and the work limit only, not on the number of threads.
pub fn anneal(problem: &Problem, start: &Plan, run: &mut Runner<Plan>) {
    anneal_guided(problem, start, None, run);
}

/// The same with a guide's plan, from which walks start where that has turned out to be good.
pub fn anneal_guided(problem: &Problem, start: &Plan, guided: Option<&GuidedPlan>, run: &mut Runner<Plan>) {
    let mut simulator = Simulator::new(problem);
    run.offer(problem.score(&simulator.simulate(start)), "start", || start.clone());
    if problem.graph.op_count() == 0 {
        return;
    }
    let mut walks = walks(problem, start, guided, run);
    let mut offered = vec![None; walks.len()];
    let batch = BATCH.max(problem.graph.op_count() as u64 / 4);
    let unlimited = run.work_left() == u64::MAX && run.time_left().is_none();
    let work_limit = if unlimited { MOVES_PER_OP * problem.graph.op_count() as u64 } else { u64::MAX };
    let first_work = run.work();
    loop {
        for ((walk, _), offered) in walks.iter().zip(&mut offered) {
            if *offered != Some(walk.best_score()) {
                *offered = Some(walk.best_score());
                let plan = walk.best_plan();
                let score = problem.score(&simulator.simulate(&plan));
                run.offer(score, NAME, || plan);
            }
        }
        let done = run.work() - first_work;
        if run.should_stop() || done >= work_limit {
            return;
        }
        let progress = run.progress().max(done as f64 / work_limit as f64);
        if walks.len() > WALKS && progress >= SELECTED_AT {
            walks.sort_by_key(|(walk, _)| walk.best_score());
            walks.truncate(WALKS);
            offered = vec![None; WALKS];
        }
        let walk_count = walks.len() as u64;
        let moves = (batch * walk_count).min(run.work_left());
        walks.par_iter_mut().enumerate().for_each(|(i, (walk, warm))| {
            let share = moves / walk_count + u64::from((i as u64) < moves % walk_count);
            walk.advance(share, warm.as_ref().map_or(progress, |warm| warm.progress(progress, done)));
        });
        run.spend(moves);
    }
}

/// The walks, and which of them start warm.
fn walks<'p>(
    problem: &'p Problem,
    start: &Plan,
    guided: Option<&GuidedPlan>,
    run: &Runner<Plan>,
) -> Vec<(Walk<'p>, Option<WarmStart>)> {
    let walk = |i, plan: &Plan, style| Walk::new(problem, plan, style, run.seed().stream(NAME, i));
    let near = Style::for_graph(&problem.graph);
    let is_long = warm::is_long(&problem.graph, run);
    if is_long && problem.device_count() > 1 && style::has_few_sizes(&problem.graph) {
        let start = if guided.is_some() { start } else { run.best().map_or(start, |(_, plan)| plan) };
        let far = starts::far(problem, start);
        let from_afar = (1..CANDIDATE_WALKS as u64).map(|i| (walk(i, &far, Style::far()), None));
        return std::iter::once((walk(0, start, near), None)).chain(from_afar).collect();
    }
    let start_of = |i| match guided {
        None => (walk(i, run.best().map_or(start, |(_, plan)| plan), near), None),
        Some(_) if i < warm::unguided_walks(&problem.graph, run) => (walk(i, start, near), None),
        Some(guided) => {
            let warm = |temperature| WarmStart::new(temperature, &problem.graph, run.progress());
            (walk(i, &guided.plan, near), guided.temperature.map(warm))
        }
    };
    (0..WALKS as u64).map(start_of).collect()
}

#[cfg(test)]
mod tests;
