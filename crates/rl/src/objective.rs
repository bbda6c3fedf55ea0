//! What is learned: gradients of examples, and a score on held-back ones.

use labrys_nn::{Gradients, Params};
use labrys_search::Seed;
use std::collections::BTreeMap;

/// Named measurements, averaged over examples.
pub type Figures = BTreeMap<&'static str, f64>;

/// What one example says.
#[derive(Clone, Debug)]
pub struct Example {
    /// Derivatives of its loss.
    pub gradients: Gradients,
    /// Measurements to record, such as `loss` and `reward`.
    pub figures: Figures,
}

/// Something to learn. Examples are computed in parallel and must depend on nothing but parameters and seed.
pub trait Objective: Sync {
    /// Loss of one example, drawn by the seed.
    fn example(&self, params: &Params, seed: Seed) -> Example;

    /// Number of held-back examples.
    fn held_back(&self) -> usize;

    /// Measurements on a held-back example. The mean of `score` decides which parameters are best: higher is better.
    fn validate(&self, params: &Params, index: usize, seed: Seed) -> Figures;
}

/// The mean of each figure over those that have it, in a fixed order of sums.
pub(crate) fn mean(all: impl IntoIterator<Item = Figures>) -> Figures {
    let mut sums: BTreeMap<&'static str, (f64, f64)> = BTreeMap::new();
    for (name, value) in all.into_iter().flatten() {
        let (sum, count) = sums.entry(name).or_default();
        *sum += value;
        *count += 1.0;
    }
    sums.into_iter().map(|(name, (sum, count))| (name, sum / count)).collect()
}
