//! `labrys compile`: a program as an executable, or in another form.

use crate::error::CliError;
use crate::ks::{self, Bits};
use crate::optimize::Mode;
use crate::{interrupt, output};
use clap::{Args, ValueEnum};
use labrys_compiler::optimize::emission::{self, Failed};
use labrys_compiler::optimize::programs::Budget;
use labrys_compiler::{Program, Sources, emit};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[derive(Args, Debug)]
pub(crate) struct CompileArgs {
    /// Files that make one program, in order; - for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// What to write in the place of an executable
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// File to write, - for stdout [default: the first file without .ks; with --emit, stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Bits of Float and Integer
    #[arg(long, value_enum, default_value = "64")]
    float: Bits,
    /// An index out of range ends the program with its place in the source
    #[arg(long)]
    debug_bounds: bool,
    /// C++ header that supplies the external functions
    #[arg(long, value_name = "HEADER")]
    include: Vec<PathBuf>,
    /// Function that C can call, as an identifier: f, rev_f; may be repeated
    #[arg(long, value_name = "NAME")]
    export: Vec<String>,
    /// Writes the C header of what is exported
    #[arg(long, value_name = "FILE", requires = "export")]
    header: Option<PathBuf>,
    /// Makes a shared library in the place of an executable
    #[arg(long, requires = "export")]
    shared: bool,
    /// What the program runs on
    #[arg(long, value_enum, default_value = "host")]
    target: Target,
    /// Bytes of memory of an embedded program
    #[arg(long, value_name = "BYTES", default_value = "1048576")]
    arena: usize,
    /// Threads for outermost builds; 0 for as many as the machine has that runs the program [default: none]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Flag for the C++ compiler, as in --cxxflag=-march=native
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    cxxflag: Vec<String>,
    /// Rewrites the program so that it costs less, beyond what is always simplified
    #[arg(short = 'O', long)]
    optimize: bool,
    /// With -O: what rewrites may change
    #[arg(long, value_enum, default_value = "strict", requires = "optimize")]
    fp: Mode,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Target {
    /// A machine with an operating system
    Host,
    /// One without: no heap; the environment supplies ks_write and ks_fail
    Embedded,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Emit {
    /// One C++17 file that needs no other
    #[value(name = "c++")]
    Cpp,
    /// The checked program with all derivations that it asks for, as a program of the language
    Ir,
    /// The program after simplification, as a program of the language
    Anf,
    /// The program after simplification, as a graph for Graphviz
    Dot,
}

/// Flags of every C++ compiler: no step of a program may round another way than the interpreter does.
const FLAGS: [&str; 5] = ["-std=c++17", "-O2", "-ftree-vectorize", "-fno-math-errno", "-ffp-contract=off"];
/// C++ compilers, in the order in which they are tried.
const COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

pub(crate) fn run(args: &CompileArgs) -> Result<(), CliError> {
    let (sources, program) = ks::load(&args.files)?;
    let options = emit::Options {
        width: args.float.into(),
        debug_bounds: args.debug_bounds,
        exports: args.export.clone(),
        embedded: (args.target == Target::Embedded).then_some(args.arena),
        threads: args.threads,
        includes: args.include.iter().map(|header| absolute(header)).collect::<Result<_, _>>()?,
        wide_functions: args.optimize && args.fp != Mode::Strict,
    };
    let program = if args.optimize { optimized(args, &program, &sources, &options)? } else { program };
    let text = match args.emit {
        None | Some(Emit::Cpp) => emit::cpp(&program, &sources, &options),
        Some(Emit::Ir) => Ok(program.show()),
        Some(Emit::Anf) => emit::simplified(&program, &options).map(|program| program.show()),
        Some(Emit::Dot) => emit::dot(&program, &options),
    };
    let text = text.map_err(|error| ks::wrong(&[error], &sources))?;
    if let Some(path) = &args.header {
        let header = emit::header(&program, &sources, &options).map_err(|error| ks::wrong(&[error], &sources))?;
        output::write(path, |out| out.write_all(header.as_bytes()))?;
    }
    let stdout = || PathBuf::from("-");
    match args.emit {
        Some(_) => output::write(&args.output.clone().unwrap_or_else(stdout), |out| out.write_all(text.as_bytes())),
        None => executable(args, &text),
    }
}

/// The program after rewriting, each rewrite checked.
fn optimized(
    args: &CompileArgs,
    program: &Program,
    sources: &Sources,
    options: &emit::Options,
) -> Result<Program, CliError> {
    let budget = Budget { work: Some(emission::WORK), interrupt: interrupt::flag(), ..Budget::default() };
    let prepared = emission::prepare(program, options, args.fp.into(), &budget).map_err(|failed| match failed {
        Failed::Program(error) => ks::wrong(&[*error], sources),
        Failed::Refused(refused) => CliError::bug(refused),
    })?;
    let (before, after) = prepared.costs;
    let steps: usize = prepared.certificate.functions.iter().map(|function| function.steps.len()).sum();
    output::say(&format!("cost {after:.1} (from {before:.1}) by {steps} rewrites, checked"));
    Ok(prepared.program)
}

fn absolute(header: &Path) -> Result<String, CliError> {
    let path = header.canonicalize().map_err(|error| CliError::input(format!("{}: {error}", header.display())))?;
    Ok(path.display().to_string())
}

/// Compiles C++ to the output file.
fn executable(args: &CompileArgs, text: &str) -> Result<(), CliError> {
    let target = args.output.clone().unwrap_or_else(|| default_output(&args.files[0]));
    output::probe(&target)?;
    let folder = tempfile::tempdir()?;
    let (source, made) = (folder.path().join("program.cpp"), folder.path().join("program"));
    std::fs::write(&source, text)?;
    let result = cxx(&args.cxxflag, args.shared, &source, &made)?;
    if !result.status.success() {
        let message = format!("the C++ compiler failed:\n{}", String::from_utf8_lossy(&result.stderr));
        // Only what the user adds can be wrong with the C++ code.
        let is_ours = args.include.is_empty() && args.cxxflag.is_empty();
        return Err(if is_ours { CliError::bug(message) } else { CliError::input(message) });
    }
    output::install(&made, &target)
}

fn default_output(file: &str) -> PathBuf {
    let path = Path::new(if file == "-" { "program" } else { file });
    match path.extension() {
        Some(_) => path.with_extension(""),
        None => path.with_extension("out"),
    }
}

/// Runs the C++ compiler: that of CXX, or the first that there is.
pub(crate) fn cxx(flags: &[String], is_shared: bool, source: &Path, made: &Path) -> Result<Output, CliError> {
    let own = std::env::var("CXX").ok().filter(|name| !name.is_empty());
    let candidates: Vec<&str> = own.as_deref().map_or(COMPILERS.to_vec(), |own| vec![own]);
    for compiler in &candidates {
        let mut command = Command::new(compiler);
        command.args(FLAGS).args(is_shared.then_some(["-shared", "-fPIC"]).iter().flatten());
        command.args(flags).arg("-o").arg(made).arg(source).arg("-pthread");
        match command.output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(CliError::input(format!("cannot run {compiler}: {error}"))),
            Ok(result) => return Ok(result),
        }
    }
    let hint = "install g++ or clang++, or say which to use: CXX=...; '--emit c++' needs none";
    Err(CliError::input(format!("there is no C++ compiler: tried {}", candidates.join(", "))).with_hint(Some(hint)))
}
