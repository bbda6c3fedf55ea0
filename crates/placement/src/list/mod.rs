//! Run time for any number of devices, finite links, asynchronous transfers and memory limits.
//!
//! Suggested reading order: [`builder`], [`levels`], [`decoder`]; then [`sequence`], [`timing`], [`anneal`].

pub mod anneal;
pub(crate) mod builder;
pub(crate) mod decoder;
pub(crate) mod levels;
mod sequence;
mod timing;

use crate::problem::{Plan, Problem};
use crate::simulate::Simulator;
use decoder::{Decoder, Rules};
use labrys_search::{Runner, Score};

/// Rules that the portfolio tries.
const RULES: [Rules; 6] = [
    Rules { candidates: 1, delay: 0.0 },
    Rules { candidates: 1, delay: 0.5 },
    Rules { candidates: 4, delay: 0.0 },
    Rules { candidates: 4, delay: 0.5 },
    Rules { candidates: 16, delay: 0.0 },
    Rules { candidates: 16, delay: 0.5 },
];

/// Best plan of list scheduling with every priority and rule, with its exact score and the priority that gave it. Stops as
/// soon as a feasible makespan is not above `bound`.
pub fn constructive(problem: &Problem, bound: u64) -> (Score, &'static str, Plan) {
    let mut decoder = Decoder::new(problem);
    let mut simulator = Simulator::new(problem);
    let mut best: Option<(Score, &'static str, Plan)> = None;
    for (name, communication) in [("list, upward rank", 1.0), ("list, b-level", 0.0), ("list, half upward rank", 0.5)] {
        let priority = levels::upward_ranks(problem, communication);
        for rules in RULES {
            decoder.decode(&priority, rules, |_, _| 0);
            let plan = decoder.plan();
            let score = problem.score(&simulator.simulate(&plan));
            if best.as_ref().is_none_or(|(old, ..)| score < *old) {
                best = Some((score, name, plan));
            }
            if score <= Score::feasible(bound) {
                break;
            }
        }
    }
    best.expect("there is at least one priority and one rule")
}

/// Improves `start` until the runner stops, in any mode.
pub fn improve(problem: &Problem, start: &Plan, run: &mut Runner<Plan>) {
    anneal::anneal(problem, start, run);
}
