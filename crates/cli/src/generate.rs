//! `labrys generate`: inputs of any number from a seed.

use crate::error::CliError;
use crate::output;
use clap::Subcommand;
use labrys_dataflow::cost_graph::{self, Encoding};
use labrys_placement::synthetic;
use labrys_search::Seed;
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum Generate {
    /// The synthetic computation graphs of REGAL's appendix A.1.4, as CostGraphDef files
    SyntheticOps {
        /// How many
        #[arg(long, value_name = "N", default_value_t = 1)]
        graphs: u64,
        /// Seed; graph i of a seed is always the same
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Keep graphs without the paper's filter (BRKGA 10K at least 18% better than BRKGA 1K)
        #[arg(long)]
        unfiltered: bool,
        /// Write protobuf text instead of binary
        #[arg(long)]
        text: bool,
        /// Folder for the files; made if it is not there
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
}

pub(crate) fn run(what: &Generate) -> Result<(), CliError> {
    let Generate::SyntheticOps { graphs, seed, unfiltered, text, output } = what;
    std::fs::create_dir_all(output)
        .map_err(|error| CliError::input(format!("cannot make {}: {error}", output.display())))?;
    let numbers = synthetic::numbers(Seed(*seed), *graphs, !unfiltered);
    for &number in &numbers {
        let graph = synthetic::graph(Seed(*seed), number);
        let (encoding, ending) = if *text { (Encoding::Text, "pbtxt") } else { (Encoding::Binary, "pb") };
        let path = output.join(format!("synthetic-{number}.{ending}"));
        output::write(&path, |out| out.write_all(&cost_graph::write(&graph, encoding)))?;
    }
    output::say(&format!("{} graphs in {}", numbers.len(), output.display()));
    Ok(())
}
