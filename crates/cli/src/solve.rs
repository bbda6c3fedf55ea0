//! `labrys solve`: from a graph to a checked solution with a bound.

mod answer;
mod cover;
mod cut;
mod input;
mod tour;

use crate::args::duration;
use crate::error::CliError;
use crate::guide::GuideFlag;
use crate::progress::Progress;
use crate::{interrupt, output};
use clap::{Args, ValueEnum};
use input::{GraphFlags, Instance};
use labrys_combopt::{NodeGuide, Problem};
use labrys_search::{Limits, Runner, Seed};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub(crate) use answer::{Answer, SCHEMA, check_solution};

#[derive(Args, Debug)]
pub(crate) struct SolveArgs {
    /// The problem
    #[arg(value_enum)]
    problem: ProblemFlag,
    /// The graph: edge list (SNAP), DIMACS, PACE, METIS, Gset or Matrix Market, for tsp a TSPLIB file; gzipped or not; - is stdin
    file: String,
    #[command(flatten)]
    input: GraphFlags,
    /// Seed of all randomness: the same seed and work limit give the same result
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Stop after this time, reading the input included: 500ms, 10s, 5min. A proof stops earlier
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    time_limit: Duration,
    /// Stop after this many steps of the search: reproducible, unlike a time limit
    #[arg(long, value_name = "N")]
    work_limit: Option<u64>,
    /// What steers the first solution: none, random, greedy (by degree), model (policies that come with the program), or the file of a
    /// policy that `labrys train` wrote. The search is never worse off at its start
    #[arg(long, value_name = "GUIDE", default_value = "none")]
    guide: GuideFlag,
    /// Leave out the reductions
    #[arg(long)]
    no_reductions: bool,
    /// Leave out local search
    #[arg(long)]
    no_local_search: bool,
    /// Leave out exact search
    #[arg(long)]
    no_exact: bool,
    /// Write the solution to this file, - for stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the result as JSON on stdout
    #[arg(long)]
    json: bool,
    /// Say nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more
    #[arg(short, long)]
    verbose: bool,
    /// A flag that ends the search, if there is one already.
    #[arg(skip)]
    interrupt: Option<Arc<AtomicBool>>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProblemFlag {
    /// Fewest nodes that touch every edge
    VertexCover,
    /// Most nodes without an edge between any two
    IndependentSet,
    /// Most nodes with an edge between every two
    MaxClique,
    /// Two sides with the heaviest edges between them
    MaxCut,
    /// Shortest round trip through all cities
    Tsp,
}

impl ProblemFlag {
    fn of(problem: Problem) -> Self {
        match problem {
            Problem::VertexCover => Self::VertexCover,
            Problem::IndependentSet => Self::IndependentSet,
            Problem::MaxClique => Self::MaxClique,
            Problem::MaxCut => Self::MaxCut,
            Problem::Tsp => Self::Tsp,
        }
    }

    fn problem(self) -> Problem {
        match self {
            Self::VertexCover => Problem::VertexCover,
            Self::IndependentSet => Problem::IndependentSet,
            Self::MaxClique => Problem::MaxClique,
            Self::MaxCut => Problem::MaxCut,
            Self::Tsp => Problem::Tsp,
        }
    }
}

pub(crate) fn run(args: &SolveArgs, started: Instant) -> Result<(), CliError> {
    output::be_quiet(args.quiet);
    if args.json && args.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(CliError::input("two outputs are to go to stdout, which holds one")
            .with_hint(Some("give -o a file; --json prints the solution, too")));
    }
    args.output.as_deref().map_or(Ok(()), output::probe)?;
    let answer = solve(args, started)?;
    answer.confirm()?;
    if let Some(path) = &args.output {
        output::write(path, |out| output::json(out, &answer.solution()))?;
    }
    if args.json {
        output::to_stdout(|out| output::json(out, &answer.result(args.seed)))?;
    }
    answer.print(args.seed, args.verbose);
    Ok(())
}

/// What a benchmark runs.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) problem: Problem,
    pub(crate) path: String,
    pub(crate) time_limit: Duration,
    pub(crate) work_limit: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) guide: GuideFlag,
    /// Nothing but the first solution: no reductions, no local search, no exact search.
    pub(crate) construct: bool,
}

/// A checked answer, without a word.
pub(crate) fn measured(what: Measured, interrupt: Arc<AtomicBool>) -> Result<Answer, CliError> {
    let args = SolveArgs {
        problem: ProblemFlag::of(what.problem),
        file: what.path,
        input: GraphFlags::default(),
        seed: what.seed,
        time_limit: what.time_limit,
        work_limit: what.work_limit,
        guide: what.guide,
        no_reductions: what.construct,
        no_local_search: what.construct,
        no_exact: what.construct,
        output: None,
        json: false,
        quiet: true,
        verbose: false,
        interrupt: Some(interrupt),
    };
    let answer = solve(&args, Instant::now())?;
    answer.confirm()?;
    Ok(answer)
}

fn solve(args: &SolveArgs, started: Instant) -> Result<Answer, CliError> {
    let problem = args.problem.problem();
    let instance = args.input.load(&args.file, problem)?;
    if args.verbose {
        input::describe(&instance);
    }
    match (instance, problem) {
        (Instance::Cities(loaded), _) => tour::solve(args, loaded, started),
        (Instance::Graph(loaded), Problem::MaxCut) => cut::solve(args, loaded, started),
        (Instance::Graph(loaded), _) => cover::solve(args, problem, loaded, started),
    }
}

impl SolveArgs {
    /// A runner under the limits, with what has passed since `started` taken off, Ctrl-C and progress.
    fn runner<S>(
        &self,
        started: Instant,
        progress: &Progress,
        show: impl Fn(u64) -> String + Send + 'static,
    ) -> Runner<S> {
        let time = Some(self.time_limit.saturating_sub(started.elapsed()));
        let run = Runner::new(Limits { time, work: self.work_limit }, Seed(self.seed))
            .with_interrupt(self.interrupt.clone().unwrap_or_else(interrupt::flag));
        match progress.listener(show) {
            Some(listener) => run.with_listener(listener),
            None => run,
        }
    }

    /// The guide, ready to be asked about a graph of so many nodes; it gets a third of the time at most.
    fn guide<S>(&self, nodes: usize, run: &Runner<S>) -> Result<Option<Box<NodeGuide>>, CliError> {
        let watch = run.part::<()>(1.0 / 3.0, "guide").stopwatch();
        self.guide.of_nodes(self.problem.problem(), nodes, Seed(self.seed), watch)
    }
}
