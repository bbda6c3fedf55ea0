//! Training: in each epoch search a few expressions under the network as it is, then fit the network to all that was found
//! (Algorithm 1), so that a run that is killed goes on to the same bytes.

use super::dataset::{Dataset, Record, Sample, SearchFileError, SearchFiles};
use super::encode::Batch;
use super::explore::{Algorithm, Explorer};
use super::net::{Shape, ValueError, ValueNet};
use labrys_nn::{Matrix, ModelCard, Params, Tape, Var};
use labrys_rl::{Ending, Example, Figures, Objective, Progress, Summary, TrainingConfig, TrainingError, TrainingRun};
use labrys_search::Seed;
use labrys_search::seed::Rng;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::Path;

/// How a network learns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LearningConfig {
    /// Expressions that are searched in an epoch, drawn from those that the curriculum allows.
    pub expressions: usize,
    /// Only expressions with a success rate between these two are searched, unless there are none (draft, section 4.3).
    pub success: (f64, f64),
    /// States of an example: a step has `minibatch` examples.
    pub states: usize,
    /// Beyond this error the loss grows linearly (Huber).
    pub delta: f32,
    /// How much it counts by how much two states of one search differ, beside what each is worth: a search compares.
    pub contrast: f32,
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self { expressions: 6, success: (0.05, 0.95), states: 8, delta: 1.0, contrast: 0.0 }
    }
}

impl LearningConfig {
    fn fault(&self) -> Option<String> {
        let (low, high) = self.success;
        if self.expressions == 0 || self.states == 0 {
            Some("expressions and states must be at least 1".into())
        } else if low.partial_cmp(&high) != Some(Ordering::Less) {
            Some(format!("success is {:?}, but must be a smaller and a larger share", self.success))
        } else if !(self.contrast.is_finite() && self.contrast >= 0.0) {
            Some("contrast must be 0 or above".into())
        } else {
            (!(self.delta.is_finite() && self.delta > 0.0)).then(|| "delta must be above 0".into())
        }
    }
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// Settings, files, or divergence.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// The searches on disk.
    #[error(transparent)]
    Searches(#[from] SearchFileError),
    /// The network cannot be made.
    #[error(transparent)]
    Net(#[from] ValueError),
}

/// A training run in a folder. An epoch is the steps from one validation to the next.
pub struct ValueTraining<'e> {
    config: LearningConfig,
    training: TrainingConfig,
    explorer: &'e Explorer,
    net: ValueNet,
    run: TrainingRun,
    files: SearchFiles,
    data: Dataset,
}

impl<'e> ValueTraining<'e> {
    /// Starts a run in a folder, or goes on with the one that it holds. `words` say what it learns from.
    pub fn open(
        folder: &Path,
        (config, training, shape): (LearningConfig, TrainingConfig, Shape),
        explorer: &'e Explorer,
        words: String,
    ) -> Result<Self, LearningError> {
        if let Some(fault) = config.fault() {
            return Err(TrainingError::Config(fault).into());
        }
        let net = ValueNet::new(shape, Seed(training.seed))?;
        let card: ModelCard = net.card(words, explorer.sizes()).map_err(ValueError::from)?;
        let run = TrainingRun::open(folder, training.clone(), net.params.clone(), card)?;
        let data = Dataset::new(explorer.training(), net.shape.counts_steps());
        Ok(Self { config, training, explorer, net, run, files: SearchFiles::new(folder), data })
    }

