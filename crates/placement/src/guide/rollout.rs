//! The stochastic list scheduler: the next op is drawn with probabilities that are the softmax of the urgency over all ready ops.
//!
//! With it an order has a probability, which training raises: Plackett and Luce's model of rankings, where precedence says
//! which ops are left to choose from, and urgency changes as memory does.

use super::{Priorities, mean_bytes};
use crate::orders::frontier::Frontier;
use crate::orders::view::View;
use labrys_dataflow::{Graph, OpId};

/// The probability of an order.
#[derive(Clone, Debug)]
pub struct Likelihood {
    /// Logarithm of the probability.
    pub log_probability: f64,
    /// Its derivative by the score of each op.
    pub by_score: Vec<f32>,
    /// Its derivative by the logarithm of the weight of each op.
    pub by_log_weight: Vec<f32>,
}

/// The probability of `order`, which is forwards in time whatever the direction of the scheduler. O(n w) for w ready ops.
pub fn likelihood(graph: &Graph, backward: bool, priorities: &Priorities, order: &[OpId]) -> Likelihood {
    let n = graph.op_count();
    let view = View { graph, backward };
    let mut scheduler = Scheduler::new(view, priorities);
    let mut likelihood = Likelihood { log_probability: 0.0, by_score: vec![0.0; n], by_log_weight: vec![0.0; n] };
    for op in view.to_forward(order.to_vec()) {
        scheduler.weigh();
        for (&ready, choice) in scheduler.ready.iter().zip(&scheduler.choices) {
            let by_urgency = f32::from(u8::from(ready == op)) - choice.probability;
            likelihood.by_score[ready.0 as usize] += by_urgency;
            likelihood.by_log_weight[ready.0 as usize] -= by_urgency * choice.weighted_growth;
            if ready == op {
                likelihood.log_probability += f64::from(choice.probability.max(f32::MIN_POSITIVE).ln());
            }
        }
        scheduler.run(op);
    }
    likelihood
}

/// One of the ready ops.
struct Choice {
    probability: f32,
    weighted_growth: f32,
}

struct Scheduler<'g> {
    priorities: &'g Priorities,
    scale: f32,
    frontier: Frontier<'g>,
    ready: Vec<OpId>,
    is_ready: Vec<bool>,
    choices: Vec<Choice>,
    changed: Vec<OpId>,
}

impl<'g> Scheduler<'g> {
    fn new(view: View<'g>, priorities: &'g Priorities) -> Self {
        let frontier = Frontier::new(view);
        let ready = frontier.first();
        let mut is_ready = vec![false; view.graph.op_count()];
        ready.iter().for_each(|op| is_ready[op.0 as usize] = true);
        let scale = 1.0 / mean_bytes(view.graph);
        Self { priorities, scale, frontier, ready, is_ready, choices: vec![], changed: vec![] }
    }

    /// Computes the probabilities of all ready ops.
    fn weigh(&mut self) {
        self.choices.clear();
        for &op in &self.ready {
            let growth = self.frontier.growth(op) as f32 * self.scale;
            let urgency = self.priorities.urgency(op, growth);
            let weighted_growth = self.priorities.score[op.0 as usize] - urgency;
            self.choices.push(Choice { probability: urgency, weighted_growth });
        }
        let most = self.choices.iter().map(|c| c.probability).fold(f32::NEG_INFINITY, f32::max);
        self.choices.iter_mut().for_each(|c| c.probability = (c.probability - most).exp());
        let total: f32 = self.choices.iter().map(|c| c.probability).sum();
        self.choices.iter_mut().for_each(|c| c.probability /= total);
    }

    fn run(&mut self, op: OpId) {
        self.ready.retain(|&ready| ready != op);
        self.changed.clear();
        self.frontier.run(op, &mut self.changed);
        for &op in &self.changed {
            if !std::mem::replace(&mut self.is_ready[op.0 as usize], true) {
                self.ready.push(op);
            }
        }
    }
}
