//! Simulated annealing in sweeps (Myklebust 2015): hot enough to move everything at first, frozen at the end.

use super::State;
use labrys_search::anneal::Schedule;
use labrys_search::seed::Rng;
use rand::{Rng as _, RngExt as _};

/// Logarithms of uniform numbers: what a gain divided by the temperature must exceed. A table saves drawing and the logarithm.
pub struct Thresholds(Vec<f64>);

const TABLE: usize = 1 << 13;

impl Thresholds {
    /// Draws the table.
    pub fn new(rng: &mut Rng) -> Self {
        Self((0..TABLE).map(|_| (1.0 - rng.random::<f64>()).ln()).collect())
    }
}

/// The schedule for a graph: from about the mean absolute weight around a node down to a small part of the smallest weight.
pub fn schedule(state: &State) -> Schedule {
    let n = state.nodes().max(1) as f64;
    let weights = || state.weights().filter(|&weight| weight != 0).map(|weight| weight.unsigned_abs() as f64);
    let mean_square = weights().map(|weight| weight * weight).sum::<f64>() / n;
    let least = weights().fold(f64::INFINITY, f64::min);
    let start = mean_square.sqrt().max(1e-9);
    Schedule { start, end: (0.15 * least).min(0.1 * start).max(0.01 * start) }
}

/// One sweep over all nodes at a temperature.
pub fn sweep(state: &mut State, temperature: f64, thresholds: &Thresholds, rng: &mut Rng) {
    let mut at = rng.next_u32() as usize;
    for v in 0..state.nodes() as u32 {
        at = (at + 1) % TABLE;
        let gain = state.gain(v);
        // Moves that change nothing are taken half of the time, so that a sweep does not only swap them back and forth.
        if gain as f64 > temperature * thresholds.0[at] && (gain != 0 || at.is_multiple_of(2)) {
            state.flip(v);
        }
    }
}
