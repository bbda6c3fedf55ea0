//! `labrys optimize`: rewrites of a program that lower what it costs, each of them checked.

use crate::args::duration;
use crate::error::CliError;
use crate::output::{self, say};
use crate::value::ValueFlag;
use crate::{interrupt, ks};
use clap::{Args, ValueEnum};
use labrys_compiler::Program;
use labrys_compiler::cost::{AbstractInterpreter, Cost, Table, Weights, calibrate};
use labrys_compiler::ir::FunId;
use labrys_compiler::optimize::programs::{self, Budget, Improved, confirm, improve};
use labrys_compiler::optimize::value::Value;
use labrys_compiler::optimize::{Method, Settings};
use labrys_compiler::rewrite::{self, RuleSet};
use labrys_report::units;
use labrys_search::{Seed, StopReason};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Args, Debug)]
pub(crate) struct OptimizeArgs {
    /// Files that make one program, in order; - for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    flags: SearchFlags,
    /// Seed of all randomness: the same seed and work limit give the same result
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the program, with its certificate, to this file, - for stdout [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the result as JSON on stdout
    #[arg(long)]
    json: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

/// How to search for rewrites.
#[derive(Args, Debug)]
pub(crate) struct SearchFlags {
    /// What rewrites may change
    #[arg(long, value_enum, default_value = "strict")]
    fp: Mode,
    /// What an expression costs
    #[arg(long, value_enum, default_value = "table")]
    cost: Model,
    /// For --cost measured: the file that `labrys calibrate` wrote
    #[arg(long, value_name = "FILE", default_value = "labrys-weights.toml")]
    weights: PathBuf,
    /// How to choose among rewrites
    #[arg(long, value_parser = method, default_value = "hybrid", value_name = "METHOD")]
    method: Method,
    /// What says how much cheaper an expression can become: none, model for the network in the binary, or a file of
    /// `labrys train rewrite`. It steers the search, and is believed in nothing
    #[arg(long, value_name = "GUIDE", default_value = "none")]
    guide: ValueFlag,
    /// Rewrites of a function at most, from where a search begins [default: 10, under a guide 40]
    #[arg(long, value_name = "H")]
    horizon: Option<u32>,
    /// The first half of the horizon has only rules that change much
    #[arg(long)]
    two_phase: bool,
    /// Stop after this many expressions for each function: reproducible, unlike a time limit
    #[arg(long, value_name = "N", default_value_t = 5000)]
    work_limit: u64,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,
}

/// What rewrites may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Nothing
    Strict,
    /// Rounding
    Real,
    /// Rounding, and where there is a result
    Fast,
}

impl From<Mode> for rewrite::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Strict => Self::Strict,
            Mode::Real => Self::Real,
            Mode::Fast => Self::Fast,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Model {
    /// The table of docs/rewriting.md, with 16 elements in each dimension
    Table,
    /// The table, with the sizes that main calls with
    Abstract,
    /// The same with weights measured on this machine
    Measured,
}

fn method(name: &str) -> Result<Method, String> {
    let found = Method::ALL.iter().find(|(_, own)| *own == name).map(|(method, _)| *method);
    let names = || Method::ALL.map(|(_, name)| name).join(", ");
    found.ok_or_else(|| format!("methods are {}", names()))
}

impl SearchFlags {
    fn cost(&self, program: &Program) -> Result<Box<dyn Cost>, CliError> {
        Ok(match self.cost {
            Model::Table => Box::new(Table::default()),
            Model::Abstract => Box::new(AbstractInterpreter::new(program, Weights::table())),
            Model::Measured => Box::new(AbstractInterpreter::new(program, weights(&self.weights)?)),
        })
    }

    fn settings(&self) -> Settings {
        Settings {
            method: self.method,
            horizon: self.horizon.unwrap_or(self.guide.horizon()),
            has_two_phases: self.two_phase,
            has_portfolio: !matches!(self.method, Method::Cse | Method::EGraph),
            ..Settings::default()
        }
    }
}

/// What `labrys calibrate` wrote.
fn weights(path: &Path) -> Result<Weights, CliError> {
    let shown = path.display();
    let hint = "labrys calibrate measures this machine and writes it";
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::input(format!("{shown}: {error}")).with_hint(Some(hint)))?;
    calibrate::read(&text).map_err(|error| CliError::input(format!("{shown}: {error}")).with_hint(Some(hint)))
}

