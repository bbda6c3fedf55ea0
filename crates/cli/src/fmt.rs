//! `labrys fmt`: the one layout of programs.

use crate::error::CliError;
use crate::{ks, output};
use clap::Args;
use labrys_compiler::Sources;
use labrys_compiler::syntax::format::format;
use std::path::Path;

#[derive(Args, Debug)]
pub(crate) struct FmtArgs {
    /// Files to format in place; - formats stdin to stdout
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Change nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &FmtArgs) -> Result<(), CliError> {
    let mut unformatted = vec![];
    for path in &args.files {
        let text = ks::text(path)?;
        let formatted = formatted(path, &text)?;
        if path == "-" && !args.check {
            output::to_stdout(|out| out.write_all(formatted.as_bytes()))?;
        } else if formatted != text {
            unformatted.push(path.as_str());
            if !args.check {
                output::write(Path::new(path), |out| out.write_all(formatted.as_bytes()))?;
            }
        }
    }
    if args.check && !unformatted.is_empty() {
        output::to_stdout(|out| unformatted.iter().try_for_each(|path| writeln!(out, "{path}")))?;
        return Err(CliError::infeasible(format!(
            "{} of {} files are not formatted",
            unformatted.len(),
            args.files.len()
        )));
    }
    Ok(())
}

fn formatted(path: &str, text: &str) -> Result<String, CliError> {
    let mut sources = Sources::new();
    let file = sources.add(path, text).map_err(CliError::input)?;
    format(&sources, file).map_err(|error| ks::wrong(&[error], &sources))
}
