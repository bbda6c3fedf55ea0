//! Training: the net learns to give high probability to orders that a long search has found.

use super::policy::{OUTPUTS, OrderPolicy};
use super::rollout::likelihood;
use super::{candidates, features};
use crate::solve::{self, Effort, Method};
use crate::{Objective, Plan, Problem, orders, synthetic};
use labrys_dataflow::{Graph, OpId};
use labrys_nn::graph_batch::BatchError;
use labrys_nn::{GraphBatch, Matrix, Params, Tape};
use labrys_rl::{Example, Figures, Objective as Learned};
use labrys_search::{Limits, Runner, Seed};
use rand::RngExt as _;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What to learn from.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Data {
    /// Seed of the graphs; it must not be one that is used to measure.
    pub seed: u64,
    /// Graphs to learn from.
    pub graphs: u64,
    /// Graphs after them to validate on.
    pub held_back: u64,
    /// Moves of the search that finds the order of each.
    pub work: u64,
}

impl Default for Data {
    fn default() -> Self {
        Self { seed: 77, graphs: 7850, held_back: 150, work: 300_000 }
    }
}

/// The best order known of a synthetic graph.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Expert {
    /// Number of the graph under the seed of the data.
    pub number: u64,
    /// Peak of the order on one device.
    pub peak: u64,
    /// Ops by number.
    pub order: Vec<u32>,
}

/// Searches for the orders of a range of graphs, in parallel; the result depends on `data` alone.
pub fn experts(data: &Data, numbers: std::ops::Range<u64>) -> Vec<Expert> {
    numbers.into_par_iter().map(|number| expert(data, number)).collect()
}

fn expert(data: &Data, number: u64) -> Expert {
    let graph = Arc::new(synthetic::graph(Seed(data.seed), number));
    let problem = Problem::new(graph, 1, Objective::PeakMemory);
    let limits = Limits { work: Some(data.work), time: None };
    let mut run: Runner<Plan> = Runner::new(limits, Seed(data.seed).derive("order", number));
    solve::solve(&problem, Method::Portfolio, Effort::Search, None, &mut run);
    let (peak, order) = run.best().map_or((0, vec![]), |(score, plan)| (score.value, plan.order().collect()));
    Expert { number, peak, order: order.iter().map(|op| op.0).collect() }
}

/// A graph as the net sees it, with its order.
struct Lesson {
    graph: Graph,
    batch: GraphBatch,
    peak: u64,
    order: Vec<OpId>,
}

impl Lesson {
    fn new(seed: Seed, expert: &Expert) -> Result<Self, BatchError> {
        let graph = synthetic::graph(seed, expert.number);
        let batch = features::batch(&graph)?;
        Ok(Self { batch, graph, peak: expert.peak, order: expert.order.iter().map(|&op| OpId(op)).collect() })
    }
}

/// The objective: mean log-probability of the expert's choices in both directions.
pub struct Imitation {
    policy: OrderPolicy,
    lessons: Vec<Lesson>,
    held_back: Vec<Lesson>,
}

impl Imitation {
    /// Learns from the first `data.graphs` experts, and validates on the others.
    ///
    /// # Errors
    /// None for experts of [`experts`].
    pub fn new(policy: OrderPolicy, data: &Data, experts: &[Expert]) -> Result<Self, BatchError> {
        let lesson = |expert| Lesson::new(Seed(data.seed), expert);
        let mut lessons = experts.iter().map(lesson).collect::<Result<Vec<_>, _>>()?;
        let held_back = lessons.split_off(lessons.len().min(data.graphs as usize));
        Ok(Self { policy, lessons, held_back })
    }

    /// Least and most ops of a graph.
    pub fn sizes(&self) -> (usize, usize) {
        let ops = |lesson: &Lesson| lesson.graph.op_count();
        let least = self.lessons.iter().map(ops).min().unwrap_or(0);
        (least, self.lessons.iter().map(ops).max().unwrap_or(0))
    }
}

impl Learned for Imitation {
    fn example(&self, params: &Params, seed: Seed) -> Example {
        let lesson = &self.lessons[seed.stream("lesson", 0).random_range(0..self.lessons.len())];
        let mut tape = Tape::new(params);
        let outputs = self.policy.forward(&mut tape, &lesson.batch);
        let advice = self.policy.read(tape.value(outputs));
        let n = lesson.order.len();
        let mut loss = 0.0;
        let mut derivative = Matrix::zeros(n, OUTPUTS);
        for (column, (backward, priorities)) in [0, 2].into_iter().zip(advice.directions()) {
            let likelihood = likelihood(&lesson.graph, backward, priorities, &lesson.order);
            loss -= likelihood.log_probability / n as f64;
            for (i, (by_score, by_log_weight)) in likelihood.by_score.iter().zip(&likelihood.by_log_weight).enumerate()
            {
                let row = derivative.row_mut(i);
                (row[column], row[column + 1]) = (-by_score / n as f32, -by_log_weight / n as f32);
            }
        }
        let gradients = tape.backward_from(vec![(outputs, derivative)]);
        Example { gradients, figures: Figures::from([("loss", loss)]) }
    }

    fn held_back(&self) -> usize {
        self.held_back.len()
    }

    /// The score is the gap of the best order found to the expert's, in percent, negated.
    fn validate(&self, params: &Params, index: usize, seed: Seed) -> Figures {
        let lesson = &self.held_back[index];
        let advice = self.policy.advise_with(params, &lesson.batch);
        let gap =
            |order: &[OpId]| 100.0 * (orders::peak(&lesson.graph, order) as f64 / lesson.peak.max(1) as f64 - 1.0);
        let plain = |backward: bool| {
            let priorities = if backward { &advice.backward } else { &advice.forward };
            gap(&priorities.order(&lesson.graph, backward))
        };
        let best = candidates::orders(&lesson.graph, &advice, u64::MAX, seed, 1);
        Figures::from([
            ("gap-forward", plain(orders::FORWARD)),
            ("gap-backward", plain(orders::BACKWARD)),
            ("score", -gap(&best[0])),
        ])
    }
}
