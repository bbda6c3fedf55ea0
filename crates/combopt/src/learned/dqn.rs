//! The learning algorithm: DQN with a target network, n-step returns and the double estimate as switches.

use super::blocks::LocalGraph;
use super::environment::Problem;
use super::model::{Model, Ranks};
use super::replay::{Replay, Tuple};
use super::sample::Batch;
use super::select;
use labrys_comm::CommError;
use labrys_nn::{Adam, Gradients, Params};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Settings of the algorithm; the defaults are the paper's (7.1) where it names them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DqnConfig {
    /// Tuples in the replay memory.
    pub replay: usize,
    /// B, tuples in a step of gradient descent.
    pub minibatch: usize,
    /// Adam's learning rate.
    pub learning_rate: f32,
    /// The rate at the last step, reached in a straight line; none keeps it as it is.
    pub last_learning_rate: Option<f32>,
    /// Discount of rewards, a step.
    pub discount: f32,
    /// Steps whose rewards are summed up before the network is asked.
    pub n_step: usize,
    /// Whether the trained network chooses the next action and the target network values it.
    pub double: bool,
    /// Steps from one copy of the target network to the next.
    pub target_every: u64,
    /// Share of random actions at the start, and at the end.
    pub epsilon: (f32, f32),
    /// Steps over which it falls; 0 for all.
    pub epsilon_steps: u64,
    /// Largest Euclidean norm of a step's gradient.
    pub clip_norm: f64,
}

impl Default for DqnConfig {
    fn default() -> Self {
        Self {
            replay: 50_000,
            minibatch: 32,
            learning_rate: 1e-4,
            last_learning_rate: None,
            discount: 0.9,
            n_step: 1,
            double: false,
            target_every: 200,
            epsilon: (0.9, 0.1),
            epsilon_steps: 0,
            clip_norm: 10.0,
        }
    }
}

impl DqnConfig {
    /// What is wrong with the settings, if anything.
    pub fn fault(&self) -> Option<String> {
        let share = |value: f32| (0.0..=1.0).contains(&value);
        let rates = [Some(self.learning_rate), self.last_learning_rate];
        let counts = [self.replay, self.minibatch, self.n_step, self.target_every as usize];
        if counts.contains(&0) {
            Some("replay, minibatch, n-step and target-every must be at least 1".into())
        } else if ![self.discount, self.epsilon.0, self.epsilon.1].into_iter().all(share) {
            Some("discount and epsilon must be from 0 to 1".into())
        } else if rates.into_iter().flatten().any(|rate| !(rate.is_finite() && rate >= 0.0)) {
            Some("learning rates must be finite and not negative".into())
        } else {
            (self.clip_norm.is_nan() || self.clip_norm <= 0.0).then(|| "clip-norm must be above 0".into())
        }
    }

    /// Share of random actions at a step of a run.
    pub fn epsilon_at(&self, step: u64, steps: u64) -> f32 {
        let over = if self.epsilon_steps == 0 { steps } else { self.epsilon_steps };
        let done = (step as f32 / over.max(1) as f32).min(1.0);
        self.epsilon.0 + (self.epsilon.1 - self.epsilon.0) * done
    }

    /// Learning rate at a step of a run.
    pub fn learning_rate_at(&self, step: u64, steps: u64) -> f32 {
        let last = self.last_learning_rate.unwrap_or(self.learning_rate);
        self.learning_rate + (last - self.learning_rate) * (step as f32 / steps.max(1) as f32).min(1.0)
    }
}

/// The learner: a model, the target network, and the optimiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Dqn {
    /// Settings.
    pub config: DqnConfig,
    /// The model that is trained.
    pub model: Model,
    /// Parameters of the target network.
    pub target: Params,
    /// The optimiser.
    pub adam: Adam,
}

impl Dqn {
    /// A learner at its start.
    pub fn new(model: Model, config: DqnConfig) -> Self {
        let adam = Adam::new(&model.params, config.learning_rate);
        Self { config, target: model.params.clone(), adam, model }
    }

