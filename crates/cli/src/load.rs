//! Models from files and stdin, with their run times.

use crate::error::CliError;
use crate::output;
use clap::Args;
use labrys_dataflow::cost;
use labrys_dataflow::read::{self, Loaded};
use labrys_placement::plan_file::InputInfo;
use std::io::Read as _;

/// How to read a model.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ModelFlags {
    /// Size of a symbolic dimension of an ONNX model; may be repeated
    #[arg(long = "dim", value_name = "NAME=SIZE", value_parser = dim)]
    dims: Vec<(String, u64)>,
    /// Measured run times: an ONNX Runtime profile (JSON), or a CSV or JSON table of op names and microseconds
    #[arg(long, value_name = "FILE")]
    times: Option<String>,
    /// Format of the model, where it cannot be told from the file [possible values: onnx, hlo, cost-graph, cost-graph-text, json]
    #[arg(long, value_name = "FORMAT", value_parser = format, hide_possible_values = true)]
    format: Option<read::Format>,
}

fn dim(text: &str) -> Result<(String, u64), String> {
    let expected = || format!("expected NAME=SIZE such as batch=8, found '{text}'");
    let (name, size) = text.split_once('=').ok_or_else(expected)?;
    Ok((name.to_owned(), size.parse().map_err(|_| expected())?))
}

fn format(text: &str) -> Result<read::Format, String> {
    let names = || read::Format::ALL.map(read::Format::name).join(", ");
    read::Format::from_name(text).ok_or_else(|| format!("expected one of {}", names()))
}

impl ModelFlags {
    /// The flags that a plan file records, unless the user gives others.
    pub(crate) fn or_recorded(&self, recorded: &InputInfo) -> Self {
        let mut flags = self.clone();
        if flags.dims.is_empty() {
            flags.dims = recorded.dims.clone().into_iter().collect();
        }
        flags.times = flags.times.or_else(|| recorded.times.clone());
        flags
    }

    /// What a plan file records of these flags.
    pub(crate) fn record(&self) -> InputInfo {
        // Absolute, so that the plan can be checked from another folder.
        let absolute =
            |path: &String| std::path::absolute(path).map_or_else(|_| path.clone(), |p| p.to_string_lossy().into());
        InputInfo { dims: self.dims.iter().cloned().collect(), times: self.times.as_ref().map(absolute) }
    }

    /// Reads a model, `-` being stdin, and applies the measured times.
    pub(crate) fn load(&self, path: &str) -> Result<Loaded, CliError> {
        let mut options = read::Options { format: self.format, ..Default::default() };
        options.onnx.dims = self.dims.iter().cloned().collect();
        let bytes = bytes(path)?;
        let name = (path != "-").then_some(path);
        let mut loaded = read::decode(bytes, name, &options).map_err(|error| CliError::in_file(path, &error))?;
        if let Some(times) = &self.times {
            let applied = cost::apply_times(&mut loaded.graph, &bytes_of(times)?)
                .map_err(|error| CliError::in_file(times, &error))?;
            if applied.unmatched > 0 {
                let examples = applied.examples.join("', '");
                let count = applied.unmatched;
                output::warn(&format!("{times}: {count} names are no ops of the model, such as '{examples}'"));
            }
        }
        Ok(loaded)
    }
}

/// The bytes of a file, `-` being stdin.
pub(crate) fn bytes(path: &str) -> Result<Vec<u8>, CliError> {
    if path != "-" {
        return bytes_of(path);
    }
    let mut bytes = vec![];
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| CliError::input(format!("stdin: {error}")))?;
    Ok(bytes)
}

fn bytes_of(path: &str) -> Result<Vec<u8>, CliError> {
    std::fs::read(path).map_err(|error| CliError::input(format!("{path}: {error}")))
}
