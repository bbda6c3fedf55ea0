//! What a training run is told.

use serde::{Deserialize, Serialize};

/// Settings of a [`TrainingRun`](crate::TrainingRun). The defaults are the paper's (A.14) where it names them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrainingConfig {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Steps of gradient descent.
    pub steps: u64,
    /// Examples in each step.
    pub minibatch: usize,
    /// Adam's learning rate at the first step.
    pub learning_rate: f32,
    /// The rate at the last step, reached in a straight line; none keeps it as it is.
    pub last_learning_rate: Option<f32>,
    /// Largest Euclidean norm of a step's gradient.
    pub clip_norm: f64,
    /// Steps from one validation to the next.
    pub validate_every: u64,
    /// Validations in a row without a better score that end the run; 0 never ends it.
    pub patience: u64,
    /// Steps from one saved state to the next.
    pub save_every: u64,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            steps: 100_000,
            minibatch: 4,
            learning_rate: 1e-4,
            last_learning_rate: None,
            clip_norm: 10.0,
            validate_every: 1_000,
            patience: 0,
            save_every: 1_000,
        }
    }
}

impl TrainingConfig {
    /// The learning rate of a step, counted from 0.
    pub fn learning_rate_at(&self, step: u64) -> f32 {
        let last = self.last_learning_rate.unwrap_or(self.learning_rate);
        let done = step as f32 / self.steps.saturating_sub(1).max(1) as f32;
        self.learning_rate + (last - self.learning_rate) * done.min(1.0)
    }

    /// What is wrong with the settings, if anything.
    pub fn fault(&self) -> Option<String> {
        let rates = [Some(self.learning_rate), self.last_learning_rate];
        if rates.into_iter().flatten().any(|rate| !(rate.is_finite() && rate >= 0.0)) {
            return Some("learning rates must be finite and not negative".into());
        }
        if !(self.clip_norm.is_finite() && self.clip_norm > 0.0) {
            return Some(format!("clip-norm is {}, but must be above 0", self.clip_norm));
        }
        let counts = [("minibatch", self.minibatch as u64), ("validate-every", self.validate_every)];
        let counts = counts.into_iter().chain([("save-every", self.save_every)]);
        counts.into_iter().find(|(_, count)| *count == 0).map(|(name, _)| format!("{name} must be at least 1"))
    }
}
