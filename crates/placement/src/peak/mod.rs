//! Peak memory by simulated annealing over order, placement and the time of transfers, move by move.
//!
//! A move is priced from what it changes alone: a shift of an op looks at the cells that it passes, never at the whole plan.
//! Suggested reading order: [`timeline`], [`state`], [`change`], [`walk`], [`compound`], [`style`].

mod change;
mod compound;
mod energy;
mod starts;
mod state;
mod style;
mod timeline;
mod walk;

pub use starts::constructive;

use crate::problem::{Plan, Problem};
use crate::simulate::Simulator;
use labrys_search::Runner;
use rayon::prelude::*;
use style::Style;
use walk::Walk;

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
    let mut simulator = Simulator::new(problem);
    run.offer(problem.score(&simulator.simulate(start)), "start", || start.clone());
    if problem.graph.op_count() == 0 {
        return;
    }
    let mut walks = walks(problem, start, run);
    let walk_count = walks.len() as u64;
    let mut offered = vec![None; walks.len()];
    let batch = BATCH.max(problem.graph.op_count() as u64 / 4);
    let unlimited = run.work_left() == u64::MAX && run.time_left().is_none();
    let work_limit = if unlimited { MOVES_PER_OP * problem.graph.op_count() as u64 } else { u64::MAX };
    let first_work = run.work();
    loop {
        for (walk, offered) in walks.iter().zip(&mut offered) {
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
        walks.par_iter_mut().enumerate().for_each(|(i, walk)| {
            let share = moves / walk_count + u64::from((i as u64) < moves % walk_count);
            walk.advance(share, progress);
        });
        run.spend(moves);
    }
}

fn walks<'p>(problem: &'p Problem, start: &Plan, run: &Runner<Plan>) -> Vec<Walk<'p>> {
    let start = run.best().map_or_else(|| start.clone(), |(_, plan)| plan.clone());
    let style = Style::for_graph(&problem.graph);
    let walk = |i| Walk::new(problem, &start, style, run.seed().stream(NAME, i));
    (0..WALKS).map(walk).collect()
}

#[cfg(test)]
mod tests;
