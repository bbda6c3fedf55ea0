//! The policy model: a score for each node, from a state of a graph.
//!
//! One network covers the variants: `z_v = theta1 x_v + theta3 sum relu(theta2 w) + theta4 sum_u e_u (+ self e_v)` and
//! `e_v = relu(z_v)` for L rounds, from `e = 0` on (equation 1), then equation 2. The linear model is the ablation.

mod backward;
mod config;
mod forward;
mod linear;
mod weights;

pub use config::{ModelConfig, ModelError, ModelKind};
#[cfg(test)]
pub(crate) use forward::common;
pub(crate) use forward::{divide, relu, score_rows};
pub(crate) use weights::{Weights, push_inputs};

use super::blocks::ExchangeMode;
use super::buffers::Buffer;
use super::sample::Batch;
use labrys_comm::{CommError, Communicator};
use labrys_nn::{Checkpoint, Gradients, ModelCard, Params};
use labrys_search::Seed;

/// Configuration and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Sizes and variants.
    pub config: ModelConfig,
    /// What is learned: `theta1` to `theta7`.
    pub params: Params,
}

/// Ranks that evaluate together, and how they exchange rows.
#[derive(Clone, Copy)]
pub struct Ranks<'c> {
    /// The collectives.
    pub comm: &'c Communicator,
    /// What travels.
    pub mode: ExchangeMode,
}

/// Scores of a batch, with what the backward pass needs.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The part of equation 2 that depends on the node, for each local row. It alone decides which node is best.
    pub own: Vec<f32>,
    /// The part that all nodes of a state have in common.
    pub common: Vec<f32>,
    /// Embeddings after each round, row by row.
    pub(crate) rounds: Vec<Buffer>,
    /// Sum of the last embeddings of each state.
    pub(crate) sums: Vec<f32>,
}

impl Model {
    /// A model with drawn parameters.
    pub fn new(config: ModelConfig, seed: Seed) -> Result<Self, ModelError> {
        config.check()?;
        Ok(Self { params: weights::init(&config, seed), config })
    }

    /// Scores every local row of a batch.
    pub fn evaluate(&self, ranks: Ranks<'_>, batch: &Batch<'_>) -> Result<Evaluation, CommError> {
        match self.config.kind {
            ModelKind::Linear => linear::evaluate(self, ranks, batch),
            _ => forward::evaluate(&Weights::new(self), ranks, batch),
        }
    }

    /// Derivatives of a loss by the parameters, from its derivatives by the score of each local row.
    pub fn gradients(
        &self,
        ranks: Ranks<'_>,
        batch: &Batch<'_>,
        evaluation: &Evaluation,
        by_score: &[f32],
    ) -> Result<Gradients, CommError> {
        match self.config.kind {
            ModelKind::Linear => linear::gradients(self, ranks, batch, by_score),
            _ => backward::gradients(self, &Weights::new(self), ranks, batch, evaluation, by_score),
        }
    }

    /// The model as a file.
    pub fn to_checkpoint(&self, mut card: ModelCard) -> Result<Checkpoint, ModelError> {
        let config = serde_json::to_value(self.config).map_err(|error| ModelError::Card(error.to_string()))?;
        card.details.insert("model".into(), config);
        Ok(Checkpoint { card, params: self.params.clone() })
    }

    /// The model in a file.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, ModelError> {
        let config = checkpoint.card.details.get("model").cloned().unwrap_or_default();
        let config = serde_json::from_value(config).map_err(|error| ModelError::Card(error.to_string()))?;
        let mut model = Self::new(config, Seed(0))?;
        checkpoint.restore(&mut model.params)?;
        Ok(model)
    }
}
