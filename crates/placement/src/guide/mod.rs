//! Guides for the order of ops: what they say, and the orders that follow from it.
//!
//! The order is what annealing of peak memory needs most and finds last: from a good one it ends far lower in little time, while
//! a good placement with another order is worth nothing (docs/learning.md). The order that needs the least memory on one device
//! is a good one on any number of devices, so that advice depends on the graph alone.
//!
//! Suggested reading order: this file, [`candidates`], then [`features`], [`policy`], and for training [`rollout`] and
//! [`imitation`].

pub mod candidates;
pub mod features;
pub mod imitation;
pub mod policy;
pub mod rollout;
pub mod simple;

pub use policy::OrderPolicy;
pub use simple::{Greedy, Random};

use crate::orders;
use crate::orders::view::View;
use labrys_dataflow::{Graph, OpId};
use labrys_search::Guide;

/// A guide for the order of ops.
pub type OrderGuide = dyn Guide<Graph, Advice = OrderAdvice>;

/// How urgent each op is in one direction of time. List scheduling takes the ready op of the largest `score - weight * growth`,
/// where `growth` is what memory grows by, in mean tensor sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priorities {
    /// Score of each op; a missing one counts as 0.
    pub score: Vec<f32>,
    /// Weight of the growth of each op; a missing one counts as 1.
    pub weight: Vec<f32>,
}

/// What a guide says. Any values are allowed: they decide on how good the orders are, never on whether they are valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderAdvice {
    /// Forwards in time.
    pub forward: Priorities,
    /// Backwards in time, from the last op to the first.
    pub backward: Priorities,
    /// How sure the guide is: the temperature at which annealing from its order should start, in units of one cell at the best
    /// peak. As usual if it is none, or no positive number.
    pub temperature: Option<f64>,
}

impl OrderAdvice {
    /// Both directions, forwards first.
    pub fn directions(&self) -> [(bool, &Priorities); 2] {
        [(orders::FORWARD, &self.forward), (orders::BACKWARD, &self.backward)]
    }

    /// The temperature, if it is one.
    pub fn usable_temperature(&self) -> Option<f64> {
        self.temperature.filter(|t| t.is_finite() && *t > 0.0)
    }
}

impl Priorities {
    /// What list scheduling maximises: the urgency of an op by which memory grows by `growth`, in mean tensor sizes.
    #[inline]
    pub fn urgency(&self, op: OpId, growth: f32) -> f32 {
        let i = op.0 as usize;
        self.score.get(i).unwrap_or(&0.0) - self.weight.get(i).unwrap_or(&1.0) * growth
    }

    /// The order by list scheduling, forwards in time. O((n + m) log n).
    pub(crate) fn order(&self, graph: &Graph, backward: bool) -> Vec<OpId> {
        let scale = 1.0 / mean_bytes(graph);
        let key = |op, growth, _| Ascending(-self.urgency(op, growth as f32 * scale));
        orders::by_key(View { graph, backward }, key)
    }
}

/// Mean size of a tensor in bytes, at least 1: the unit in which nets see memory.
pub(crate) fn mean_bytes(graph: &Graph) -> f32 {
    let total: u64 = graph.tensors().map(|t| graph.bytes(t)).sum();
    (total as f64 / graph.tensor_count().max(1) as f64).max(1.0) as f32
}

/// A number in the total order of IEEE 754, which has a place for NaN, too.
#[derive(Clone, Copy, PartialEq)]
struct Ascending(f32);

impl Eq for Ascending {}

impl Ord for Ascending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ascending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
