//! All that a run needs to go on: parameters, optimiser, place, best score.

use crate::TrainingConfig;
use labrys_nn::{Adam, Checkpoint, CheckpointError, ModelCard, Params};
use serde::{Deserialize, Serialize};

const PROBLEM: &str = "training-state";
const FIRST: &str = "adam.first.";
const SECOND: &str = "adam.second.";

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub params: Params,
    pub adam: Adam,
    pub place: Place,
}

/// Counters and scores. All generators are derived from the step, so that none has to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Steps done.
    pub steps: u64,
    /// Best score of a validation, as bits: JSON would not keep the last digit.
    best: Option<u64>,
    /// After how many steps it was reached.
    pub best_steps: u64,
    /// Validations since then.
    pub without_gain: u64,
}

impl Place {
    /// Best score so far.
    pub fn best(&self) -> Option<f64> {
        self.best.map(f64::from_bits)
    }

    /// Takes note of a score; whether it is the best.
    pub fn score(&mut self, score: f64) -> bool {
        let better = score.is_finite() && self.best().is_none_or(|best| score > best);
        match better {
            true => (self.best, self.best_steps, self.without_gain) = (Some(score.to_bits()), self.steps, 0),
            false => self.without_gain += 1,
        }
        better
    }
}

impl State {
    /// The state as a file.
    pub fn to_checkpoint(&self, config: &TrainingConfig) -> Result<Checkpoint, serde_json::Error> {
        let mut tensors = Params::new();
        let moments = self.adam.first.iter().zip(&self.adam.second);
        for ((name, value), (first, second)) in self.params.iter().zip(moments) {
            tensors.push(name, value.clone());
            tensors.push(&format!("{FIRST}{name}"), first.clone());
            tensors.push(&format!("{SECOND}{name}"), second.clone());
        }
        let mut card = ModelCard { problem: PROBLEM.into(), seed: config.seed, ..ModelCard::default() };
        card.details.insert("place".into(), serde_json::to_value(self.place)?);
        card.details.insert("config".into(), serde_json::to_value(config)?);
        Ok(Checkpoint { card, params: tensors })
    }

    /// Goes back to a saved state; none if it is of a run with other settings (a new number of steps is no other setting).
    pub fn restore(&mut self, file: &Checkpoint, config: &TrainingConfig) -> Result<Option<()>, CheckpointError> {
        let detail = |name: &str| file.card.details.get(name).cloned().unwrap_or_default();
        let unusable = |error: serde_json::Error| CheckpointError::Card { reason: error.to_string() };
        let saved: TrainingConfig = serde_json::from_value(detail("config")).map_err(unusable)?;
        if file.card.problem != PROBLEM || (TrainingConfig { steps: config.steps, ..saved }) != *config {
            return Ok(None);
        }
        let place: Place = serde_json::from_value(detail("place")).map_err(unusable)?;
        let mut both = self.to_checkpoint(config).map_err(unusable)?.params;
        file.restore(&mut both)?;
        let tensor = |name: String| both.find(&name).map(|id| both.get(id).clone()).unwrap_or_default();
        for (index, id) in self.params.ids().enumerate() {
            let name = self.params.name(id).to_string();
            self.adam.first[index] = tensor(format!("{FIRST}{name}"));
            self.adam.second[index] = tensor(format!("{SECOND}{name}"));
            *self.params.get_mut(id) = tensor(name);
        }
        self.adam.steps = place.steps;
        self.place = place;
        Ok(Some(()))
    }
}
