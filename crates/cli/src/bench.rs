//! `labrys bench`: the tables of the papers, and the classical methods beside them.

mod combopt;
mod exact;
mod figures;
mod learned;
mod measure;
mod placement;
mod rewrite;
mod show;
mod small_covers;

use crate::error::CliError;
use clap::Subcommand;

#[derive(Subcommand, Debug)]
pub(crate) enum Bench {
    /// Placement methods on synthetic graphs or a folder of models
    Placement(Box<placement::PlacementBench>),
    /// Graph problems on published instances
    Combopt(combopt::CombOptBench),
    /// Methods of choosing rewrites, on sets of expressions
    Rewrite(rewrite::RewriteBench),
    /// Vertex cover on small random graphs, each ratio beside the independent-set ratio
    SmallCovers(small_covers::SmallCoversBench),
}

pub(crate) fn run(what: &Bench) -> Result<(), CliError> {
    match what {
        Bench::Placement(args) => placement::run(args),
        Bench::Combopt(args) => combopt::run(args),
        Bench::Rewrite(args) => rewrite::run(args),
        Bench::SmallCovers(args) => small_covers::run(args),
    }
}
