//! Shell completions and the man page, made from the same definitions as the help.

use crate::args::Cli;
use crate::error::CliError;
use crate::output;
use clap::CommandFactory as _;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut text = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "labrys", &mut text);
    output::to_stdout(|out| out.write_all(&text))
}

pub(crate) fn man() -> Result<(), CliError> {
    let mut text = vec![];
    clap_mangen::Man::new(Cli::command()).render(&mut text)?;
    output::to_stdout(|out| out.write_all(&text))
}
