//! A training run in a folder: `state.safetensors`, `best.safetensors`, `metrics.jsonl`, `curves.svg`.

use crate::metrics::{Kind, Metrics};
use crate::objective::{Example, mean};
use crate::state::State;
use crate::{Figures, Objective, TrainingConfig, curves};
use labrys_nn::{Adam, Checkpoint, CheckpointError, Gradients, ModelCard, Params};
use labrys_search::Seed;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Name of the file with the best parameters and their card.
pub const BEST: &str = "best.safetensors";
/// Name of the file from which a run goes on.
pub const STATE: &str = "state.safetensors";
/// Name of the file of measurements.
pub const METRICS: &str = "metrics.jsonl";
/// Name of the file of learning curves.
pub const CURVES: &str = "curves.svg";

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// The settings cannot be followed.
    #[error("settings: {0}")]
    Config(String),
    /// The folder holds a run with other settings.
    #[error("{}: a run with other settings; give another folder, or delete this one", folder.display())]
    OtherRun {
        /// The folder.
        folder: PathBuf,
    },
    /// Gradients are no longer finite.
    #[error("step {step}: a gradient is not finite; try a smaller learning rate than {learning_rate}")]
    Diverged {
        /// The step, counted from 0.
        step: u64,
        /// Its learning rate.
        learning_rate: f32,
    },
    /// A checkpoint could not be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

/// What a caller hears after every step.
#[derive(Clone, Debug)]
pub struct Progress<'p> {
    /// Steps done.
    pub steps: u64,
    /// Measurements of the step.
    pub figures: &'p Figures,
    /// Measurements of the validation that followed it, if any.
    pub validation: Option<&'p Figures>,
    /// Best score so far.
    pub best: Option<f64>,
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All steps are done.
    Steps,
    /// The score no longer rose.
    Patience,
    /// The caller asked for it; the run can go on later.
    Interrupted,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Why it ended.
    pub ending: Ending,
    /// Steps done.
    pub steps: u64,
    /// Best score of a validation.
    pub best: Option<f64>,
    /// After how many steps it was reached.
    pub best_steps: u64,
}

/// Gradient descent that can be killed at any time and goes on to the same bytes.
pub struct TrainingRun {
    folder: PathBuf,
    config: TrainingConfig,
    /// Card of the best model; its measured gain is filled in.
    card: ModelCard,
    state: State,
    metrics: Metrics,
}

impl TrainingRun {
    /// Starts a run in a folder, or goes on with the one that it holds. `params` are the parameters at the start.
    pub fn open(folder: &Path, config: TrainingConfig, params: Params, card: ModelCard) -> Result<Self, TrainingError> {
        if let Some(fault) = config.fault() {
            return Err(TrainingError::Config(fault));
        }
        std::fs::create_dir_all(folder).map_err(at(folder))?;
        let adam = Adam::new(&params, config.learning_rate);
        let mut state = State { params, adam, place: Default::default() };
        let saved = folder.join(STATE);
        if saved.exists() {
            let other = || TrainingError::OtherRun { folder: folder.to_path_buf() };
            state.restore(&Checkpoint::load(&saved)?, &config)?.ok_or_else(other)?;
        }
        let path = folder.join(METRICS);
        let metrics = Metrics::open(path.clone(), state.place.steps).map_err(at(&path))?;
        Ok(Self { folder: folder.to_path_buf(), config, card, state, metrics })
    }

    /// Parameters as they are now.
    pub fn params(&self) -> &Params {
        &self.state.params
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.state.place.steps
    }

    /// The best model so far, if there was a validation.
    pub fn best(&self) -> Result<Option<Checkpoint>, TrainingError> {
        let path = self.folder.join(BEST);
        Ok(if self.state.place.best().is_some() { Some(Checkpoint::load(&path)?) } else { None })
    }

