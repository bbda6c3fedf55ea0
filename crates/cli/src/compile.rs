//! `labrys compile`: a program in another form.

use crate::error::CliError;
use crate::{ks, output};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct CompileArgs {
    /// Files that make one program, in order; - for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// What to write
    #[arg(long, value_enum, default_value = "ir")]
    emit: Emit,
    /// File to write, - for stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Emit {
    /// The checked program with all derivations that it asks for, as a program of the language
    Ir,
}

pub(crate) fn run(args: &CompileArgs) -> Result<(), CliError> {
    let (_, program) = ks::load(&args.files)?;
    let text = match args.emit {
        Emit::Ir => program.show(),
    };
    output::write(&args.output, |out| out.write_all(text.as_bytes()))
}
