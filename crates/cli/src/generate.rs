//! `labrys generate`: inputs of any number from a seed.

use crate::error::CliError;
use crate::{generate_graph, output};
use clap::Subcommand;
use labrys_dataflow::cost_graph::{self, Encoding};
use labrys_placement::synthetic;
use labrys_search::Seed;
use std::path::{Path, PathBuf};

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
    /// A random graph: Erdos-Renyi, Barabasi-Albert, model RB with a known optimum and more
    Graph(generate_graph::GraphArgs),
    /// A layered computation graph of any size, as a CostGraphDef file
    LayeredOps {
        /// Number of ops
        #[arg(long, value_name = "N")]
        ops: u32,
        /// Ops of a layer
        #[arg(long, value_name = "N", default_value_t = 100)]
        width: u32,
        /// Seed
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// File to write, - for stdout
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
}

pub(crate) fn run(what: &Generate) -> Result<(), CliError> {
    match what {
        Generate::Graph(args) => generate_graph::run(args),
        Generate::SyntheticOps { graphs, seed, unfiltered, text, output } => {
            synthetic_ops(*graphs, Seed(*seed), !unfiltered, *text, output)
        }
        Generate::LayeredOps { ops, width, seed, output } => {
            let graph = synthetic::layered(*ops, *width, Seed(*seed)).map_err(CliError::input)?;
            output::write(output, |out| out.write_all(&cost_graph::write(&graph, Encoding::Binary)))
        }
    }
}

fn synthetic_ops(graphs: u64, seed: Seed, filtered: bool, text: bool, folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|error| CliError::input(format!("cannot make {}: {error}", folder.display())))?;
    let numbers = synthetic::numbers(seed, graphs, filtered);
    for &number in &numbers {
        let graph = synthetic::graph(seed, number);
        let (encoding, ending) = if text { (Encoding::Text, "pbtxt") } else { (Encoding::Binary, "pb") };
        let path = folder.join(format!("synthetic-{number}.{ending}"));
        output::write(&path, |out| out.write_all(&cost_graph::write(&graph, encoding)))?;
    }
    output::say(&format!("{} graphs in {}", numbers.len(), folder.display()));
    Ok(())
}
