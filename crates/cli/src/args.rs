//! The command line as types: verbs, and the flags that all run verbs share.

use crate::guide::GuideFlag;
use crate::{
    bench, calibrate, certified, check, check_grad, compile, convert, fmt, generate, inspect, optimize, place, repl,
    run, solve, train,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
use labrys_report::units;
use labrys_search::{Limits, Seed};
use std::path::PathBuf;
use std::time::Duration;

/// Optimises graphs by search under a learned guide.
#[derive(Parser, Debug)]
#[command(name = "labrys", version, about, max_term_width = 110)]
#[command(
    after_help = "Exit codes: 0 feasible and checked, 1 no feasible solution, 2 bad input or usage, 3 a bug of ours."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Place the ops of a model on devices and order them, for run time or peak memory
    Place(Box<place::PlaceArgs>),
    /// Solve a graph problem: vertex cover, independent set, max clique, max cut, TSP
    Solve(Box<solve::SolveArgs>),
    /// Check a plan, a solution or an optimised .ks program against its input with an independent implementation
    Check(check::CheckArgs),
    /// Say what each rewrite of an optimised .ks program brought, and where
    Explain(certified::ExplainArgs),
    /// Say what a model holds: ops, tensors, weights, costs, and how much there is to gain
    Inspect(inspect::InspectArgs),
    /// Write a model as CostGraphDef, JSON or DOT, a Python or F# program as .ks
    Convert(convert::ConvertArgs),
    /// Compile a .ks, Python or F# program
    Compile(compile::CompileArgs),
    /// Rewrite a .ks program so that it costs less, with a certificate of every step
    Optimize(Box<optimize::OptimizeArgs>),
    /// Measure what steps of programs cost on this machine, for `optimize --cost measured`
    Calibrate(calibrate::CalibrateArgs),
    /// Run a .ks, Python or F# program in the interpreter
    Run(run::RunArgs),
    /// Format .ks programs
    Fmt(fmt::FmtArgs),
    /// Compare the derivatives of a .ks function with finite differences, and with each other
    CheckGrad(check_grad::CheckGradArgs),
    /// Evaluate .ks expressions one after another
    Repl(repl::ReplArgs),
    /// Compare methods
    Bench {
        #[command(subcommand)]
        what: bench::Bench,
    },
    /// Train a policy that guides a search
    Train {
        #[command(subcommand)]
        what: train::Train,
    },
    /// Make inputs
    Generate {
        #[command(subcommand)]
        what: generate::Generate,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
}

/// How much effort a search makes when no limit says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Preset {
    /// Constructive methods only
    Fast,
    /// At most a second
    Default,
    /// Until the time limit (60s unless given) or Ctrl-C
    Quality,
}

/// Flags of every verb that runs a search.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunFlags {
    /// Seed of all randomness: the same seed and work limit give the same result
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Stop after this time, reading the input included: 500ms, 10s, 5min
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Stop after this many candidate solutions: reproducible, unlike a time limit
    #[arg(long, value_name = "N")]
    pub(crate) work_limit: Option<u64>,
    /// Threads; the result does not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// What steers the search: none, random, greedy, model (the trained policy that comes with labrys), or the file of a
    /// trained policy. It proposes orders for peak memory; the search is never worse off at its start
    #[arg(long, value_name = "GUIDE", default_value = "model")]
    pub(crate) guide: GuideFlag,
    /// Effort
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    pub(crate) preset: Preset,
    /// Write the result to this file, - for stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the result as JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a trace for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write a self-contained HTML report
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}

impl RunFlags {
    pub(crate) fn seed(&self) -> Seed {
        Seed(self.seed)
    }

    /// The limits that the user gave, less the time that has passed since `started`.
    pub(crate) fn limits(&self, started: std::time::Instant) -> Limits {
        let time = self.time_limit.map(|limit| limit.saturating_sub(started.elapsed()));
        Limits { time, work: self.work_limit }
    }

    /// Runs `job` on the number of threads that the user asked for.
    pub(crate) fn in_pool<T: Send>(&self, job: impl FnOnce() -> T + Send) -> T {
        let threads = self.threads.map_or(0, usize::from);
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(job),
            // Without threads of our own the global pool still serves.
            Err(_) => job(),
        }
    }
}
