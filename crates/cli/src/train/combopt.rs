//! `labrys train vertex-cover|independent-set|max-cut|tsp`: a policy that constructs solutions, by DQN, split over ranks.

use super::{Listener, TrainFlags, read_config};
use crate::error::CliError;
use clap::Args;
use labrys_combopt::cover;
use labrys_combopt::learned::dataset::{DataConfig, Family};
use labrys_combopt::learned::environment::{Features, Reward};
use labrys_combopt::learned::memory;
use labrys_combopt::learned::training::{Dataset, LearningConfig, LearningError, Team};
use labrys_combopt::learned::{
    DqnConfig, ExchangeMode, IndependentSet, LearningRun, MaxCut, ModelConfig, Problem, Ranks, TravellingSalesman,
    VertexCover, greedy, ranks,
};
use labrys_comm::{CommError, Communicator};
use labrys_graph::Graph;
use labrys_nn::ModelCard;
use serde::Deserialize;
use std::ops::ControlFlow;

#[derive(Args, Debug)]
pub(crate) struct GraphTraining {
    #[command(flatten)]
    pub(super) flags: TrainFlags,
    /// Ranks that each graph is split over; the result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    ranks: u16,
    /// Groups of ranks with other graphs each, whose gradients are averaged, as in Gorila
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
    /// What ranks exchange
    #[arg(long, value_name = "MODE", default_value = "halo")]
    exchange: Exchange,
}

/// What ranks exchange.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Exchange {
    /// The rows of distinct remote neighbours
    Halo,
    /// All rows
    AllGather,
    /// All rows, as in the paper
    AllReduce,
}

/// Which problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    VertexCover,
    IndependentSet,
    MaxCut,
    Tsp,
}

/// The settings of a run.
#[derive(Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    data: DataConfig,
    problem: ProblemConfig,
    model: ModelConfig,
    dqn: DqnConfig,
    training: LearningConfig,
}

#[derive(Clone, Copy, Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProblemConfig {
    features: Features,
    reward: Reward,
}

pub(super) fn run(kind: Kind, args: &GraphTraining) -> Result<(), CliError> {
    let mut config: Config = read_config(&args.flags)?;
    if kind == Kind::Tsp {
        config.data.families = vec![Family::Points];
    }
    if let Some(fault) = config.data.fault() {
        return Err(CliError::input(format!("{}: data: {fault}", args.flags.config.display())));
    }
    let problem = problem(kind, config.problem);
    let dataset = config.data.generate(|graph| reference(kind, graph).unwrap_or(f64::NAN));
    let bytes = memory::training(&config.model, &config.dqn, &dataset, usize::from(args.workers));
    crate::memory::must_fit("training", bytes, "lower data.graphs, data.nodes or dqn.minibatch")?;
    let listener = Listener::new();
    let body = |comm: &Communicator| one_rank(comm, args, &config, &*problem, &dataset, &listener);
    ranks::run(usize::from(args.ranks) * usize::from(args.workers), body).map_err(CliError::input)?;
    Ok(())
}

fn one_rank(
    world: &Communicator,
    args: &GraphTraining,
    config: &Config,
    problem: &dyn Problem,
    dataset: &Dataset,
    listener: &Listener,
) -> Result<(), LearningError> {
    let mode = match args.exchange {
        Exchange::Halo => ExchangeMode::Halo,
        Exchange::AllGather => ExchangeMode::AllGather,
        Exchange::AllReduce => ExchangeMode::AllReduce,
    };
    let shared = usize::from(args.ranks);
    let comm = world.split(world.rank() / shared)?;
    let workers = world.split(world.rank() % shared)?;
    let team = Team { ranks: Ranks { comm: &comm, mode }, workers: (args.workers > 1).then_some(&workers) };
    let settings = (config.training, config.model, config.dqn);
    let mut run = LearningRun::open(&args.flags.output, settings, problem, dataset, team, card(config, problem))?;
    let mut failed = None;
    run.run(|progress| {
        if world.rank() == 0 {
            listener.tell(progress.steps, progress.validation);
        }
        // All ranks stop at the same step: the first one says when.
        let mut stop = [u32::from(world.rank() == 0 && listener.interrupted())];
        if world.size() > 1 {
            failed = world.broadcast(&mut stop, 0).err();
        }
        if stop[0] > 0 || failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn problem(kind: Kind, config: ProblemConfig) -> Box<dyn Problem> {
    let ProblemConfig { features, reward } = config;
    match kind {
        Kind::VertexCover => Box::new(VertexCover { features, reward }),
        Kind::IndependentSet => Box::new(IndependentSet { features, reward }),
        Kind::MaxCut => Box::new(MaxCut { features }),
        Kind::Tsp => Box::new(TravellingSalesman { features }),
    }
}

/// What ratios are to: a greedy rule on each held-back graph.
fn reference(kind: Kind, graph: &Graph) -> Result<f64, CommError> {
    let cover = || cover::size(&cover::greedy::min_degree(graph));
    Ok(match kind {
        Kind::VertexCover => cover() as f64,
        Kind::IndependentSet => (graph.nodes() - cover()) as f64,
        Kind::MaxCut => greedy::best_move_cut(graph)? as f64,
        Kind::Tsp => greedy::cheapest_insertion(graph)? as f64,
    })
}

fn card(config: &Config, problem: &dyn Problem) -> ModelCard {
    let data = &config.data;
    let words = format!(
        "{} random graphs, families {:?}, density {}, degree {}, seed {}; ratios are to a greedy rule",
        data.graphs, data.families, data.density, data.degree, data.seed
    );
    // A unit variant is always JSON.
    let features = serde_json::to_value(config.problem.features).unwrap_or_default();
    ModelCard {
        problem: problem.name().into(),
        training_distribution: words,
        sizes: (data.nodes.0 as usize, data.nodes.1 as usize),
        code_version: env!("CARGO_PKG_VERSION").into(),
        details: [("features".to_owned(), features)].into(),
        ..ModelCard::default()
    }
}
