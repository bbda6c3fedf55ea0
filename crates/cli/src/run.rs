//! `labrys run`: a program, interpreted.

use crate::error::CliError;
use crate::ks::{self, Bits};
use clap::Args;
use labrys_compiler::interpret::{Interpreter, Options};
use std::io::{BufWriter, Write};

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Files that make one program, in order; - for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Bits of Float and Integer
    #[arg(long, value_enum, default_value = "64")]
    float: Bits,
}

pub(crate) fn run(args: &RunArgs) -> Result<(), CliError> {
    let (sources, program) = ks::load(&args.files)?;
    let mut out = Output { inner: BufWriter::new(std::io::stdout().lock()), is_closed: false };
    let options = Options { width: args.float.into(), ..Options::default() };
    let result = Interpreter::new(&program, options, &mut out).run_main();
    let flushed = out.flush();
    match result {
        _ if out.is_closed => Err(CliError::ClosedPipe),
        Ok(_) => Ok(flushed?),
        Err(error) => Err(ks::failed(&error, &sources)),
    }
}

/// Stdout, which remembers that somebody closed it.
struct Output<W: Write> {
    inner: W,
    is_closed: bool,
}

impl<W: Write> Output<W> {
    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        let broken = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
        self.is_closed |= result.as_ref().is_err_and(broken);
        result
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let result = self.inner.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let result = self.inner.flush();
        self.note(result)
    }
}