    /// Descends until the end, an early stop, or until `progress` breaks off; saves the state in every case.
    pub fn run(
        &mut self,
        objective: &impl Objective,
        mut progress: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Summary, TrainingError> {
        let mut ending = self.ending();
        while ending.is_none() {
            let figures = self.step(objective)?;
            let validation = self.validation_due().then(|| self.validate(objective)).transpose()?;
            if self.state.place.steps.is_multiple_of(self.config.save_every) {
                self.save()?;
            }
            let (steps, best) = (self.state.place.steps, self.state.place.best());
            let heard = progress(&Progress { steps, figures: &figures, validation: validation.as_ref(), best });
            ending = self.ending().or(heard.is_break().then_some(Ending::Interrupted));
        }
        self.save()?;
        let place = &self.state.place;
        let ending = ending.unwrap_or(Ending::Steps);
        Ok(Summary { ending, steps: place.steps, best: place.best(), best_steps: place.best_steps })
    }

    fn ending(&self) -> Option<Ending> {
        let place = &self.state.place;
        let tired = self.config.patience > 0 && place.without_gain >= self.config.patience;
        if tired { Some(Ending::Patience) } else { (place.steps >= self.config.steps).then_some(Ending::Steps) }
    }

    fn validation_due(&self) -> bool {
        let steps = self.state.place.steps;
        steps.is_multiple_of(self.config.validate_every) || steps == self.config.steps
    }

    /// One minibatch: examples in parallel, their gradients summed up in order.
    fn step(&mut self, objective: &impl Objective) -> Result<Figures, TrainingError> {
        let (step, minibatch) = (self.state.place.steps, self.config.minibatch);
        let seed = Seed(self.config.seed).derive("step", step);
        let params = &self.state.params;
        let draw = |slot: usize| objective.example(params, seed.derive("example", slot as u64));
        let examples: Vec<Example> = (0..minibatch).into_par_iter().map(draw).collect();
        let mut gradients = Gradients::zeros(params);
        examples.iter().for_each(|example| gradients.add(&example.gradients));
        gradients.scale(1.0 / minibatch as f32);
        let learning_rate = self.config.learning_rate_at(step);
        if !gradients.is_finite() {
            return Err(TrainingError::Diverged { step, learning_rate });
        }
        let mut figures = mean(examples.into_iter().map(|example| example.figures));
        figures.insert("gradient-norm", gradients.clip_by_norm(self.config.clip_norm));
        self.state.adam.learning_rate = learning_rate;
        self.state.adam.step(&mut self.state.params, &gradients);
        self.state.place.steps += 1;
        self.metrics.push(Kind::Train, self.state.place.steps, &figures);
        Ok(figures)
    }

    /// Scores the held-back examples with the same draws every time, and keeps the best parameters.
    fn validate(&mut self, objective: &impl Objective) -> Result<Figures, TrainingError> {
        let seed = Seed(self.config.seed).derive("validate", 0);
        let params = &self.state.params;
        let measure = |index: usize| objective.validate(params, index, seed.derive("example", index as u64));
        let all: Vec<Figures> = (0..objective.held_back()).into_par_iter().map(measure).collect();
        let figures = mean(all);
        if let Some(&score) = figures.get("score")
            && self.state.place.score(score)
        {
            let gain = format!("score {score} on {} held-back examples", objective.held_back());
            let card = ModelCard { measured_gain: gain, seed: self.config.seed, ..self.card.clone() };
            Checkpoint { card, params: params.clone() }.save(&self.folder.join(BEST))?;
        }
        self.metrics.push(Kind::Validate, self.state.place.steps, &figures);
        Ok(figures)
    }

    /// Measurements first: on resuming, those after the state are cut off.
    fn save(&mut self) -> Result<(), TrainingError> {
        let metrics = self.folder.join(METRICS);
        self.metrics.flush().map_err(at(&metrics))?;
        let card = |error: serde_json::Error| CheckpointError::Card { reason: error.to_string() };
        self.state.to_checkpoint(&self.config).map_err(card)?.save(&self.folder.join(STATE))?;
        let path = self.folder.join(CURVES);
        let chart = curves::chart(&metrics).map_err(at(&metrics))?;
        labrys_nn::checkpoint::write_atomically(&path, chart.as_bytes()).map_err(at(&path))
    }
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> TrainingError {
    let path = path.to_path_buf();
    move |source| TrainingError::File { path: path.clone(), source }
}
