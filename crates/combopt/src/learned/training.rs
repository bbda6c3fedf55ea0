//! The template of algorithm 1 as one call: episodes, exploration, memory, gradient descent, validation, resuming.

mod state;

use super::blocks::LocalGraph;
use super::dqn::{Dqn, DqnConfig};
use super::environment::{Environment, Problem, sample};
use super::model::{Model, ModelConfig, ModelError, Ranks};
use super::replay::Replay;
use super::rollout::{Selection, rollout};
use super::sample::Batch;
use super::select;
use labrys_comm::{CommError, Communicator};
use labrys_graph::Graph;
use labrys_nn::{Checkpoint, Gradients, ModelCard};
use labrys_rl::metrics::{Kind, Metrics};
use labrys_rl::run::{BEST, CURVES, METRICS, STATE};
use labrys_rl::{Ending, Figures, TrainingError, curves};
use labrys_search::Seed;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Settings of a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LearningConfig {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Training steps: one action and one step of gradient descent each.
    pub steps: u64,
    /// Steps from one validation to the next.
    pub validate_every: u64,
    /// Steps from one saved state to the next.
    pub save_every: u64,
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self { seed: 0, steps: 10_000, validate_every: 500, save_every: 1_000 }
    }
}

/// Graphs to learn from, and others to measure on, with the objectives to compare with.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    /// Graphs of episodes.
    pub graphs: Vec<Graph>,
    /// Held-back graphs with the optimum, or the best known objective.
    pub held_back: Vec<(Graph, f64)>,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// Another rank failed.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// Settings, files, or divergence.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// The model cannot be made or read.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// What a caller hears after every step.
#[derive(Clone, Debug)]
pub struct Progress<'p> {
    /// Steps done.
    pub steps: u64,
    /// Measurements of the validation that followed, if any.
    pub validation: Option<&'p Figures>,
}

/// Who trains together.
#[derive(Clone, Copy)]
pub struct Team<'c> {
    /// Ranks that share each graph: spatial parallelism.
    pub ranks: Ranks<'c>,
    /// Ranks with other graphs and memories, one of each group that shares a graph, whose gradients are averaged: data
    /// parallelism, as in Gorila with a synchronous all-reduce (section 3.2). Without it there is one group.
    pub workers: Option<&'c Communicator>,
}

impl<'c> Team<'c> {
    /// One group of ranks.
    pub fn spatial(ranks: Ranks<'c>) -> Self {
        Self { ranks, workers: None }
    }

    /// Which group.
    fn worker(&self) -> usize {
        self.workers.map_or(0, Communicator::rank)
    }

    /// Whether this rank writes the files that all groups have in common.
    fn writes(&self) -> bool {
        self.worker() == 0 && self.ranks.comm.rank() == 0
    }
}

/// A training run in a folder; goes on where a killed one was, to the same bytes.
pub struct LearningRun<'r> {
    folder: PathBuf,
    config: LearningConfig,
    problem: &'r dyn Problem,
    team: Team<'r>,
    /// Seed of what this group draws.
    seed: Seed,
    graphs: Vec<LocalGraph<'r>>,
    held_back: Vec<(LocalGraph<'r>, f64)>,
    learner: Dqn,
    replay: Replay,
    steps: u64,
    best: Option<f64>,
    card: ModelCard,
    metrics: Option<Metrics>,
}

impl<'r> LearningRun<'r> {
    /// Starts a run in a folder, or goes on with the one that it holds. Only the first rank writes.
    pub fn open(
        folder: &Path,
        (config, model, dqn): (LearningConfig, ModelConfig, DqnConfig),
        problem: &'r dyn Problem,
        dataset: &'r Dataset,
        team: Team<'r>,
        card: ModelCard,
    ) -> Result<Self, LearningError> {
        let ranks = team.ranks;
        let fault = dqn.fault().or_else(|| config_fault(&config, dataset));
        if let Some(fault) = fault {
            return Err(TrainingError::Config(fault).into());
        }
        let features = if model.features == 0 { problem.features() } else { model.features };
        if features != problem.features() {
            let words = format!("features is {features}, but the problem has {}", problem.features());
            return Err(TrainingError::Config(words).into());
        }
        let model = Model::new(ModelConfig { features, ..model }, Seed(config.seed).derive("model", 0))?;
        let local = |graph: &'r Graph| LocalGraph::new(graph, ranks.comm.size(), ranks.comm.rank(), ranks.mode);
        let mut run = Self {
            folder: folder.to_path_buf(),
            config,
            problem,
            team,
            seed: if team.worker() == 0 {
                Seed(config.seed)
            } else {
                Seed(config.seed).derive("worker", team.worker() as u64)
            },
            graphs: dataset.graphs.iter().map(local).collect(),
            held_back: dataset.held_back.iter().map(|(graph, best)| (local(graph), *best)).collect(),
            learner: Dqn::new(model, dqn),
            replay: Replay::new(dqn.replay),
            steps: 0,
            best: None,
            card,
            metrics: None,
        };
        run.resume()?;
        Ok(run)
    }

