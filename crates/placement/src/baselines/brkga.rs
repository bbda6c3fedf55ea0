//! BRKGA XK: the genetic algorithm with uniform proposals for X thousand evaluations, with the paper's decoder.

use crate::decode::PaperDecoder;
use crate::problem::{Plan, Problem};
use labrys_search::{Runner, brkga};

/// Runs until the runner stops it; one evaluation of the performance model is one unit of work.
pub fn search(problem: &Problem, params: &brkga::Params, run: &mut Runner<Plan>) {
    let decoder = PaperDecoder::new(problem);
    brkga::evolve(&decoder, params, run, "BRKGA", |keys| decoder.plan(keys));
}
