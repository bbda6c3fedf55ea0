//! REINFORCE (Williams 1992) with a learned baseline, for a contextual bandit: a graph is drawn, all its decisions are
//! taken at once, and one reward comes back (paper, section 4.1).

use crate::{Actions, Choice, Example, Figures, Objective, Policy};
use labrys_nn::{GraphBatch, Matrix, Params, Tape, Var};
use labrys_search::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Where graphs come from, and what actions on them are worth.
pub trait Environment: Sync {
    /// A graph with whatever the reward needs.
    type Context: Send + Sync;

    /// A graph to train on, drawn by the seed.
    fn draw(&self, seed: Seed) -> Self::Context;

    /// Number of held-back graphs.
    fn held_back(&self) -> usize;

    /// A held-back graph.
    fn validation(&self, index: usize) -> Self::Context;

    /// What the network sees of a context: one graph.
    fn graph<'c>(&self, context: &'c Self::Context) -> &'c GraphBatch;

    /// What the actions are worth: higher is better. Called in parallel; depends on nothing but its arguments.
    fn reward(&self, context: &Self::Context, actions: &Actions, seed: Seed) -> f64;
}

/// What a reward is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// The network b(G), as in the paper.
    #[default]
    Learned,
    /// The mean reward of the other rollouts on the same graph (Kool et al. 2019); b(G) if there are none.
    OtherRollouts,
}

/// Settings of the objective. The defaults are the paper's where it names them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReinforceConfig {
    /// Actions tried for each graph of a step.
    pub rollouts: usize,
    /// What a reward is compared with.
    pub baseline: Baseline,
    /// Weight of the baseline's squared error.
    pub baseline_weight: f32,
    /// Weight of the mean entropy of decisions, which is added to the reward.
    pub entropy_weight: f32,
    /// How held-back graphs are acted on.
    pub validation: Choice,
}

impl Default for ReinforceConfig {
    fn default() -> Self {
        Self {
            rollouts: 1,
            baseline: Baseline::Learned,
            baseline_weight: 1e-4,
            entropy_weight: 0.0,
            validation: Choice::Sample,
        }
    }
}

/// The objective: the expected reward of a policy in an environment.
#[derive(Clone, Debug)]
pub struct Reinforce<E, P> {
    /// Where graphs and rewards come from.
    pub environment: E,
    /// What decides.
    pub policy: P,
    /// Settings.
    pub config: ReinforceConfig,
}

impl<E: Environment, P: Policy> Objective for Reinforce<E, P> {
    fn example(&self, params: &Params, seed: Seed) -> Example {
        let context = self.environment.draw(seed.derive("context", 0));
        let graph = self.environment.graph(&context);
        let mut tape = Tape::new(params);
        let heads = self.policy.heads(&mut tape, graph);
        let logs: Vec<Var> = heads.into_iter().map(|head| tape.log_softmax(head)).collect();
        let baseline = self.policy.baseline(&mut tape, graph);
        let rollouts = self.roll_out(&tape, &logs, &context, seed);
        let mut figures = self.figures(&tape, baseline, &rollouts);
        let loss = self.loss(&mut tape, &logs, baseline, rollouts, &mut figures);
        figures.insert("loss", f64::from(tape.value(loss).scalar()));
        Example { gradients: tape.backward(loss), figures }
    }

    fn held_back(&self) -> usize {
        self.environment.held_back()
    }

    fn validate(&self, params: &Params, index: usize, seed: Seed) -> Figures {
        let context = self.environment.validation(index);
        let graph = self.environment.graph(&context);
        let mut rng = seed.stream("choice", 0);
        let actions = crate::policy::act(&self.policy, params, graph, self.config.validation, &mut rng);
        let reward = self.environment.reward(&context, &actions, seed.derive("reward", 0));
        Figures::from([("score", reward)])
    }
}

impl<E: Environment, P: Policy> Reinforce<E, P> {
    /// Actions with their rewards, in parallel.
    fn roll_out(&self, tape: &Tape, logs: &[Var], context: &E::Context, seed: Seed) -> Vec<(Actions, f64)> {
        let logs: Vec<&Matrix> = logs.iter().map(|&log| tape.value(log)).collect();
        let roll = |number: usize| {
            let mut rng = seed.stream("choice", number as u64);
            let actions: Actions = logs.iter().map(|log| Choice::Sample.take(log, &mut rng)).collect();
            let reward = self.environment.reward(context, &actions, seed.derive("reward", number as u64));
            (actions, reward)
        };
        (0..self.config.rollouts.max(1)).into_par_iter().map(roll).collect()
    }

    fn figures(&self, tape: &Tape, baseline: Var, rollouts: &[(Actions, f64)]) -> Figures {
        let reward = rollouts.iter().map(|(_, reward)| reward).sum::<f64>() / rollouts.len() as f64;
        Figures::from([("reward", reward), ("baseline", f64::from(tape.value(baseline).scalar()))])
    }

    /// `-(reward - baseline) log p(actions)`, the baseline's squared error, and the entropy, as means over rollouts.
    fn loss(
        &self,
        tape: &mut Tape,
        logs: &[Var],
        baseline: Var,
        rollouts: Vec<(Actions, f64)>,
        figures: &mut Figures,
    ) -> Var {
        let share = 1.0 / rollouts.len() as f32;
        let total: f32 = rollouts.iter().map(|(_, reward)| *reward as f32).sum();
        let others = rollouts.len() as f32 - 1.0;
        let learned = tape.value(baseline).scalar();
        let mut terms = vec![];
        for (actions, reward) in rollouts {
            let reward = reward as f32;
            let by_others = self.config.baseline == Baseline::OtherRollouts && others > 0.0;
            let expected = if by_others { (total - reward) / others } else { learned };
            for (&log, choices) in logs.iter().zip(actions) {
                let taken = tape.pick(log, choices);
                let sum = tape.sum(taken);
                terms.push(tape.scale(sum, -share * (reward - expected)));
            }
            let error = tape.squared_error(baseline, &Matrix::column(vec![reward]));
            terms.push(tape.scale(error, share * self.config.baseline_weight));
        }
        let entropy = mean_entropy(tape, logs);
        figures.insert("entropy", f64::from(tape.value(entropy).scalar()));
        terms.push(tape.scale(entropy, -self.config.entropy_weight));
        let terms = tape.stack(&terms);
        tape.sum(terms)
    }
}

/// Mean entropy over all decisions, in nats.
fn mean_entropy(tape: &mut Tape, logs: &[Var]) -> Var {
    let entropies: Vec<Var> = logs.iter().map(|&log| tape.entropy(log)).collect();
    let entropies = tape.stack(&entropies);
    tape.mean(entropies)
}