    /// The gradient on a minibatch from the memory, averaged, and the mean squared error. None while there is no memory.
    pub fn gradients(
        &self,
        ranks: Ranks<'_>,
        problem: &dyn Problem,
        graphs: &[LocalGraph<'_>],
        replay: &Replay,
        rng: &mut impl Rng,
    ) -> Result<Option<(Gradients, f64)>, CommError> {
        let draw = |_| replay.draw(self.config.n_step, self.config.discount, rng);
        let Some(tuples) = (0..self.config.minibatch).map(draw).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let targets = self.targets(ranks, problem, graphs, &tuples)?;
        let rebuild = |tuple: &Tuple| problem.rebuild(ranks.comm, &graphs[tuple.graph as usize], tuple.before);
        let batch = Batch::new(tuples.iter().map(rebuild).collect::<Result<_, _>>()?);
        let evaluation = self.model.evaluate(ranks, &batch)?;
        let actions: Vec<u32> = tuples.iter().map(|tuple| tuple.action).collect();
        let values = values_of(ranks, &batch, &evaluation.own, &actions)?;
        let mut by_score = vec![0.0; batch.rows()];
        let mut squares = 0.0;
        for (sample, tuple) in tuples.iter().enumerate() {
            let error = values[sample] + evaluation.common[sample] - targets[sample];
            squares += f64::from(error) * f64::from(error);
            if let Some(row) = batch.samples[sample].graph.row_of(tuple.action) {
                by_score[batch.starts[sample] + row] = error / tuples.len() as f32;
            }
        }
        let gradients = self.model.gradients(ranks, &batch, &evaluation, &by_score)?;
        Ok(Some((gradients, squares / tuples.len() as f64)))
    }

    /// One step of gradient descent.
    pub fn descend(&mut self, mut gradients: Gradients, step: u64, steps: u64) -> f64 {
        let norm = gradients.clip_by_norm(self.config.clip_norm);
        self.adam.learning_rate = self.config.learning_rate_at(step, steps);
        self.adam.step(&mut self.model.params, &gradients);
        if (step + 1).is_multiple_of(self.config.target_every) {
            self.target = self.model.params.clone();
        }
        norm
    }

    /// What each tuple's value should be: its rewards, and the discounted value of the best action after them.
    fn targets(
        &self,
        ranks: Ranks<'_>,
        problem: &dyn Problem,
        graphs: &[LocalGraph<'_>],
        tuples: &[Tuple<'_>],
    ) -> Result<Vec<f32>, CommError> {
        let after = |tuple: &Tuple| {
            let (actions, _) = tuple.after?;
            Some(problem.rebuild(ranks.comm, &graphs[tuple.graph as usize], actions))
        };
        let batch = Batch::new(tuples.iter().filter_map(after).collect::<Result<_, _>>()?);
        let target = Model { config: self.model.config, params: self.target.clone() };
        let valued = target.evaluate(ranks, &batch)?;
        let chosen = if self.config.double { self.model.evaluate(ranks, &batch)?.own } else { valued.own.clone() };
        let mut actions = vec![];
        for (sample, state) in batch.samples.iter().enumerate() {
            let scores = &chosen[batch.starts[sample]..batch.starts[sample + 1]];
            actions.push(select::best(ranks.comm, state, scores, 1)?.first().copied().unwrap_or(u32::MAX));
        }
        let values = values_of(ranks, &batch, &valued.own, &actions)?;
        let mut next = values.iter().zip(&valued.common).zip(&actions);
        let value = |tuple: &Tuple| match tuple.after.and_then(|(_, discount)| Some((discount, next.next()?))) {
            Some((discount, ((own, common), &action))) if action != u32::MAX => {
                tuple.rewards + discount * (own + common)
            }
            _ => tuple.rewards,
        };
        Ok(tuples.iter().map(value).collect())
    }
}

/// The scores of one node of each state, on all ranks.
fn values_of(ranks: Ranks<'_>, batch: &Batch<'_>, own: &[f32], nodes: &[u32]) -> Result<Vec<f32>, CommError> {
    let value = |(sample, &node): (usize, &u32)| {
        let row = batch.samples[sample].graph.row_of(node);
        row.map_or(0.0, |row| own[batch.starts[sample] + row])
    };
    let mut values: Vec<f32> = nodes.iter().enumerate().map(value).collect();
    // Only the owner's value is not 0, so that the sum is exact.
    ranks.comm.all_reduce_sum(&mut values)?;
    Ok(values)
}
