//! `labrys train`: policies that guide a search.

mod placement;
mod placement_order;

use crate::error::CliError;
use crate::load;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

#[derive(Subcommand, Debug)]
pub(crate) enum Train {
    /// REGAL: a policy that proposes where BRKGA looks
    Placement(placement::PlacementTraining),
    /// A guide for the order of ops, which warm-starts the annealing of peak memory
    PlacementOrder(TrainFlags),
}

/// Flags of every training run.
#[derive(Args, Debug)]
pub(crate) struct TrainFlags {
    /// Settings: a TOML file, see models/
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
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
        Train::PlacementOrder(flags) => flags.threads,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(CliError::bug)?;
    pool.install(|| match what {
        Train::Placement(args) => placement::run(args),
        Train::PlacementOrder(flags) => placement_order::run(flags),
    })
}

/// The settings in a TOML file.
fn read_config<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CliError> {
    let name = path.to_string_lossy();
    let text =
        String::from_utf8(load::bytes(&name)?).map_err(|_| CliError::input(format!("{name}: not UTF-8 text")))?;
    toml::from_str(&text).map_err(|error| CliError::input(format!("{name}: {error}")))
}
