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
const WALKS: u64 = 2;
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
    let walk_count = walks.len() as u64;
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
        let moves = (batch * walk_count).min(run.work_left());
        let progress = run.progress().max(done as f64 / work_limit as f64);
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
    let last_is_far = problem.device_count() > 1 && style::has_few_sizes(&problem.graph);
    let unguided = |i, plan| match last_is_far && i == WALKS - 1 {
        true => (walk(i, &starts::far(problem, plan), Style::far()), None),
        false => (walk(i, plan, near), None),
    };
    let start_of = |i| match guided {
        None => unguided(i, run.best().map_or(start, |(_, plan)| plan)),
        Some(_) if i < warm::unguided_walks(&problem.graph, run) => unguided(i, start),
        Some(guided) => {
            let warm = |temperature| WarmStart::new(temperature, &problem.graph, run.progress());
            (walk(i, &guided.plan, near), guided.temperature.map(warm))
        }
    };
    (0..WALKS).map(start_of).collect()
}

#[cfg(test)]
mod tests;
