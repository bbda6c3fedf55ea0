//! `labrys train rewrite`: the value function that guides the search for rewrites.

use super::{Listener, TrainFlags, ended, read_config};
use crate::error::CliError;
use labrys_compiler::optimize::sets::{SETS, Set};
use labrys_compiler::value::Shape;
use labrys_compiler::value::explore::{Explorer, SearchConfig};
use labrys_compiler::value::train::{LearningConfig, ValueTraining};
use labrys_rl::TrainingConfig;
use serde::Deserialize;
use std::path::Path;

/// The settings of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) data: Data,
    #[serde(default)]
    pub(crate) search: SearchConfig,
    #[serde(default)]
    pub(crate) network: Shape,
    #[serde(default)]
    pub(crate) learning: LearningConfig,
    #[serde(default)]
    pub(crate) training: TrainingConfig,
}

/// Sets of expressions by their names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Data {
    /// To learn from.
    pub(crate) training: Vec<String>,
    /// To choose the best network by.
    pub(crate) held_back: Vec<String>,
    /// Random expressions to learn from, beside those of sets: none that is in a set.
    #[serde(default)]
    pub(crate) random: usize,
    /// Others to choose by.
    #[serde(default)]
    pub(crate) random_held_back: usize,
}

impl Data {
    /// The expressions, as searches see them.
    pub(crate) fn explorer(&self, search: SearchConfig) -> Result<Explorer, CliError> {
        let sets = |names: &[String]| names.iter().map(|name| find(name)).collect::<Result<Vec<Set>, CliError>>();
        let explorer = Explorer::new(&sets(&self.training)?, &sets(&self.held_back)?, search);
        Ok(explorer.with_random(self.random, self.random_held_back))
    }
}

fn find(name: &str) -> Result<Set, CliError> {
    let names: Vec<&str> = SETS.iter().map(|set| set.name).collect();
    let hint = format!("there are {}", names.join(", "));
    Set::find(name)
        .ok_or_else(|| CliError::input(format!("no set of expressions is called {name:?}")).with_hint(Some(&hint)))
}

pub(super) fn run(flags: &TrainFlags) -> Result<(), CliError> {
    let config: Config = read_config(flags)?;
    train(&config, &flags.output, &Listener::new())
}

/// Trains in a folder, to the end or to Ctrl-C.
pub(crate) fn train(config: &Config, folder: &Path, listener: &Listener) -> Result<(), CliError> {
    let explorer = config.data.explorer(config.search)?;
    let words = format!(
        "{} expressions of {}, {} queries a search, rules over the reals; chosen by {}",
        explorer.training(),
        words(&config.data.training, config.data.random),
        config.search.queries,
        words(&config.data.held_back, config.data.random_held_back)
    );
    let settings = (config.learning.clone(), config.training.clone(), config.network);
    let mut run = ValueTraining::open(folder, settings, &explorer, words).map_err(CliError::input)?;
    let summary = run.run(|progress| {
        listener.tell(progress.steps, progress.validation);
        listener.verdict()
    });
    ended(&summary.map_err(CliError::input)?);
    Ok(())
}

/// Sets, and random expressions beside them.
fn words(sets: &[String], random: usize) -> String {
    let random = (random > 0).then(|| format!("{random} random ones"));
    sets.iter().cloned().chain(random).collect::<Vec<_>>().join(", ")
}
