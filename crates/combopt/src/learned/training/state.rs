//! All that a run needs to go on, as a file.

use super::{LearningError, LearningRun};
use crate::learned::replay::{Episode, Replay};
use labrys_nn::{Checkpoint, Matrix, ModelCard, Params};
use labrys_rl::TrainingError;
use serde::{Deserialize, Serialize};

const PROBLEM: &str = "learning-state";
const REPLAY: [&str; 5] = ["replay.graphs", "replay.lengths", "replay.done", "replay.actions", "replay.rewards"];

/// Counters.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Place {
    steps: u64,
    adam: u64,
    /// Best score, as bits: JSON would not keep the last digit.
    best: Option<u64>,
}

impl LearningRun<'_> {
    /// The state as a file.
    pub(super) fn to_checkpoint(&self) -> Result<Checkpoint, serde_json::Error> {
        let mut tensors = Params::new();
        let learner = &self.learner;
        let kept = learner
            .model
            .params
            .iter()
            .zip(learner.target.iter())
            .zip(learner.adam.first.iter().zip(&learner.adam.second));
        for (((name, value), (_, target)), (first, second)) in kept {
            tensors.push(name, value.clone());
            tensors.push(&format!("target.{name}"), target.clone());
            tensors.push(&format!("adam.first.{name}"), first.clone());
            tensors.push(&format!("adam.second.{name}"), second.clone());
        }
        for (name, values) in REPLAY.into_iter().zip(replay_rows(&self.replay)) {
            tensors.push(name, Matrix::new(1, values.len(), values));
        }
        let place = Place { steps: self.steps, adam: learner.adam.steps, best: self.best.map(f64::to_bits) };
        let mut card = ModelCard { problem: PROBLEM.into(), seed: self.config.seed, ..ModelCard::default() };
        card.details.insert("place".into(), serde_json::to_value(place)?);
        card.details.insert("settings".into(), self.settings()?.into());
        Ok(Checkpoint { card, params: tensors })
    }

    /// Settings that must be the same to go on; the number of steps may grow if nothing follows it.
    /// As text, in which numbers stay what they are.
    fn settings(&self) -> Result<String, serde_json::Error> {
        let schedule = self.learner.config.epsilon_steps == 0 || self.learner.config.last_learning_rate.is_some();
        let steps = if schedule { self.config.steps } else { 0 };
        serde_json::to_string(&(
            self.problem.name(),
            self.config.seed,
            steps,
            self.config.validate_every,
            self.learner.model.config,
            self.learner.config,
            self.team.workers.map_or(1, labrys_comm::Communicator::size),
        ))
    }

    /// Goes back to a saved state; whether it is of a run with these settings.
    pub(super) fn restore(&mut self, file: &Checkpoint) -> Result<bool, LearningError> {
        let detail = |name: &str| file.card.details.get(name).cloned().unwrap_or_default();
        let settings = self.settings().map_err(damaged)?;
        if file.card.problem != PROBLEM || detail("settings") != settings {
            return Ok(false);
        }
        let place: Place = serde_json::from_value(detail("place")).map_err(damaged)?;
        let tensor = |name: String| {
            let id = file.params.find(&name).ok_or_else(|| damaged(format!("{name} is missing")))?;
            Ok::<Matrix, LearningError>(file.params.get(id).clone())
        };
        for (index, id) in self.learner.model.params.ids().enumerate() {
            let name = self.learner.model.params.name(id).to_string();
            self.learner.adam.first[index] = tensor(format!("adam.first.{name}"))?;
            self.learner.adam.second[index] = tensor(format!("adam.second.{name}"))?;
            *self.learner.target.get_mut(id) = tensor(format!("target.{name}"))?;
            *self.learner.model.params.get_mut(id) = tensor(name)?;
        }
        let mut rows = vec![];
        for name in REPLAY {
            rows.push(tensor(name.to_string())?.data);
        }
        restore_replay(&mut self.replay, &rows, self.graphs.len()).ok_or_else(|| damaged("the replay memory"))?;
        (self.steps, self.learner.adam.steps, self.best) = (place.steps, place.adam, place.best.map(f64::from_bits));
        Ok(true)
    }
}

fn damaged(reason: impl std::fmt::Display) -> LearningError {
    let reason = reason.to_string();
    LearningError::Training(TrainingError::Checkpoint(labrys_nn::CheckpointError::Damaged { reason }))
}

/// The memory as rows of numbers, in the order of [`REPLAY`]. Nodes are below 2^24, which `f32` holds exactly.
fn replay_rows(replay: &Replay) -> [Vec<f32>; 5] {
    let each = |value: fn(&Episode) -> f32| replay.episodes().map(value).collect();
    [
        each(|episode| episode.graph as f32),
        each(|episode| episode.actions.len() as f32),
        each(|episode| f32::from(u8::from(episode.done))),
        replay.episodes().flat_map(|episode| &episode.actions).map(|&action| action as f32).collect(),
        replay.episodes().flat_map(|episode| &episode.rewards).copied().collect(),
    ]
}

/// Puts the episodes back, if the rows fit together.
fn restore_replay(replay: &mut Replay, rows: &[Vec<f32>], graphs: usize) -> Option<()> {
    let mut start = 0;
    for (index, &graph) in rows[0].iter().enumerate() {
        let end = start + *rows[1].get(index)? as usize;
        let episode = Episode {
            graph: graph as u32,
            actions: rows[3].get(start..end)?.iter().map(|&action| action as u32).collect(),
            rewards: rows[4].get(start..end)?.to_vec(),
            done: *rows[2].get(index)? > 0.0,
        };
        if episode.graph as usize >= graphs {
            return None;
        }
        replay.restore(episode);
        start = end;
    }
    Some(())
}
