//! `--guide`: what steers a search.

use crate::error::CliError;
use crate::memory;
use labrys_combopt::guide::CityGuide;
use labrys_combopt::learned::{self, guide::Learned};
use labrys_combopt::{self as combopt, NodeGuide, Problem};
use labrys_dataflow::Graph;
use labrys_nn::Checkpoint;
use labrys_placement::guide::{Greedy, OrderAdvice, OrderGuide, OrderPolicy, Random};
use labrys_search::{Guide, Seed, Stopwatch};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Which guide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum GuideFlag {
    None,
    Random,
    Greedy,
    /// The policy that comes with the program.
    Model,
    /// A policy that `labrys train` wrote.
    File(PathBuf),
}

/// How the flag is spelt; every command takes all of these.
const KINDS: &str = "none, random, greedy, model, or a file of `labrys train";

impl std::str::FromStr for GuideFlag {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "none" => Self::None,
            "random" => Self::Random,
            "greedy" => Self::Greedy,
            "model" => Self::Model,
            file => Self::File(file.into()),
        })
    }
}

impl std::fmt::Display for GuideFlag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Random => f.write_str("random"),
            Self::Greedy => f.write_str("greedy"),
            Self::Model => f.write_str("model"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl GuideFlag {
    /// A guide for the order of ops, ready to be asked.
    pub(crate) fn of_orders(&self, seed: Seed) -> Result<Option<Box<OrderGuide>>, CliError> {
        Ok(match self {
            Self::None => None,
            Self::Random => Some(Box::new(Random(seed))),
            Self::Greedy => Some(Box::new(Greedy)),
            Self::Model => Some(Box::new(OrderPolicy::released().map_err(CliError::bug)?)),
            Self::File(path) => {
                let policy = Checkpoint::load(path).and_then(|file| OrderPolicy::from_checkpoint(&file));
                Some(Box::new(policy.map_err(|error| in_file(path, &error, "placement-order"))?))
            }
        })
    }

    /// A guide for a problem on graphs of so many nodes; a policy gives up when the watch rings. Covers, independent sets and
    /// cliques have the same policies.
    pub(crate) fn of_nodes(
        &self,
        problem: Problem,
        nodes: usize,
        seed: Seed,
        watch: Stopwatch,
    ) -> Result<Option<Box<NodeGuide>>, CliError> {
        let policy = match self {
            Self::None => return Ok(None),
            Self::Random => return Ok(Some(Box::new(combopt::guide::Random(seed)))),
            Self::Greedy => return Ok(Some(Box::new(combopt::guide::MaxDegree))),
            Self::Model if problem == Problem::MaxCut => return Err(none_released(problem)),
            Self::Model => Learned::released().map_err(CliError::bug)?,
            Self::File(path) => policy(path, problem)?,
        };
        let bytes = policy.models().map(|model| learned::memory::construction(&model.config, nodes)).max();
        memory::must_fit("the guide", bytes.unwrap_or(0), "--guide none takes no memory")?;
        Ok(Some(Box::new(policy.until(watch))))
    }

    /// A guide for tours.
    pub(crate) fn of_cities(&self, seed: Seed) -> Result<Option<Box<CityGuide>>, CliError> {
        Ok(match self {
            Self::None => None,
            Self::Random => Some(Box::new(combopt::guide::Random(seed))),
            Self::Greedy => Some(Box::new(combopt::guide::InFileOrder)),
            Self::Model | Self::File(_) => return Err(none_released(Problem::Tsp)),
        })
    }
}

/// The policy in a file, if it is for the problem.
fn policy(path: &Path, problem: Problem) -> Result<Learned, CliError> {
    let problems: &[&str] =
        if problem == Problem::MaxCut { &["max-cut"] } else { &["vertex-cover", "independent-set"] };
    let refused = |error: &dyn std::fmt::Display| in_file(path, error, problems[0]);
    let file = Checkpoint::load(path).map_err(|error| refused(&error))?;
    let policy = Learned::from_checkpoint(&file).map_err(|error| refused(&error))?;
    if !problems.contains(&policy.problem()) {
        let error = format!("it was trained for {}, not for {}", policy.problem(), problems.join(" or "));
        return Err(refused(&error));
    }
    Ok(policy)
}

fn in_file(path: &Path, error: &dyn std::fmt::Display, verb: &str) -> CliError {
    CliError::input(format!("{}: {error}", path.display())).with_hint(Some(format!("--guide takes {KINDS} {verb}`")))
}

fn none_released(problem: Problem) -> CliError {
    CliError::input(format!("no policy guides {} here", problem.name()))
        .with_hint(Some("--guide takes none, random or greedy; for max-cut a file of `labrys train max-cut`, too"))
}

/// A guide that keeps count of the time it takes.
pub(crate) struct Timed {
    guide: Option<Box<OrderGuide>>,
    nanoseconds: AtomicU64,
}

impl Timed {
    pub(crate) fn new(guide: Option<Box<OrderGuide>>) -> Self {
        Self { guide, nanoseconds: AtomicU64::new(0) }
    }

    /// The guide, if there is one.
    pub(crate) fn as_guide(&self) -> Option<&OrderGuide> {
        self.guide.is_some().then_some(self)
    }

    /// Time spent on advice so far.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}

impl Guide<Graph> for Timed {
    type Advice = OrderAdvice;

    fn advise(&self, graph: &Graph) -> OrderAdvice {
        let started = Instant::now();
        let advice = self.guide.as_ref().map(|guide| guide.advise(graph)).unwrap_or_default();
        let time = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(time, Ordering::Relaxed);
        advice
    }
}
