//! `labrys train placement`: REGAL's policy by REINFORCE.

use super::{Listener, TrainFlags, descend, read_config};
use crate::dataset::{self, Topology};
use crate::error::CliError;
use clap::Args;
use labrys_dataflow::Graph;
use labrys_nn::{Aggregation, MessagePassingConfig, ModelCard, Update};
use labrys_placement::learned::{Model, PlacementBandit, Recipe, Settings, features};
use labrys_placement::synthetic;
use labrys_rl::{EncoderConfig, GraphPolicyConfig, Reinforce, ReinforceConfig, TrainingConfig};
use labrys_search::Seed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct PlacementTraining {
    #[command(flatten)]
    pub(super) flags: TrainFlags,
    /// Folder with models, for settings with source = "models" [default: LABRYS_INSTANCES, else ../shared/data]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

/// The settings of a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    data: Data,
    problem: Settings,
    network: Network,
    reinforce: ReinforceConfig,
    training: TrainingConfig,
}

/// What to learn from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "source")]
enum Data {
    /// Graphs of A.1.4.
    Synthetic {
        /// Seed of the training graphs; validation takes the next one.
        seed: u64,
        /// Graphs to train on.
        graphs: u64,
        /// Graphs to validate on.
        held_back: u64,
    },
    /// Real models, split by topology, augmented as in A.1.2.
    Models {
        /// Variants of each, itself included.
        copies: u64,
        /// Larger models are left out.
        most_ops: usize,
    },
}

/// The network.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
enum Network {
    /// Equation 1.
    Graph {
        /// Width of every state and layer.
        hidden: usize,
        /// Rounds of message passing.
        rounds: usize,
        /// How messages are combined.
        aggregation: Aggregation,
        /// How they are taken up.
        update: Update,
    },
    /// Graph as sequence.
    Sequence {
        /// Width of every state and layer.
        hidden: usize,
    },
}

impl Network {
    fn policy(self, settings: &Settings) -> GraphPolicyConfig {
        let node_features = features::node_features(settings.objective, settings.devices);
        let edge_features = features::EDGE_FEATURES;
        let encoder = match self {
            Self::Graph { hidden, rounds, aggregation, update } => EncoderConfig::Graph(MessagePassingConfig {
                node_features,
                edge_features,
                hidden,
                rounds,
                aggregation,
                update,
            }),
            Self::Sequence { hidden } => EncoderConfig::Sequence { node_features, hidden },
        };
        GraphPolicyConfig { encoder, heads: settings.actions.heads(settings.devices) }
    }
}

/// Graphs with what the model card says of them.
struct Graphs {
    training: Vec<Graph>,
    validation: Vec<Graph>,
    copies: u64,
    seen: Vec<String>,
    words: String,
}

pub(super) fn run(args: &PlacementTraining) -> Result<(), CliError> {
    let config: Config = read_config(&args.flags)?;
    let graphs = graphs(args, &config)?;
    let seed = Seed(config.training.seed);
    let recipe = Recipe {
        settings: config.problem,
        network: config.network.policy(&config.problem),
        choice: config.reinforce.validation,
        seen_topologies: graphs.seen.clone(),
    };
    let card = card(&recipe, &graphs)?;
    let (policy, params) = Model::new(recipe, seed).into_parts();
    let environment =
        PlacementBandit::new(config.problem, graphs.training, graphs.validation, graphs.copies, seed.derive("data", 0));
    let objective = Reinforce { environment, policy, config: config.reinforce };
    descend(&args.flags, config.training, (params, card), &objective, &Listener::new())
}

fn card(recipe: &Recipe, graphs: &Graphs) -> Result<ModelCard, CliError> {
    let sizes = || graphs.training.iter().map(Graph::op_count);
    Ok(ModelCard {
        problem: "placement".to_owned(),
        training_distribution: graphs.words.clone(),
        sizes: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
        code_version: env!("CARGO_PKG_VERSION").to_owned(),
        details: BTreeMap::from([Model::details(recipe).map_err(CliError::bug)?]),
        ..ModelCard::default()
    })
}

fn graphs(args: &PlacementTraining, config: &Config) -> Result<Graphs, CliError> {
    match config.data {
        Data::Synthetic { seed, graphs, held_back } => {
            let made = |seed: u64, count| {
                let numbers = synthetic::numbers(Seed(seed), count, true);
                numbers.into_iter().map(|number| synthetic::graph(Seed(seed), number)).collect()
            };
            let words = format!("{graphs} synthetic graphs of REGAL's A.1.4, seed {seed}, filtered");
            let (training, validation) = (made(seed, graphs), made(seed + 1, held_back));
            Ok(Graphs { training, validation, copies: 1, seen: vec![], words })
        }
        Data::Models { copies, most_ops } => models(args, config, copies, most_ops),
    }
}

fn models(args: &PlacementTraining, config: &Config, copies: u64, most_ops: usize) -> Result<Graphs, CliError> {
    let folder = dataset::folder(args.data.as_deref());
    let sets =
        dataset::split(dataset::topologies(&folder, config.problem.objective, config.problem.devices, most_ops)?);
    let names = |set: &[Topology]| set.iter().map(|topology| topology.name.clone()).collect::<Vec<_>>().join(", ");
    let words = format!(
        "{copies} variants (A.1.2) of each of {} models: {}; validated on {}",
        sets.training.len(),
        names(&sets.training),
        names(&sets.validation)
    );
    let seen = sets.training.iter().chain(&sets.validation).map(|topology| topology.fingerprint.clone()).collect();
    let only = |set: Vec<Topology>| set.into_iter().map(|topology| topology.graph).collect();
    Ok(Graphs { training: only(sets.training), validation: only(sets.validation), copies, seen, words })
}