    /// What was found so far.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Trains to the end, or until `progress` breaks off; saves the state in every case.
    pub fn run(
        &mut self,
        mut progress: impl FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Summary, LearningError> {
        loop {
            let last = self.training.steps.saturating_sub(1);
            let epoch = self.run.steps().min(last) / self.training.validate_every;
            while self.data.epochs() <= epoch {
                self.explore()?;
            }
            if self.data.samples().is_empty() {
                return Err(TrainingError::Config("there is no expression that a rule applies to".into()).into());
            }
            let end = (epoch + 1) * self.training.validate_every;
            let fit = Fit { net: &self.net, data: &self.data, explorer: self.explorer, config: &self.config };
            let mut stopped = false;
            let summary = self.run.run(&fit, |step| {
                stopped = progress(step).is_break();
                if stopped || step.steps >= end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if stopped || summary.ending != Ending::Interrupted {
                return Ok(summary);
            }
        }
    }

    /// Searches a few expressions, unless that was done before the run was stopped; lessons come first.
    fn explore(&mut self) -> Result<(), LearningError> {
        let epoch = self.data.epochs();
        let (expressions, outputs) = (self.explorer.training(), self.net.shape.outputs());
        let records = match self.files.read(epoch, expressions, outputs)? {
            Some(records) => records,
            None => {
                let records = self.search(epoch);
                self.files.write(epoch, &records)?;
                records
            }
        };
        self.data.add(records);
        Ok(())
    }

    fn search(&self, epoch: u64) -> Vec<Record> {
        if self.explorer.config.teacher && epoch == 0 {
            let lesson = |index| self.explorer.lesson(index, &self.net.shape);
            return (0..self.explorer.training()).into_par_iter().map(lesson).collect();
        }
        let seed = Seed(self.training.seed).derive("epoch", epoch);
        let net = self.net.with(self.run.params());
        let chosen = self.choose(seed);
        let search = |index: &usize| self.explorer.learn_from(*index, &net, seed.derive("search", *index as u64));
        chosen.par_iter().map(search).collect()
    }

    /// The expressions of an epoch: of those that are neither hopeless nor done, as many as asked for.
    fn choose(&self, seed: Seed) -> Vec<usize> {
        let (low, high) = self.config.success;
        let all = 0..self.explorer.training();
        let allowed = |index: &usize| (low..high).contains(&self.data.success_rate(*index));
        let mut chosen: Vec<usize> = all.clone().filter(allowed).collect();
        if chosen.is_empty() {
            chosen = all.collect();
        }
        chosen.shuffle(&mut seed.stream("choose", 0));
        chosen.truncate(self.config.expressions);
        chosen.sort_unstable();
        chosen
    }
}

/// Regression on what was found.
struct Fit<'f> {
    net: &'f ValueNet,
    data: &'f Dataset,
    explorer: &'f Explorer,
    config: &'f LearningConfig,
}

impl Fit<'_> {
    /// States; where they are compared, each with one that was seen soon after it, as a rule from the same parent.
    fn draw(&self, rng: &mut Rng) -> Vec<&Sample> {
        /// How much later.
        const LATER: usize = 8;
        let samples = self.data.samples();
        let mut drawn = vec![];
        while drawn.len() < self.config.states {
            let place = self.place(rng);
            let other = match self.config.contrast > 0.0 {
                true => (place + rng.random_range(1..=LATER)).min(samples.len() - 1),
                false => self.place(rng),
            };
            drawn.extend([&samples[place], &samples[other]]);
        }
        drawn.truncate(self.config.states);
        drawn
    }

    /// A state of any epoch; where there were lessons, as often one of them as one of the searches after.
    fn place(&self, rng: &mut Rng) -> usize {
        let (samples, first) = (self.data.samples(), self.data.first());
        let has_both = self.explorer.config.teacher && first < samples.len();
        let range = match has_both && rng.random_range(0..2) == 0 {
            true => first..samples.len(),
            false if has_both => 0..first,
            false => 0..samples.len(),
        };
        rng.random_range(range)
    }

    /// Of what the network says of states, and what it should have said.
    fn loss(&self, tape: &mut Tape<'_>, values: Var, targets: &Matrix) -> Var {
        let errors = tape.huber(values, targets, self.config.delta);
        let loss = tape.mean(errors);
        let pairs = targets.rows as u32 / 2;
        if self.config.contrast == 0.0 || pairs == 0 {
            return loss;
        }
        let [first, second] = [0, 1].map(|side| tape.gather(values, (0..pairs).map(|pair| 2 * pair + side).collect()));
        let differences = tape.sub(first, second);
        let difference = |pair: usize| targets.row(2 * pair).iter().zip(targets.row(2 * pair + 1)).map(|(a, b)| a - b);
        let rows: Vec<Vec<f32>> = (0..pairs as usize).map(|pair| difference(pair).collect()).collect();
        let errors = tape.huber(differences, &Matrix::from_rows(&rows), self.config.delta);
        let contrast = tape.mean(errors);
        let contrast = tape.scale(contrast, self.config.contrast);
        tape.add(loss, contrast)
    }
}

impl Objective for Fit<'_> {
    fn example(&self, params: &Params, seed: Seed) -> Example {
        let mut rng = seed.stream("states", 0);
        let drawn = self.draw(&mut rng);
        let batch = Batch::new(drawn.iter().map(|sample| &sample.graph), self.net.rows());
        let targets: Vec<&[f32]> = drawn.iter().map(|sample| &sample.values[..]).collect();
        let targets = Matrix::from_rows(&targets);
        let mut tape = Tape::new(params);
        let values = self.net.forward(&mut tape, &batch, Some(seed.stream("dropout", 0)));
        let loss = self.loss(&mut tape, values, &targets);
        let figures = Figures::from([("loss", f64::from(tape.value(loss).scalar()))]);
        Example { gradients: tape.backward(loss), figures }
    }

    fn held_back(&self) -> usize {
        self.explorer.held_back()
    }

    /// Least cost first, then how soon it was found.
    fn validate(&self, params: &Params, index: usize, seed: Seed) -> Figures {
        let net = self.net.with(params);
        let found = self.explorer.measure(index, &net, Algorithm::AStar, seed);
        let mut figures = Figures::from([
            ("score", -found.cost - 1e-6 * found.queries as f64),
            ("cost", found.cost),
            ("queries", found.queries as f64),
            ("expansions", found.expansions as f64),
        ]);
        if self.explorer.config.compare {
            let found = self.explorer.measure(index, &net, Algorithm::Mcts, seed);
            figures.insert("mcts-cost", found.cost);
        }
        figures
    }
}
