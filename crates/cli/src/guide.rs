//! `--guide`: what steers a search.

use crate::error::CliError;
use labrys_dataflow::Graph;
use labrys_nn::Checkpoint;
use labrys_placement::guide::{Greedy, OrderAdvice, OrderGuide, OrderPolicy, Random};
use labrys_search::{Guide, Seed};
use std::path::PathBuf;
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

impl GuideFlag {
    /// The guide, ready to be asked.
    pub(crate) fn load(&self, seed: Seed) -> Result<Option<Box<OrderGuide>>, CliError> {
        Ok(match self {
            Self::None => None,
            Self::Random => Some(Box::new(Random(seed))),
            Self::Greedy => Some(Box::new(Greedy)),
            Self::Model => Some(Box::new(OrderPolicy::released().map_err(CliError::bug)?)),
            Self::File(path) => Some(Box::new(read(path)?)),
        })
    }
}

fn read(path: &std::path::Path) -> Result<OrderPolicy, CliError> {
    let in_file = |error: labrys_nn::CheckpointError| {
        CliError::input(format!("{}: {error}", path.display()))
            .with_hint(Some("--guide takes none, random, greedy, model, or a file of `labrys train placement-order`"))
    };
    let checkpoint = Checkpoint::load(path).map_err(in_file)?;
    OrderPolicy::from_checkpoint(&checkpoint).map_err(in_file)
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
