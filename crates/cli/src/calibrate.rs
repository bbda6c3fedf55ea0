//! `labrys calibrate`: what steps of programs cost on this machine.

use crate::error::CliError;
use crate::output::{self, say};
use crate::{compile, ks};
use clap::Args;
use labrys_compiler::cost::{AbstractInterpreter, Weights, calibrate};
use labrys_compiler::ir::{FunId, Program};
use labrys_compiler::optimize::sets::SETS;
use labrys_compiler::{Sources, emit};
use labrys_report::table::{Align, Cell, Table};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// Write the weights to this file, - for stdout
    #[arg(short, long, value_name = "FILE", default_value = "labrys-weights.toml")]
    output: PathBuf,
    /// Also time the expressions of the sets of `bench rewrite`, and say how well costs and times agree in rank
    #[arg(long)]
    validate: bool,
    /// Flag for the C++ compiler, as in --cxxflag=-march=native
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    cxxflag: Vec<String>,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<(), CliError> {
    output::be_quiet(args.quiet);
    output::probe(&args.output)?;
    let printed = times(&calibrate::program(), &calibrate::names(), &args.cxxflag)?;
    let weights = calibrate::weights(&printed).map_err(CliError::bug)?;
    if args.validate {
        let table = validated(&weights, &args.cxxflag)?;
        output::to_stdout(|out| out.write_all(table.to_text().as_bytes()))?;
    }
    output::write(&args.output, |out| out.write_all(calibrate::write(&weights).as_bytes()))?;
    say(&format!("measured {} steps of programs: {}", calibrate::names().len() / 2, args.output.display()));
    Ok(())
}

/// Compiles a program, and runs the driver that times its functions.
fn times(text: &str, names: &[String], cxxflags: &[String]) -> Result<String, CliError> {
    let sources = Sources::with("probes", text).map_err(CliError::bug)?;
    let program = labrys_compiler::compile(&sources).map_err(|errors| ks::wrong(&errors, &sources))?;
    let options = emit::Options { exports: names.to_vec(), ..emit::Options::default() };
    let code = emit::cpp(&program, &sources, &options).map_err(|error| ks::wrong(&[error], &sources))?;
    let folder = tempfile::tempdir()?;
    let (source, made) = (folder.path().join("probes.cpp"), folder.path().join("probes"));
    std::fs::write(&source, code + &calibrate::driver(names))?;
    let result = compile::cxx(cxxflags, false, &source, &made)?;
    if !result.status.success() {
        let message = format!("the C++ compiler failed:\n{}", String::from_utf8_lossy(&result.stderr));
        return Err(if cxxflags.is_empty() { CliError::bug(message) } else { CliError::input(message) });
    }
    let result = std::process::Command::new(&made).output()?;
    match result.status.success() {
        true => Ok(String::from_utf8_lossy(&result.stdout).into_owned()),
        false => Err(CliError::bug("the program that times the others failed")),
    }
}

/// Every expression of the sets, with times and costs, and how they agree.
fn validated(weights: &Weights, cxxflags: &[String]) -> Result<Table, CliError> {
    let (text, names) = timed_sets();
    let printed = times(&text, &names, cxxflags)?;
    let time =
        |name: &String| printed.lines().find_map(|line| line.strip_prefix(&format!("{name} "))?.trim().parse().ok());
    let times: Vec<f64> = names.iter().filter_map(time).collect();
    let sources = Sources::with("sets", text.as_str()).map_err(CliError::bug)?;
    let program = labrys_compiler::compile(&sources).map_err(|errors| ks::wrong(&errors, &sources))?;
    let mut table = Table::new(
        "Spearman's rank correlation with nanoseconds",
        &[("cost", Align::Left), ("functions", Align::Right), ("correlation", Align::Right)],
    );
    for (name, weights) in [("table", Weights::table()), ("measured", weights.clone())] {
        let mut model = AbstractInterpreter::new(&program, weights);
        let costs: Vec<f64> =
            names.iter().filter_map(|name| Some(model.function(&program, function(&program, name)?))).collect();
        let correlation = calibrate::rank_correlation(&costs, &times);
        table.push(vec![
            Cell::Text(name.to_owned()),
            Cell::Text(times.len().to_string()),
            Cell::Number(correlation, 3),
        ]);
    }
    Ok(table)
}

fn function(program: &Program, name: &str) -> Option<FunId> {
    let symbol = program.store.find_symbol(name)?;
    program.overloads(&[], symbol).first().copied()
}

/// The functions of all sets, and for each a loop that calls it, each time with what came out before.
fn timed_sets() -> (String, Vec<String>) {
    let (mut text, mut names) = (String::new(), vec![]);
    for (number, set) in SETS.iter().enumerate() {
        for line in set.text.lines().filter(|line| !line.starts_with(';')) {
            text += &line.replacen("(def ", &format!("(def set{number}_"), 1);
            text.push('\n');
            let Some((name, rest)) = line.strip_prefix("(def ").and_then(|line| line.split_once(' ')) else { continue };
            let name = format!("set{number}_{name}");
            let args: String =
                (1..=rest.matches(" : Float)").count()).map(|arg| format!(" (add 0.{}1 (abs x))", 4 + arg)).collect();
            names.push((format!("time_{name}"), format!("({name}{args})")));
        }
    }
    for (name, call) in &names {
        _ = writeln!(
            text,
            "(def {name} Float (n : Integer) (ifold n (lam (x_i : Tuple Float Integer) (let ((x i) x_i) (mul 0.001 {call}))) 0.7))"
        );
    }
    (text, names.into_iter().map(|(name, _)| name).collect())
}