pub(crate) fn run(args: &OptimizeArgs, started: Instant) -> Result<(), CliError> {
    output::be_quiet(args.quiet);
    let (sources, mut program) = ks::load(&args.files)?;
    let before = program.clone();
    let settings = rewrite::Settings { mode: args.flags.fp.into(), ..rewrite::Settings::default() };
    let rules = RuleSet::with_rules_of(&mut program, settings).map_err(|error| ks::wrong(&[error], &sources))?;
    let budget = args.budget();
    let mut cost = args.flags.cost(&before)?;
    let mut guide = args.flags.guide.load()?;
    let guide = guide.as_mut().map(|guide| guide as &mut dyn Value);
    let improved = improve(&mut program, &rules, &mut *cost, guide, args.flags.settings(), &budget);
    confirm(&before, &program, &rules, &improved, budget.seed).map_err(CliError::bug)?;
    let result = Optimization::new(args, &before, &mut program, &rules, &improved, started)?;
    if args.json {
        output::to_stdout(|out| output::json(out, &result))?;
    }
    match &args.output {
        Some(path) => output::write(path, |out| out.write_all(result.text().as_bytes()))?,
        None if args.json => {}
        None => output::to_stdout(|out| out.write_all(result.text().as_bytes()))?,
    }
    say(&result.summary());
    Ok(())
}

impl OptimizeArgs {
    fn budget(&self) -> Budget {
        let flags = &self.flags;
        Budget {
            work: Some(flags.work_limit),
            time: flags.time_limit,
            seed: Seed(self.seed),
            interrupt: interrupt::flag(),
        }
    }
}

/// The JSON of the shared conventions (ARCHITECTURE.md).
#[derive(Serialize)]
struct Optimization {
    schema: &'static str,
    version: u32,
    command: &'static str,
    seed: u64,
    status: &'static str,
    stop_reason: StopReason,
    method: &'static str,
    /// What the bodies of all functions cost, after and before.
    objective: f64,
    start: f64,
    time_s: f64,
    /// Expressions that were looked at, and expanded.
    work: u64,
    expansions: u64,
    functions: Vec<Function>,
    solution: Solution,
}

#[derive(Serialize)]
struct Function {
    name: String,
    before: f64,
    after: f64,
    steps: usize,
}

#[derive(Serialize)]
struct Solution {
    program: String,
    certificate: String,
}

impl Optimization {
    fn new(
        args: &OptimizeArgs,
        before: &Program,
        program: &mut Program,
        rules: &RuleSet,
        improved: &[Improved],
        started: Instant,
    ) -> Result<Self, CliError> {
        let functions: Vec<FunId> = improved.iter().map(|function| function.fun).collect();
        let total = |program: &mut Program| -> Result<f64, CliError> {
            let mut cost = args.flags.cost(program)?;
            Ok(programs::total(program, &mut *cost, &functions))
        };
        let (start, objective) = (total(&mut before.clone())?, total(program)?);
        let named = improved.iter().map(|function| Function {
            name: program.store.show_fun(function.fun),
            before: function.costs.0,
            after: function.costs.1,
            steps: function.steps.len(),
        });
        // The limit that ended most of the work.
        let stop = improved.iter().map(|function| function.stop).find(|stop| *stop != StopReason::Finished);
        Ok(Self {
            schema: "labrys-result",
            version: 1,
            command: "optimize",
            seed: args.seed,
            status: "feasible",
            stop_reason: stop.unwrap_or(StopReason::Finished),
            method: args.flags.method.name(),
            objective,
            start,
            time_s: started.elapsed().as_secs_f64(),
            work: improved.iter().map(|function| function.states).sum(),
            expansions: improved.iter().map(|function| function.expansions).sum(),
            functions: named.collect(),
            solution: Solution {
                program: program.show(),
                certificate: programs::certificate(program, rules, improved).to_string(),
            },
        })
    }

    /// The program, which carries its certificate.
    fn text(&self) -> String {
        format!("{}{}", self.solution.program, self.solution.certificate)
    }

    fn summary(&self) -> String {
        let steps: usize = self.functions.iter().map(|function| function.steps).sum();
        format!(
            "best {:.4} (from {:.4}) · {steps} rewrites of {} functions · stopped: {} · {} expressions · seed {} · checked",
            self.objective,
            self.start,
            self.functions.len(),
            self.stop_reason,
            units::count(self.work as f64),
            self.seed
        )
    }
}
