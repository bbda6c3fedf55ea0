//! `labrys bench`: the tables of the papers, and the classical methods beside them.

mod exact;
mod figures;
mod learned;
mod measure;
mod placement;
mod show;

use crate::error::CliError;
use clap::Subcommand;

#[derive(Subcommand, Debug)]
pub(crate) enum Bench {
    /// Placement methods on synthetic graphs or a folder of models
    Placement(Box<placement::PlacementBench>),
}

pub(crate) fn run(what: &Bench) -> Result<(), CliError> {
    match what {
        Bench::Placement(args) => placement::run(args),
    }
}
