//! Sizes and variants of the model.

use crate::learned::kernels::LANES;
use labrys_nn::CheckpointError;
use serde::{Deserialize, Serialize};

/// Which network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// Equations 1 and 2: the same `theta4` in every round, no node of its own.
    #[default]
    Structure2vec,
    /// Weights of its own in every round, for the node as well; sums of neighbours (GIN).
    Gin,
    /// The same with means of neighbours (GraphSAGE).
    GraphSage,
    /// A linear function of the node's features and the sums of its neighbours' ones.
    Linear,
}

/// Sizes and variants of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Which network.
    pub kind: ModelKind,
    /// K, length of an embedding: a multiple of 16.
    pub dimension: usize,
    /// L, rounds of message passing.
    pub layers: usize,
    /// Length of `x_v`; 0 for what the problem has.
    pub features: usize,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self { kind: ModelKind::default(), dimension: 16, layers: 2, features: 0 }
    }
}

/// What is wrong with a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A size that the model cannot have.
    #[error("model: {0}")]
    Size(String),
    /// The model card does not describe a model of this kind.
    #[error("no model of graph problems: {0}; expected a file of `labrys train vertex-cover` or the like")]
    Card(String),
    /// The file is not usable.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Largest embeddings, rounds and features.
const MOST: (usize, usize, usize) = (1024, 16, 64);

impl ModelConfig {
    /// Whether every round has weights of its own.
    pub(crate) fn own_rounds(&self) -> bool {
        matches!(self.kind, ModelKind::Gin | ModelKind::GraphSage)
    }

    pub(super) fn check(&self) -> Result<(), ModelError> {
        let Self { dimension, layers, features, .. } = *self;
        if dimension == 0 || dimension > MOST.0 || !dimension.is_multiple_of(LANES) {
            return Err(ModelError::Size(format!(
                "dimension is {dimension}, but must be a multiple of {LANES} up to {}",
                MOST.0
            )));
        }
        if layers == 0 || layers > MOST.1 {
            return Err(ModelError::Size(format!("layers is {layers}, but must be from 1 to {}", MOST.1)));
        }
        if features == 0 || features > MOST.2 {
            return Err(ModelError::Size(format!("features is {features}, but must be from 1 to {}", MOST.2)));
        }
        Ok(())
    }
}
