//! `labrys bench placement`: rows are methods, columns the metrics of REGAL section 5.3.

use super::exact::Exact;
use super::figures::FigureFlags;
use super::learned::{LearnedFlags, Policies};
use super::measure::{self, Entry, Measured};
use super::show;
use crate::args::duration;
use crate::dataset;
use crate::error::CliError;
use crate::guide::GuideFlag;
use crate::interrupt;
use crate::load::ModelFlags;
use crate::output;
use crate::problem_flags::ProblemFlags;
use crate::progress::Progress;
use clap::Args;
use labrys_dataflow::Graph;
use labrys_placement::baselines::tuned_brkga;
use labrys_placement::guide::OrderGuide;
use labrys_placement::learned::augment::augment;
use labrys_placement::solve::{self, Effort, Method};
use labrys_placement::{Objective, Problem, Settings, Weights, synthetic};
use labrys_search::{Limits, Runner, Seed};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Args, Debug)]
pub(crate) struct PlacementBench {
    #[command(flatten)]
    problem: ProblemFlags,
    #[command(flatten)]
    input: ModelFlags,
    /// Number of synthetic graphs
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    graphs: u64,
    /// Seed of the graphs and of all methods
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Skip the paper's filter of the synthetic graphs
    #[arg(long)]
    unfiltered: bool,
    /// Use the models in this folder instead of synthetic graphs
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Use variants of the real models below this folder that no policy in the table was trained or validated on, weights
    /// ignored, without those that leave no room for improvement [default: LABRYS_INSTANCES, else ../shared/data]
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = "", conflicts_with = "models")]
    real: Option<PathBuf>,
    /// Variants of each real model, itself included
    #[arg(long, value_name = "N", default_value_t = 10, requires = "real")]
    copies: u64,
    /// Leave out real models with more ops
    #[arg(long, value_name = "N", default_value_t = 2_000, requires = "real")]
    most_ops: usize,
    /// The methods of the paper's table 1, GAS, IDRS and REGAL included, and ours
    #[arg(long)]
    table1: bool,
    #[command(flatten)]
    learned: LearnedFlags,
    #[command(flatten)]
    figures: FigureFlags,
    /// Repeat all methods with this many seeds
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Time limits of the portfolio, one row each; the longest serves as the best known
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = duration, default_value = "1s")]
    portfolio: Vec<Duration>,
    /// Repeat the rows of the portfolio with this guide: random, greedy, model, or the file of a trained policy
    #[arg(long, value_name = "GUIDE", default_value = "none")]
    guide: GuideFlag,
    /// Limit each device's memory to this multiple of the least peak that one second of search finds
    #[arg(long, value_name = "X", conflicts_with = "memory")]
    memory_factor: Option<f64>,
    /// Leave out the baselines that take long: random, local search, BRKGA 1K and 10K, tuned BRKGA
    #[arg(long)]
    short: bool,
    /// Add the exact baseline, with a time limit a graph [default: 20s]. OR-Tools is found by LABRYS_ORTOOLS
    #[arg(long, value_name = "cp-sat|cp-sat-warm[:TIME]", value_delimiter = ',')]
    with: Vec<Exact>,
    /// Search the 648 settings of tuned BRKGA on the graphs and print the best one
    #[arg(long)]
    tune: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a bar chart of the gaps to the bound
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

pub(crate) fn run(args: &PlacementBench) -> Result<(), CliError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().map_err(CliError::bug)?;
    pool.install(|| bench(args))
}

