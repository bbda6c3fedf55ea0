//! Orders from advice: as it is, and with noise on the scores, which is cheap and often better.

use super::{OrderAdvice, Priorities};
use crate::orders;
use labrys_dataflow::{Graph, OpId};
use labrys_search::Seed;
use labrys_search::seed::Rng;
use rand::RngExt as _;
use rayon::prelude::*;

/// Rounds of noise, and orders of each, whatever the number of threads.
const ROUNDS: u64 = 4;
const DRAWS: u64 = 4;
/// Scale of the noise in the first round: half a draw of the trained list scheduler.
const NOISE: f32 = 0.5;
/// How much the scale falls from round to round.
const CALMER: f32 = 0.7;

/// An order of one device and its peak, with what it came from.
struct Candidate {
    peak: u64,
    order: Vec<OpId>,
    backward: bool,
    priorities: Priorities,
}

impl Candidate {
    fn new(graph: &Graph, backward: bool, priorities: Priorities) -> Self {
        let order = priorities.order(graph, backward);
        Self { peak: orders::peak(graph, &order), order, backward, priorities }
    }
}

/// The best `count` orders found, the one of the lowest peak on one device first; none if the advice as it is leads to no lower
/// peak than `known`, so that useless advice costs little. Each round adds noise to the scores that are best so far.
pub fn orders(graph: &Graph, advice: &OrderAdvice, known: u64, seed: Seed, count: usize) -> Vec<Vec<OpId>> {
    let plain = advice.directions();
    let mut found: Vec<Candidate> =
        plain.into_par_iter().map(|(backward, p)| Candidate::new(graph, backward, p.clone())).collect();
    found.sort_by_key(|candidate| candidate.peak);
    if found[0].peak >= known {
        return vec![];
    }
    for round in 0..ROUNDS {
        let best = &found[0];
        let scale = NOISE * CALMER.powi(round as i32);
        let draw = |draw| {
            let mut rng = seed.stream("order", round * DRAWS + draw);
            Candidate::new(graph, best.backward, perturbed(&best.priorities, graph.op_count(), scale, &mut rng))
        };
        let drawn: Vec<Candidate> = (0..DRAWS).into_par_iter().map(draw).collect();
        found.extend(drawn);
        found.sort_by_key(|candidate| candidate.peak);
        found.truncate(count.max(1));
    }
    found.into_iter().map(|candidate| candidate.order).collect()
}

/// The same with Gumbel noise on every score: the largest of such sums is a draw from their softmax.
fn perturbed(priorities: &Priorities, ops: usize, scale: f32, rng: &mut Rng) -> Priorities {
    let mut gumbel = || -(-rng.random::<f32>().max(f32::MIN_POSITIVE).ln()).max(f32::MIN_POSITIVE).ln();
    let score = (0..ops).map(|i| priorities.score.get(i).unwrap_or(&0.0) + scale * gumbel()).collect();
    Priorities { score, weight: priorities.weight.clone() }
}
