//! `labrys convert`: a model in another format.

use crate::error::CliError;
use crate::load::ModelFlags;
use crate::output;
use crate::problem_flags::profile;
use clap::{Args, ValueEnum};
use labrys_dataflow::{Graph, cost, cost_graph, dot, json};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// The model
    model: String,
    #[command(flatten)]
    input: ModelFlags,
    /// Format to write
    #[arg(long, value_enum)]
    to: Target,
    /// File to write, - for stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Profile that estimates run times: cpu, a100, h100, mcu, or a TOML file
    #[arg(long, value_name = "PROFILE", default_value = "cpu")]
    device_profile: String,
    /// Most ops that a drawing shows
    #[arg(long, value_name = "N", default_value_t = 500)]
    dot_limit: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Target {
    /// TensorFlow CostGraphDef, binary protobuf
    CostGraph,
    /// TensorFlow CostGraphDef, protobuf text
    CostGraphText,
    /// The JSON of docs/formats.md
    Json,
    /// Graphviz
    Dot,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<(), CliError> {
    let mut graph = args.input.load(&args.model)?.graph;
    cost::roofline(&mut graph, &profile(&args.device_profile)?);
    let bytes = match args.to {
        Target::CostGraph => cost_graph::write(&graph, cost_graph::Encoding::Binary),
        Target::CostGraphText => cost_graph::write(&graph, cost_graph::Encoding::Text),
        Target::Json => json::write(&graph).into_bytes(),
        Target::Dot => draw(&graph, None, args.dot_limit).into_bytes(),
    };
    output::write(&args.output, |out| out.write_all(&bytes))
}

/// The drawing of a graph; warns about ops that it leaves out.
pub(crate) fn draw(graph: &Graph, device_of: Option<&[usize]>, limit: usize) -> String {
    let drawing = dot::write(graph, device_of, limit);
    if drawing.omitted > 0 {
        output::warn(&format!("the drawing shows {limit} ops and leaves out {}", drawing.omitted));
    }
    drawing.text
}
