//! `labrys bench`: the tables of the papers, and the classical methods beside them.

mod combopt;
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
    /// Graph problems on published instances
    Combopt(combopt::CombOptBench),
}

pub(crate) fn run(what: &Bench) -> Result<(), CliError> {
    match what {
        Bench::Placement(args) => placement::run(args),
        Bench::Combopt(args) => combopt::run(args),
    }
}
