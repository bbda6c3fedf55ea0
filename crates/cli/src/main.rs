//! The `labrys` command. Only this crate prints, touches files, handles signals and exits.

mod args;
mod bench;
mod calibrate;
mod certified;
mod check;
mod check_grad;
mod compile;
mod convert;
mod dataset;
mod error;
mod fmt;
mod generate;
mod generate_graph;
mod guide;
mod inspect;
mod interrupt;
mod ks;
mod load;
mod manual;
mod memory;
mod models;
mod optimize;
mod output;
mod place;
mod place_report;
mod problem_flags;
mod progress;
mod repl;
mod run;
mod solve;
mod summary;
mod train;
mod value;

use args::{Cli, Command};
use clap::Parser as _;
use error::CliError;
use std::process::ExitCode;

fn main() -> ExitCode {
    let started = std::time::Instant::now();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match run(cli, started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(cli: Cli, started: std::time::Instant) -> Result<(), CliError> {
    match cli.command {
        Command::Place(args) => place::run(&args, started),
        Command::Solve(args) => solve::run(&args, started),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => certified::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Optimize(args) => optimize::run(&args, started),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::CheckGrad(args) => check_grad::run(&args),
        Command::Repl(args) => repl::run(&args),
        Command::Bench { what } => bench::run(&what),
        Command::Train { what } => train::run(&what),
        Command::Generate { what } => generate::run(&what),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man => manual::man(),
    }
}

/// Help and version go to stdout with exit code 0, mistakes to stderr with exit code 2.
fn usage(error: &clap::Error) -> ExitCode {
    if error.print().is_err() {
        // A closed pipe is quiet.
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