    /// The learner as it is now.
    pub fn learner(&self) -> &Dqn {
        &self.learner
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Trains until the end, or until `progress` breaks off on this rank; saves the state in every case. With several
    /// ranks, all must break off at the same step.
    pub fn run(&mut self, mut progress: impl FnMut(&Progress<'_>) -> ControlFlow<()>) -> Result<Ending, LearningError> {
        let graphs = std::mem::take(&mut self.graphs);
        let ended = self.episodes(&graphs, &mut progress);
        self.graphs = graphs;
        let ending = ended?;
        self.save()?;
        Ok(ending)
    }

    fn episodes(
        &mut self,
        graphs: &[LocalGraph<'_>],
        progress: &mut impl FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Ending, LearningError> {
        while self.steps < self.config.steps {
            let graph = self.episode_graph(graphs.len() as u32);
            let mut environment = self.problem.start(&graphs[graph as usize]);
            for &action in &self.replay.current().map(|episode| episode.actions.clone()).unwrap_or_default() {
                environment.step(self.team.ranks.comm, action)?;
            }
            while !environment.done() && self.steps < self.config.steps {
                let figures = self.step(graphs, &mut *environment)?;
                let validation = self.after_step(&figures)?;
                let heard = progress(&Progress { steps: self.steps, validation: validation.as_ref() });
                if heard.is_break() {
                    return Ok(Ending::Interrupted);
                }
            }
        }
        Ok(Ending::Steps)
    }

    /// The graph of the episode that is under way, or of a new one.
    fn episode_graph(&mut self, graphs: u32) -> u32 {
        if let Some(episode) = self.replay.current() {
            return episode.graph;
        }
        let mut rng = self.seed.stream("episode", self.steps);
        let graph = rng.random_range(0..graphs);
        self.replay.begin(graph);
        graph
    }

    /// One action, and one step of gradient descent.
    fn step<'g>(
        &mut self,
        graphs: &[LocalGraph<'_>],
        environment: &mut (dyn Environment<'g> + 'g),
    ) -> Result<Figures, LearningError> {
        let seed = self.seed;
        let epsilon = self.learner.config.epsilon_at(self.steps, self.config.steps);
        let mut rng = seed.stream("action", self.steps);
        let explore = rng.random::<f32>() < epsilon;
        let action = if explore {
            select::random(self.team.ranks.comm, &sample(environment, self.problem.features()), &mut rng)?
        } else {
            self.best_action(environment)?
        };
        let mut figures = Figures::new();
        if let Some(action) = action {
            let reward = environment.step(self.team.ranks.comm, action)?;
            self.replay.remember(action, reward, environment.done());
            figures.insert("step-reward", f64::from(reward));
        }
        let mut rng = seed.stream("minibatch", self.steps);
        let learned = self.learner.gradients(self.team.ranks, self.problem, graphs, &self.replay, &mut rng)?;
        if let Some((gradients, loss)) = learned {
            let gradients = self.average(gradients)?;
            if !(gradients.is_finite() && loss.is_finite()) {
                let learning_rate = self.learner.config.learning_rate_at(self.steps, self.config.steps);
                return Err(TrainingError::Diverged { step: self.steps, learning_rate }.into());
            }
            figures.insert("loss", loss);
            figures.insert("gradient-norm", self.learner.descend(gradients, self.steps, self.config.steps));
        }
        self.steps += 1;
        Ok(figures)
    }

    /// The mean gradient of all groups.
    fn average(&self, gradients: Gradients) -> Result<Gradients, CommError> {
        let Some(workers) = self.team.workers else { return Ok(gradients) };
        let mut mean = self.learner.model.params.clone();
        for id in mean.ids() {
            let values = &mut mean.get_mut(id).data;
            values.copy_from_slice(&gradients.get(id).data);
            workers.all_reduce_sum(values)?;
            values.iter_mut().for_each(|value| *value /= workers.size() as f32);
        }
        Ok(Gradients::from_values(&mean))
    }

    fn best_action<'g>(&self, environment: &(dyn Environment<'g> + 'g)) -> Result<Option<u32>, CommError> {
        let batch = Batch::new(vec![sample(environment, self.problem.features())]);
        let scores = self.learner.model.evaluate(self.team.ranks, &batch)?.own;
        Ok(select::best(self.team.ranks.comm, &batch.samples[0], &scores, 1)?.first().copied())
    }

    /// Measures and saves when it is time to.
    fn after_step(&mut self, figures: &Figures) -> Result<Option<Figures>, LearningError> {
        if let Some(metrics) = &mut self.metrics {
            metrics.push(Kind::Train, self.steps, figures);
        }
        let due = self.steps.is_multiple_of(self.config.validate_every) || self.steps == self.config.steps;
        let validation = due.then(|| self.validate()).transpose()?;
        if self.steps.is_multiple_of(self.config.save_every) {
            self.save()?;
        }
        Ok(validation)
    }

    /// The policy alone on the held-back graphs; keeps the best model.
    fn validate(&mut self) -> Result<Figures, LearningError> {
        let mut figures = Figures::new();
        if self.held_back.is_empty() {
            return Ok(figures);
        }
        let mut ratios = 0.0;
        for (graph, best) in &self.held_back {
            let found = rollout(&self.learner.model, self.problem, graph, self.team.ranks, Selection::One)?;
            ratios += found.objective as f64 / best;
        }
        let ratio = ratios / self.held_back.len() as f64;
        let score = if self.problem.minimises() { -ratio } else { ratio };
        figures.insert("ratio", ratio);
        figures.insert("score", score);
        if self.best.is_none_or(|best| score > best) {
            self.best = Some(score);
            self.save_best(ratio)?;
        }
        if let Some(metrics) = &mut self.metrics {
            metrics.push(Kind::Validate, self.steps, &figures);
        }
        Ok(figures)
    }

    fn save_best(&self, ratio: f64) -> Result<(), LearningError> {
        if !self.team.writes() {
            return Ok(());
        }
        let words = format!(
            "policy alone: mean ratio {ratio:.5} to the reference on {} held-back graphs, after {} steps",
            self.held_back.len(),
            self.steps
        );
        let card = ModelCard { measured_gain: words, seed: self.config.seed, ..self.card.clone() };
        let checkpoint = self.learner.model.to_checkpoint(card)?;
        checkpoint.save(&self.folder.join(BEST)).map_err(TrainingError::from)?;
        Ok(())
    }

    /// Measurements first: on resuming, those after the state are cut off.
    fn save(&mut self) -> Result<(), LearningError> {
        let path = self.folder.join(METRICS);
        if let Some(metrics) = &mut self.metrics {
            metrics.flush().map_err(at(&path))?;
        }
        if self.team.ranks.comm.rank() == 0 {
            let state = self.to_checkpoint().map_err(|error| ModelError::Card(error.to_string()))?;
            state.save(&self.state_file()).map_err(TrainingError::from)?;
        }
        if self.metrics.is_some() {
            let chart = curves::chart(&path).map_err(at(&path))?;
            let path = self.folder.join(CURVES);
            labrys_nn::checkpoint::write_atomically(&path, chart.as_bytes()).map_err(at(&path))?;
        }
        Ok(())
    }

    /// Each group has a memory of its own.
    fn state_file(&self) -> PathBuf {
        match self.team.worker() {
            0 => self.folder.join(STATE),
            worker => self.folder.join(format!("worker-{worker}-{STATE}")),
        }
    }

    fn resume(&mut self) -> Result<(), LearningError> {
        std::fs::create_dir_all(&self.folder).map_err(at(&self.folder))?;
        let saved = self.state_file();
        if saved.exists() {
            let file = Checkpoint::load(&saved).map_err(TrainingError::from)?;
            if !self.restore(&file)? {
                return Err(TrainingError::OtherRun { folder: self.folder.clone() }.into());
            }
        }
        // All ranks have read before the first one writes.
        self.team.ranks.comm.barrier()?;
        if self.team.writes() {
            let path = self.folder.join(METRICS);
            self.metrics = Some(Metrics::open(path.clone(), self.steps).map_err(at(&path))?);
        }
        Ok(())
    }
}

fn config_fault(config: &LearningConfig, dataset: &Dataset) -> Option<String> {
    if config.validate_every == 0 || config.save_every == 0 {
        return Some("validate-every and save-every must be at least 1".into());
    }
    let useless = |graph: &Graph| graph.edge_count() == 0;
    (dataset.graphs.is_empty() || dataset.graphs.iter().any(useless))
        .then(|| "training needs graphs, each with at least one edge".into())
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> TrainingError {
    let path = path.to_path_buf();
    move |source| TrainingError::File { path: path.clone(), source }
}
