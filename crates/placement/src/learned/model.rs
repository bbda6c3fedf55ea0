//! A trained policy, and the search that it proposes for: REGAL, GAS and IDRS.

use super::actions::Decoder;
use super::environment::Settings;
use super::features::{features, scout};
use crate::baselines::brkga as brkga_xk;
use crate::problem::{Objective, Plan, Problem};
use labrys_nn::{Checkpoint, CheckpointError, Params};
use labrys_rl::{Actions, Choice, GraphPolicy, GraphPolicyConfig, policy};
use labrys_search::{Runner, Seed, brkga};
use serde::{Deserialize, Serialize};

/// Where the [`Recipe`] stands in a model card.
const RECIPE: &str = "regal";

/// What it takes to use a trained policy, beside its parameters: part of its model card.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recipe {
    /// Problems and actions.
    pub settings: Settings,
    /// The network.
    pub network: GraphPolicyConfig,
    /// How choices are taken.
    pub choice: Choice,
    /// [Fingerprints](super::augment::fingerprint) of the real topologies that were used to train or to validate.
    pub seen_topologies: Vec<String>,
}

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file is damaged or of another version.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The file holds another kind of model.
    #[error("no REGAL policy: {0}; expected a model trained by `labrys train placement`")]
    NoPolicy(String),
    /// The problem is of another kind than the policy was trained for.
    #[error(
        "the policy was trained for {trained_objective:?} on {trained_devices} devices, not for {objective:?} on {devices}"
    )]
    OtherProblem {
        /// What the policy minimises.
        trained_objective: Objective,
        /// Devices that it places on.
        trained_devices: usize,
        /// What the problem minimises.
        objective: Objective,
        /// Devices of the problem.
        devices: usize,
    },
}

/// What searches with the proposals of the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// The genetic algorithm: REGAL, or GAS if the policy is a sequence model.
    Brkga,
    /// Independent samples: instance-dependent random search (IDRS).
    RandomSearch,
}

/// A trained policy.
#[derive(Clone, Debug)]
pub struct Model {
    recipe: Recipe,
    actions: Decoder,
    policy: GraphPolicy,
    params: Params,
}

impl Model {
    /// A fresh policy for a recipe.
    pub fn new(recipe: Recipe, seed: Seed) -> Self {
        let mut params = Params::new();
        let policy = GraphPolicy::new(&mut params, &recipe.network, &mut seed.stream("policy", 0));
        Self { actions: Decoder::new(recipe.settings.actions), recipe, policy, params }
    }

    /// Reads a checkpoint that `labrys train placement` wrote.
    ///
    /// # Errors
    /// Another kind of model, or parameters that do not fit the card.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, ModelError> {
        let recipe = checkpoint.card.details.get(RECIPE).cloned().unwrap_or_default();
        let recipe: Recipe = serde_json::from_value(recipe).map_err(|error| ModelError::NoPolicy(error.to_string()))?;
        let mut model = Self::new(recipe, Seed(0));
        checkpoint.restore(&mut model.params)?;
        Ok(model)
    }

    /// What belongs into the model card.
    ///
    /// # Errors
    /// None in practice: the recipe is plain data.
    pub fn details(recipe: &Recipe) -> Result<(String, serde_json::Value), serde_json::Error> {
        Ok((RECIPE.to_owned(), serde_json::to_value(recipe)?))
    }

    /// How it is to be used.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The network and its parameters, to train.
    pub fn into_parts(self) -> (GraphPolicy, Params) {
        (self.policy, self.params)
    }

    /// Whether the policy can propose for a problem.
    ///
    /// # Errors
    /// Another objective, or another number of devices.
    pub fn check(&self, problem: &Problem) -> Result<(), ModelError> {
        let Settings { objective, devices, .. } = self.recipe.settings;
        if (objective, devices) == (problem.objective, problem.device_count()) {
            return Ok(());
        }
        Err(ModelError::OtherProblem {
            trained_objective: objective,
            trained_devices: devices,
            objective: problem.objective,
            devices: problem.device_count(),
        })
    }

    /// What the policy chooses for a problem. Runs uniform BRKGA for the features first, at the expense of `run`.
    pub fn act(&self, problem: &Problem, run: &mut Runner<Plan>) -> Actions {
        let tendency = scout(problem, &self.actions, run);
        let batch = features(problem, &tendency);
        let mut rng = run.seed().stream("actions", 0);
        policy::act(&self.policy, &self.params, &batch, self.recipe.choice, &mut rng)
    }

    /// What BRKGA shall run with on a problem, by what the policy [chooses](Self::act).
    pub fn propose(&self, problem: &Problem, run: &mut Runner<Plan>) -> brkga::Params {
        let actions = self.act(problem, run);
        self.actions.params(problem, &actions)
    }

    /// Searches until the runner stops.
    ///
    /// # Errors
    /// See [`check`](Self::check).
    pub fn search(&self, problem: &Problem, engine: Engine, run: &mut Runner<Plan>) -> Result<(), ModelError> {
        self.check(problem)?;
        let mut params = self.propose(problem, run);
        if run.should_stop() {
            return Ok(());
        }
        if engine == Engine::RandomSearch {
            // No survivors and no children: every generation is the first one.
            (params.elites, params.mutants) = (0, params.population);
        }
        brkga_xk::search(problem, &params, run);
        Ok(())
    }
}
