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
use labrys_search::Runner;

/// Rules that the portfolio tries.
const RULES: [Rules; 6] = [
    Rules { candidates: 4, delay: 0.5 },
    Rules { candidates: 16, delay: 0.5 },
    Rules { candidates: 1, delay: 0.0 },
    Rules { candidates: 4, delay: 0.0 },
    Rules { candidates: 16, delay: 0.0 },
    Rules { candidates: 1, delay: 0.5 },
];

/// Offers the plans of list scheduling with every priority and rule, each under the name of its priority, until the runner stops;
/// the first one always.
pub fn constructive(problem: &Problem, run: &mut Runner<Plan>) {
    let mut decoder = Decoder::new(problem);
    let mut simulator = Simulator::new(problem);
    for (name, communication) in [("list, upward rank", 1.0), ("list, b-level", 0.0), ("list, half upward rank", 0.5)] {
        let priority = levels::upward_ranks(problem, communication);
        for rules in RULES {
            decoder.decode(&priority, rules, |_, _| 0);
            let plan = decoder.plan();
            run.spend(1);
            run.offer(problem.score(&simulator.simulate(&plan)), name, || plan);
            if run.should_stop() {
                return;
            }
        }
    }
}

/// Improves `start` until the runner stops, in any mode.
pub fn improve(problem: &Problem, start: &Plan, run: &mut Runner<Plan>) {
    anneal::anneal(problem, start, run);
}
