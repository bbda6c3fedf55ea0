//! Graphs and cities from files and stdin.

use crate::error::CliError;
use crate::{load, output};
use clap::Args;
use labrys_combopt::{Problem, tsp::tsplib};
use labrys_graph::formats::{self, Format, Labels, Loaded, Options};
use labrys_report::units;

/// How to read a graph.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GraphFlags {
    /// Format of the graph, where it cannot be told from the file [possible values: edge-list, dimacs, pace, metis, rudy, matrix-market]
    #[arg(long, value_name = "FORMAT", value_parser = format, hide_possible_values = true)]
    format: Option<Format>,
}

fn format(text: &str) -> Result<Format, String> {
    Format::from_name(text).ok_or_else(|| format!("expected one of {}", Format::ALL.map(Format::name).join(", ")))
}

/// What a problem is about.
pub(crate) enum Instance {
    Graph(Loaded),
    Cities(tsplib::Loaded),
}

impl Instance {
    /// What the file calls the nodes.
    pub(crate) fn labels(&self) -> &Labels {
        match self {
            Self::Graph(loaded) => &loaded.labels,
            Self::Cities(loaded) => &loaded.labels,
        }
    }

    /// Number of nodes or cities.
    pub(crate) fn nodes(&self) -> usize {
        match self {
            Self::Graph(loaded) => loaded.graph.nodes(),
            Self::Cities(loaded) => loaded.cities.len(),
        }
    }
}

impl GraphFlags {
    /// Reads what a problem is about, `-` being stdin.
    pub(crate) fn load(&self, path: &str, problem: Problem) -> Result<Instance, CliError> {
        if problem == Problem::Tsp {
            let cities = tsplib::read(load::bytes(path)?).map_err(|error| in_file(path, &error))?;
            return Ok(Instance::Cities(cities));
        }
        self.graph(path, problem).map(Instance::Graph)
    }

    /// Reads a graph; warns of what does not make it simple.
    fn graph(&self, path: &str, problem: Problem) -> Result<Loaded, CliError> {
        let options = Options { format: self.format, weights: problem.has_weights() };
        let loaded = formats::read(load::bytes(path)?, (path != "-").then_some(path), options)
            .map_err(|error| in_file(path, &error))?;
        if !loaded.dropped.is_nothing() {
            let what =
                if loaded.graph.is_weighted() { "left out; weights of duplicates are added" } else { "left out" };
            output::warn(&format!("{path}: {} are {what}", loaded.dropped));
        }
        Ok(loaded)
    }
}

/// An error in a graph file, with the reader's hint.
fn in_file(path: &str, error: &formats::Error) -> CliError {
    CliError::input(format!("{path}: {error}")).with_hint(error.hint.as_ref())
}

/// Says how large a problem is.
pub(crate) fn describe(instance: &Instance) {
    let loaded = match instance {
        Instance::Graph(loaded) => loaded,
        Instance::Cities(loaded) => return output::say(&format!("{} cities", loaded.cities.len())),
    };
    let graph = &loaded.graph;
    output::say(&format!(
        "{} nodes, {} edges, {} in memory as {}",
        graph.nodes(),
        graph.edge_count(),
        units::bytes(graph.heap_bytes() as f64),
        loaded.format.name()
    ));
}