fn bench(args: &PlacementBench) -> Result<(), CliError> {
    let mut settings = args.problem.settings()?;
    if args.real.is_some() {
        settings.weights = Weights::Ignored;
    }
    let progress = Progress::new(false);
    progress.message("choosing graphs".to_owned());
    let policies = args.learned.policies(settings.objective, args.real.is_some())?;
    let mut problems = problems(args, &settings, &policies)?;
    if let Some(factor) = args.memory_factor {
        problems = problems.into_iter().map(|problem| limit_memory(problem, factor, Seed(args.seed))).collect();
    }
    if args.tune {
        return tune(args, &problems, &progress);
    }
    let interrupt = interrupt::flag();
    let seeds = args.seed..args.seed + args.seeds;
    let runs: Vec<(Seed, &Problem)> =
        seeds.flat_map(|seed| problems.iter().map(move |problem| (Seed(seed), problem))).collect();
    if let Some(folder) = args.figures.folder() {
        drop(progress);
        return args.figures.run(folder, policies.regal()?, &runs, &interrupt, title(args, &settings, problems.len()));
    }
    let (mut entries, mut absent) = (entries(args, &policies), vec![]);
    for exact in &args.with {
        match exact.entry(&problems) {
            Ok(entry) => entries.push(entry),
            Err(why) => absent.push(measure::Row::absent(exact.name(), why)),
        }
    }
    let guide = args.guide.of_orders(Seed(args.seed))?;
    let bounds: Vec<u64> = problems.iter().map(solve::bound).collect();
    let results = measure_all(&entries, &runs, guide.as_deref(), &interrupt, &progress)?;
    drop(progress);
    let done = results.first().map_or(0, Vec::len);
    let bounds: Vec<u64> = bounds.iter().copied().cycle().take(done).collect();
    let seeds = args.seeds as usize;
    let reference = entries.iter().position(|entry| entry.name == REFERENCE).unwrap_or(0);
    let mut rows = measure::rows(&entries, &results, &bounds, reference, seeds);
    rows.extend(absent);
    let table = show::Report { title: title(args, &settings, done / seeds), rows };
    if let Some(path) = &args.svg {
        let svg = table.chart();
        output::write(path, |out| out.write_all(svg.as_bytes()))?;
    }
    output::to_stdout(
        |out| if args.json { output::json(out, &table.json()) } else { out.write_all(table.text().as_bytes()) },
    )
}

/// The method that all others are compared with.
const REFERENCE: &str = "BRKGA 5K";
const REFERENCE_EVALUATIONS: u64 = 5_000;

/// The rows of table 1 in the paper's order, then ours.
fn table1(policies: &Policies) -> Vec<Entry> {
    let mut entries = vec![
        Entry::evaluations("GP+DFS", Method::GpDfs, 1),
        Entry::evaluations("local search 5K", Method::LocalSearch, REFERENCE_EVALUATIONS),
        Entry::evaluations(REFERENCE, Method::Brkga, REFERENCE_EVALUATIONS),
        Entry::evaluations("tuned BRKGA 5K", Method::TunedBrkga, REFERENCE_EVALUATIONS),
    ];
    entries.extend(policies.entries(REFERENCE_EVALUATIONS));
    entries.push(Entry::constructive("fast"));
    entries.push(Entry::timed("default", measure::DEFAULT_TIME, Some(solve::DEFAULT_WORK)));
    entries
}

fn entries(args: &PlacementBench, policies: &Policies) -> Vec<Entry> {
    if args.table1 {
        return table1(policies);
    }
    let one = |name: &str, method| Entry::evaluations(name, method, 1);
    let mut entries =
        vec![one("GP+DFS", Method::GpDfs), one("list scheduling", Method::List), one("HEFT", Method::Heft)];
    if !args.short {
        entries.push(Entry::evaluations("random 5K", Method::Random, 5_000));
        entries.push(Entry::evaluations("local search 5K", Method::LocalSearch, 5_000));
        entries.push(Entry::evaluations("BRKGA 1K", Method::Brkga, 1_000));
    }
    entries.push(Entry::evaluations(REFERENCE, Method::Brkga, 5_000));
    if !args.short {
        entries.push(Entry::evaluations("BRKGA 10K", Method::Brkga, 10_000));
        entries.push(Entry::evaluations("tuned BRKGA 5K", Method::TunedBrkga, 5_000));
    }
    if args.learned.any() {
        entries.extend(policies.entries(REFERENCE_EVALUATIONS));
    }
    entries.push(Entry::constructive("fast"));
    entries.push(Entry::timed("default", measure::DEFAULT_TIME, Some(solve::DEFAULT_WORK)));
    entries.extend(args.portfolio.iter().map(|&time| Entry::timed(&format!("portfolio {time:?}"), time, None)));
    if args.guide != GuideFlag::None {
        entries.push(Entry::guided("guided fast", Effort::Constructive, None));
        let guided = |&time| Entry::guided(&format!("guided {time:?}"), Effort::Search, Some(time));
        entries.extend(args.portfolio.iter().map(guided));
    }
    entries
}

/// Objectives by method and run of an instance. Ctrl-C leaves the instances that all methods have done.
fn measure_all(
    entries: &[Entry],
    runs: &[(Seed, &Problem)],
    guide: Option<&OrderGuide>,
    interrupt: &Arc<AtomicBool>,
    progress: &Progress,
) -> Result<Vec<Vec<Measured>>, CliError> {
    let mut results = vec![vec![]; entries.len()];
    // Instance by instance, so that a drift of the machine's speed hits all methods alike.
    for (i, &(seed, problem)) in runs.iter().enumerate() {
        for (entry, results) in entries.iter().zip(&mut results) {
            progress.message(format!("graph {} of {}: {}", i + 1, runs.len(), entry.name));
            results.push(measure::measure(problem, entry, guide, seed, interrupt)?);
        }
        if interrupt.load(Ordering::Relaxed) {
            output::warn(&format!("interrupted after {i} of {} graphs", runs.len()));
            results.iter_mut().for_each(|results| results.truncate(i));
            break;
        }
    }
    Ok(results)
}

