//! `labrys convert`: a model in another format, a Python or F# program in `.ks`.

use crate::error::CliError;
use crate::load::ModelFlags;
use crate::problem_flags::profile;
use crate::{ks, output};
use clap::{Args, ValueEnum};
use labrys_dataflow::{Graph, cost, cost_graph, dot, json};
use labrys_front::Language;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// The model, or a program that ends in .py or .fs
    model: String,
    #[command(flatten)]
    input: ModelFlags,
    /// Format to write [default for programs: ks]
    #[arg(long, value_enum)]
    to: Option<Target>,
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
    /// The language of docs/language.md
    Ks,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<(), CliError> {
    let to = match (Language::of_path(&args.model), args.to) {
        (Some(_), None | Some(Target::Ks)) => return program(args),
        (None, Some(to)) if !matches!(to, Target::Ks) => to,
        (Some(_), Some(_)) => return Err(CliError::input("a program can become ks only")),
        (None, Some(_)) => return Err(CliError::input("only a program that ends in .py, .fs or .fsx can become ks")),
        (None, None) => {
            let hint = "formats are cost-graph, cost-graph-text, json and dot";
            return Err(CliError::input("--to says what to make of a model").with_hint(Some(hint)));
        }
    };
    let mut graph = args.input.load(&args.model)?.graph;
    cost::roofline(&mut graph, &profile(&args.device_profile)?);
    let bytes = match to {
        // Taken care of above.
        Target::Ks => vec![],
        Target::CostGraph => cost_graph::write(&graph, cost_graph::Encoding::Binary),
        Target::CostGraphText => cost_graph::write(&graph, cost_graph::Encoding::Text),
        Target::Json => json::write(&graph).into_bytes(),
        Target::Dot => draw(&graph, None, args.dot_limit).into_bytes(),
    };
    output::write(&args.output, |out| out.write_all(&bytes))
}

/// A program of another language in `.ks`.
fn program(args: &ConvertArgs) -> Result<(), CliError> {
    let sources = ks::read(std::slice::from_ref(&args.model))?;
    let text = sources.ids().last().map_or("", |file| &sources.file(file).text);
    output::write(&args.output, |out| out.write_all(text.as_bytes()))
}

/// The drawing of a graph; warns about ops that it leaves out.
pub(crate) fn draw(graph: &Graph, device_of: Option<&[usize]>, limit: usize) -> String {
    let drawing = dot::write(graph, device_of, limit);
    if drawing.omitted > 0 {
        output::warn(&format!("the drawing shows {limit} ops and leaves out {}", drawing.omitted));
    }
    drawing.text
}
