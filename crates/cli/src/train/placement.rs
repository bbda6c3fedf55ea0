//! `labrys train placement`: REGAL's policy by REINFORCE.

use super::{TrainFlags, read_config};
use crate::dataset::{self, Topology};
use crate::error::CliError;
use crate::{interrupt, output};
use clap::Args;
use labrys_dataflow::Graph;
use labrys_nn::{Aggregation, MessagePassingConfig, ModelCard, Update};
use labrys_placement::learned::{Model, PlacementBandit, Recipe, Settings, features};
use labrys_placement::synthetic;
use labrys_rl::{EncoderConfig, GraphPolicyConfig, Progress, Reinforce, ReinforceConfig, TrainingConfig, TrainingRun};
use labrys_search::Seed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

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
    let interrupt = interrupt::flag();
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
    let mut run = TrainingRun::open(&args.flags.output, config.training, params, card).map_err(CliError::input)?;
    let summary = run.run(&objective, |progress| {
        tell(progress);
        if interrupt.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let summary = summary.map_err(CliError::input)?;
    output::say(&format!("{} steps, best score {:?} after {}", summary.steps, summary.best, summary.best_steps));
    Ok(())
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

/// One line for each step.
fn tell(progress: &Progress<'_>) {
    let mut line = serde_json::Map::from_iter([("step".to_owned(), progress.steps.into())]);
    let named = |prefix: &str, name: &str| format!("{prefix}{name}");
    line.extend(progress.figures.iter().map(|(name, value)| (named("", name), (*value).into())));
    line.extend(
        progress.validation.into_iter().flatten().map(|(name, value)| (named("validation-", name), (*value).into())),
    );
    // Progress is not worth an error when nobody reads it.
    _ = output::to_stdout(|out| output::json(out, &line));
}