fn problems(args: &PlacementBench, settings: &Settings, policies: &Policies) -> Result<Vec<Problem>, CliError> {
    let graphs: Vec<Graph> = match (&args.models, &args.real) {
        (Some(folder), _) => models(args, folder)?,
        (None, Some(folder)) => real(args, settings, folder, policies)?,
        (None, None) => {
            let numbers = synthetic::numbers(Seed(args.seed), args.graphs, !args.unfiltered);
            numbers.into_iter().map(|number| synthetic::graph(Seed(args.seed), number)).collect()
        }
    };
    graphs.into_iter().map(|graph| settings.problem(graph).map_err(CliError::input)).collect()
}

/// Variants of the real models that no policy has seen.
fn real(
    args: &PlacementBench,
    settings: &Settings,
    folder: &Path,
    policies: &Policies,
) -> Result<Vec<Graph>, CliError> {
    let folder = dataset::folder(Some(folder).filter(|folder| !folder.as_os_str().is_empty()));
    let all = dataset::topologies(&folder, settings.objective, settings.devices.len(), args.most_ops)?;
    let seen = policies.seen();
    let unseen: Vec<_> = all.into_iter().filter(|topology| !seen.contains(&topology.fingerprint)).collect();
    let names: Vec<&str> = unseen.iter().map(|topology| topology.name.as_str()).collect();
    output::say(&format!("{} test topologies: {}", names.len(), names.join(", ")));
    let variants = |topology: &dataset::Topology| -> Vec<Graph> {
        (0..args.copies).map(|copy| augment(&topology.graph, Seed(args.seed), copy)).collect()
    };
    Ok(unseen.iter().flat_map(variants).collect())
}

/// All models in a folder, by name; files that are no models are named and left out.
fn models(args: &PlacementBench, folder: &Path) -> Result<Vec<Graph>, CliError> {
    let failed = |error: std::io::Error| CliError::input(format!("{}: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let mut graphs = vec![];
    for path in paths {
        match args.input.load(&path.to_string_lossy()) {
            Ok(loaded) => graphs.push(loaded.graph),
            Err(_) => output::warn(&format!("{} is left out: it is no model", path.display())),
        }
    }
    if graphs.is_empty() {
        return Err(CliError::input(format!("{} holds no models", folder.display())));
    }
    Ok(graphs)
}

/// The same problem with `factor` times the least peak that a second of search finds as the memory of each device.
fn limit_memory(problem: Problem, factor: f64, seed: Seed) -> Problem {
    let peak_problem = Problem { objective: Objective::PeakMemory, ..problem.clone() };
    let mut run = Runner::new(Limits { time: Some(Duration::from_secs(1)), work: None }, seed);
    solve::solve(&peak_problem, Method::Portfolio, Effort::Search, None, &mut run);
    let peak = run.best_score().map_or(u64::MAX, |score| score.value);
    problem.with_memory((peak as f64 * factor) as u64)
}

fn tune(args: &PlacementBench, problems: &[Problem], progress: &Progress) -> Result<(), CliError> {
    let setting = tuned_brkga::tune(problems, 5_000, Seed(args.seed), |settings, graphs| {
        progress.message(format!("{settings} settings on {graphs} graphs"));
    });
    output::to_stdout(|out| output::json(out, &setting))
}

fn title(args: &PlacementBench, settings: &Settings, instances: usize) -> String {
    let what = match (&args.models, &args.real) {
        (Some(folder), _) => format!("models of {}", folder.display()),
        (None, Some(_)) => format!("variants of unseen real models ({} each)", args.copies),
        (None, None) => {
            format!("{}synthetic graphs, seed {}", if args.unfiltered { "unfiltered " } else { "" }, args.seed)
        }
    };
    let objective = match settings.objective {
        Objective::Makespan => "makespan",
        Objective::PeakMemory => "peak memory",
    };
    let mut title = format!("{objective}, {instances} {what}, {} devices", settings.devices.len());
    if !settings.links.is_empty() {
        title.push_str(", finite links");
    }
    if settings.transfers == labrys_placement::Transfers::Asynchronous {
        title.push_str(", asynchronous");
    }
    if let Some(factor) = args.memory_factor {
        title.push_str(&format!(", memory {factor} x the least peak"));
    }
    title
}
