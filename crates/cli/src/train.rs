//! `labrys train`: policies that guide a search.

mod combopt;
mod placement;
mod placement_order;
pub(crate) mod rewrite;

use crate::error::CliError;
use crate::{interrupt, load, output};
use clap::{Args, Subcommand};
use labrys_nn::{ModelCard, Params};
use labrys_rl::{Figures, Objective, Summary, TrainingConfig, TrainingRun};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Subcommand, Debug)]
pub(crate) enum Train {
    /// REGAL: a policy that proposes where BRKGA looks
    Placement(placement::PlacementTraining),
    /// A guide for the order of ops, which warm-starts the annealing of peak memory
    PlacementOrder(TrainFlags),
    /// RL4GO: a policy that builds vertex covers node by node
    VertexCover(combopt::GraphTraining),
    /// RL4GO: a policy that builds independent sets node by node
    IndependentSet(combopt::GraphTraining),
    /// RL4GO: a policy that builds cuts node by node
    MaxCut(combopt::GraphTraining),
    /// RL4GO: a policy that says which city is inserted next
    Tsp(combopt::GraphTraining),
    /// Knossos: a value function that says how much cheaper rewriting can make an expression
    Rewrite(TrainFlags),
}

/// Flags of every training run.
#[derive(Args, Debug)]
pub(crate) struct TrainFlags {
    /// Settings: a TOML file, see models/
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Change a setting of the file, as network.rounds=4
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Folder of the run: training data, state, measurements, curves, and best.safetensors. A run that was stopped goes on
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Threads; the result does not depend on it [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

pub(crate) fn run(what: &Train) -> Result<(), CliError> {
    let threads = match what {
        Train::Placement(args) => args.flags.threads,
        Train::PlacementOrder(flags) | Train::Rewrite(flags) => flags.threads,
        Train::VertexCover(args) | Train::IndependentSet(args) | Train::MaxCut(args) | Train::Tsp(args) => {
            args.flags.threads
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(CliError::bug)?;
    pool.install(|| match what {
        Train::Placement(args) => placement::run(args),
        Train::PlacementOrder(flags) => placement_order::run(flags),
        Train::VertexCover(args) => combopt::run(combopt::Kind::VertexCover, args),
        Train::IndependentSet(args) => combopt::run(combopt::Kind::IndependentSet, args),
        Train::MaxCut(args) => combopt::run(combopt::Kind::MaxCut, args),
        Train::Tsp(args) => combopt::run(combopt::Kind::Tsp, args),
        Train::Rewrite(flags) => rewrite::run(flags),
    })
}

/// Gradient descent in the folder of a run, to its end or to Ctrl-C.
fn descend(
    flags: &TrainFlags,
    config: TrainingConfig,
    (params, card): (Params, ModelCard),
    objective: &impl Objective,
    listener: &Listener,
) -> Result<(), CliError> {
    let mut run = TrainingRun::open(&flags.output, config, params, card).map_err(CliError::input)?;
    let summary = run.run(objective, |progress| {
        listener.tell(progress.steps, progress.validation);
        listener.verdict()
    });
    ended(&summary.map_err(CliError::input)?);
    Ok(())
}

/// The last line of a run.
fn ended(summary: &Summary) {
    output::say(&format!("{} steps, best score {:?} after {}", summary.steps, summary.best, summary.best_steps));
}

/// Who hears of every step of a run: prints its validations, and stops it on Ctrl-C. There can be one only, as there is one
/// handler of signals.
pub(crate) struct Listener {
    interrupt: Arc<AtomicBool>,
}

impl Listener {
    pub(crate) fn new() -> Self {
        Self { interrupt: interrupt::flag() }
    }

    /// One line of progress for each validation.
    fn tell(&self, steps: u64, validation: Option<&Figures>) {
        let Some(validation) = validation else { return };
        let figures: Vec<String> = validation.iter().map(|(name, value)| format!("\"{name}\":{value:.5}")).collect();
        let line = format!("{{\"step\":{steps},{}}}\n", figures.join(","));
        // Progress is not worth an error when nobody reads it.
        _ = output::to_stdout(|out| out.write_all(line.as_bytes()));
    }

    /// Whether the user wants the run to stop.
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn verdict(&self) -> ControlFlow<()> {
        if self.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The settings in a TOML file, with those that flags change.
fn read_config<T: serde::de::DeserializeOwned>(flags: &TrainFlags) -> Result<T, CliError> {
    read_config_file(&flags.config, &flags.set)
}

/// The settings in a TOML file, with changes such as `network.rounds=4`.
pub(crate) fn read_config_file<T: serde::de::DeserializeOwned>(path: &Path, changes: &[String]) -> Result<T, CliError> {
    let name = path.to_string_lossy();
    let in_file = |error: &dyn std::fmt::Display| CliError::input(format!("{name}: {error}"));
    let text = String::from_utf8(load::bytes(&name)?).map_err(|_| in_file(&"not UTF-8 text"))?;
    if changes.is_empty() {
        return toml::from_str(&text).map_err(|error| in_file(&error));
    }
    let mut table: toml::Table = toml::from_str(&text).map_err(|error| in_file(&error))?;
    for change in changes {
        set(&mut table, change).map_err(|expected| CliError::input(format!("--set {change}: expected {expected}")))?;
    }
    table.try_into().map_err(|error| in_file(&error))
}

/// Sets `section.key=value` in a table; the value is TOML.
fn set(table: &mut toml::Table, change: &str) -> Result<(), String> {
    let (path, value) = change.split_once('=').ok_or("KEY=VALUE, as network.rounds=4")?;
    let parsed: toml::Table =
        toml::from_str(&format!("value = {value}")).map_err(|_| "a value as in TOML: text in quotes")?;
    let (sections, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut section = table;
    for name in sections.split('.').filter(|name| !name.is_empty()) {
        let inner = section.get_mut(name).and_then(toml::Value::as_table_mut);
        section = inner.ok_or_else(|| format!("a section of the file, not '{name}'"))?;
    }
    section.extend(parsed.into_iter().map(|(_, value)| (key.to_owned(), value)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn settings_are_changed_by_path_and_wrong_ones_refused() {
        let mut table: toml::Table = toml::from_str("[a.b]\nc = 1\nd = 'x'").unwrap();
        set(&mut table, "a.b.c=2").unwrap();
        set(&mut table, "a.b.e=[1, 2]").unwrap();
        assert_eq!(table["a"]["b"]["c"].as_integer(), Some(2));
        assert_eq!(table["a"]["b"]["e"].as_array().map(Vec::len), Some(2));
        assert_eq!(table["a"]["b"]["d"].as_str(), Some("x"));
        for wrong in ["a.b.c", "a.x.c=1", "a.b.c.d=1", "a.b.c=two words"] {
            assert!(set(&mut table, wrong).is_err(), "{wrong}");
        }
    }
}
