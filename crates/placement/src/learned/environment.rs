//! The bandit (REGAL 4.1): the context is a problem, an action is one Beta distribution a gene, and the reward is the
//! objective that BRKGA reaches with them, negative and relative to the one that it reaches with uniform ones.

use super::actions::{ActionSpace, Decoder};
use super::augment::augment;
use super::features::{SCOUT_EVALUATIONS, features, scout};
use crate::baselines::brkga;
use crate::problem::{Objective, Plan, Problem, Weights};
use labrys_dataflow::Graph;
use labrys_nn::GraphBatch;
use labrys_rl::{Actions, Environment};
use labrys_search::{Limits, Runner, Seed, brkga::Params};
use rand::RngExt as _;
use std::sync::{Arc, OnceLock};

/// A problem with what its reward needs.
#[derive(Debug)]
pub struct Task {
    problem: Problem,
    batch: GraphBatch,
    /// Evaluations of a run, those for the features included.
    evaluations: u64,
    /// What uniform BRKGA reaches with as many evaluations.
    uniform: u64,
}

impl Task {
    fn new(graph: Graph, settings: &Settings, actions: &Decoder, evaluations: u64, seed: Seed) -> Self {
        let problem =
            Problem::new(Arc::new(graph), settings.devices, settings.objective).with_weights(Weights::Ignored);
        let limits = Limits { work: Some(evaluations), time: None };
        let mut run = Runner::new(limits, seed.derive("uniform", 0));
        brkga::search(&problem, &Params::default(), &mut run);
        let uniform = value(&run);
        let tendency = scout(&problem, actions, &mut Runner::new(limits, seed));
        Self { batch: features(&problem, &tendency), problem, evaluations, uniform }
    }
}

fn value(run: &Runner<Plan>) -> u64 {
    run.best_score().map_or(u64::MAX, |score| score.value)
}

/// Assumptions of the problems.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// What to minimise.
    pub objective: Objective,
    /// Number of equal devices; links are free and weights ignored, as in the paper.
    pub devices: usize,
    /// What the policy chooses.
    pub actions: ActionSpace,
    /// Evaluations of a run in training, the 400 for the features included.
    pub evaluations: u64,
    /// The same in validation.
    pub validation_evaluations: u64,
}

/// Graphs to learn from and graphs to validate on.
pub struct PlacementBandit {
    settings: Settings,
    actions: Decoder,
    training: TaskSet,
    validation: TaskSet,
}

impl PlacementBandit {
    /// `copies` is the number of [augmented](augment) variants of each training graph, itself included.
    pub fn new(settings: Settings, training: Vec<Graph>, validation: Vec<Graph>, copies: u64, seed: Seed) -> Self {
        let training = TaskSet::new(training, copies, settings.evaluations, seed.derive("training", 0));
        let evaluations = settings.validation_evaluations;
        let validation = TaskSet::new(validation, 1, evaluations, seed.derive("validation", 0));
        Self { settings, actions: Decoder::new(settings.actions), training, validation }
    }
}

impl Environment for PlacementBandit {
    type Context = Arc<Task>;

    fn draw(&self, seed: Seed) -> Arc<Task> {
        let number = seed.stream("task", 0).random_range(0..self.training.tasks.len().max(1));
        self.training.task(number, &self.settings, &self.actions)
    }

    fn held_back(&self) -> usize {
        self.validation.tasks.len()
    }

    fn validation(&self, index: usize) -> Arc<Task> {
        self.validation.task(index, &self.settings, &self.actions)
    }

    fn graph<'c>(&self, task: &'c Arc<Task>) -> &'c GraphBatch {
        &task.batch
    }

    fn reward(&self, task: &Arc<Task>, actions: &Actions, seed: Seed) -> f64 {
        let work = task.evaluations.saturating_sub(SCOUT_EVALUATIONS).max(1);
        let mut run = Runner::new(Limits { work: Some(work), time: None }, seed);
        brkga::search(&task.problem, &self.actions.params(&task.problem, actions), &mut run);
        -(value(&run) as f64) / task.uniform.max(1) as f64
    }
}

/// Variants of graphs, made when they are first drawn.
struct TaskSet {
    graphs: Vec<Graph>,
    copies: u64,
    evaluations: u64,
    seed: Seed,
    tasks: Vec<OnceLock<Arc<Task>>>,
}

impl TaskSet {
    fn new(graphs: Vec<Graph>, copies: u64, evaluations: u64, seed: Seed) -> Self {
        let tasks = (0..graphs.len() as u64 * copies).map(|_| OnceLock::new()).collect();
        Self { graphs, copies, evaluations, seed, tasks }
    }

    fn task(&self, number: usize, settings: &Settings, actions: &Decoder) -> Arc<Task> {
        let make = || {
            let (graph, copy) = (number as u64 / self.copies, number as u64 % self.copies);
            let seed = self.seed.derive("graph", number as u64);
            let variant = augment(&self.graphs[graph as usize], seed, copy);
            Arc::new(Task::new(variant, settings, actions, self.evaluations, seed))
        };
        Arc::clone(self.tasks[number].get_or_init(make))
    }
}
