//! `labrys bench rewrite`: methods of choosing rewrites, on sets of expressions. `docs/rewriting.md` has the tables.

mod curves;
mod figures;
mod guided;

use crate::args::duration;
use crate::error::CliError;
use crate::optimize::Mode;
use crate::output;
use crate::train::rewrite::Config;
use crate::value::ValueFlag;
use clap::Args;
use figures::FigureFlags;
use guided::{Speedup, Trail};
use labrys_compiler::cost::{Cost as _, Table as CostTable};
use labrys_compiler::ir::{ExprId, Program};
use labrys_compiler::optimize::functions::open;
use labrys_compiler::optimize::sets::{SETS, Set};
use labrys_compiler::optimize::value::Value;
use labrys_compiler::optimize::{Method, Settings, baselines, optimize};
use labrys_compiler::rewrite::{self, RuleSet};
use labrys_report::table::{Align, Cell, Table};
use labrys_search::{Limits, Runner, Seed};
use serde::Serialize;
use std::time::{Duration, Instant};

#[derive(Args, Debug)]
pub(crate) struct RewriteBench {
    /// Set of expressions: combined, generalization-train, generalization-test, fresh, hard-train, hard-test [default: all but those to train on]
    #[arg(long, value_name = "SET", value_parser = set)]
    set: Vec<Set>,
    /// States that a search looks at for each expression
    #[arg(long, value_name = "N", default_value_t = 5000)]
    work_limit: u64,
    /// Time for each expression
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,
    /// Rewrites of an expression at most, under a guide and without [default: 10, with --guide 40]
    #[arg(long, value_name = "H")]
    horizon: Option<u32>,
    /// What rewrites may change
    #[arg(long, value_enum, default_value = "fast")]
    fp: Mode,
    /// Seeds of the methods that draw: the least and the greatest total are shown
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Guides to compare A* under with A* without: model for the network in the binary, or files of `labrys train rewrite`
    #[arg(long, value_name = "GUIDE", value_delimiter = ',')]
    guide: Vec<ValueFlag>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    figures: FigureFlags,
}

impl RewriteBench {
    fn horizon(&self) -> u32 {
        self.horizon.unwrap_or(self.guide.first().unwrap_or(&ValueFlag::None).horizon())
    }
}

fn set(name: &str) -> Result<Set, String> {
    let names = || SETS.iter().map(|set| set.name).collect::<Vec<_>>().join(", ");
    Set::find(name).ok_or_else(|| format!("sets are {}", names()))
}

/// A method on a set.
#[derive(Serialize)]
struct Row {
    set: &'static str,
    method: String,
    /// The sum of costs, the mean over seeds.
    total: f64,
    least: f64,
    greatest: f64,
    /// States that were expanded and seen, all expressions together, the mean over seeds.
    expansions: f64,
    states: f64,
    ms: f64,
    /// The cost of each expression for the first seed.
    costs: Vec<f64>,
}

/// What a method makes of one expression.
struct Run {
    cost: f64,
    expansions: u64,
    states: u64,
}

/// A set, ready to be optimised.
struct Bench<'a> {
    args: &'a RewriteBench,
    set: Set,
    program: Program,
    rules: RuleSet,
    starts: Vec<ExprId>,
}

pub(crate) fn run(args: &RewriteBench) -> Result<(), CliError> {
    if let Some(folder) = args.figures.folder() {
        return args.figures.run(folder, |config| references(args, config));
    }
    let by_default = || SETS.into_iter().filter(|set| !set.name.ends_with("-train")).collect();
    let sets: Vec<Set> = if args.set.is_empty() { by_default() } else { args.set.clone() };
    let (mut rows, mut speedups) = (vec![], vec![]);
    for set in sets {
        let mut bench = Bench::new(args, set);
        rows.extend(bench.rows());
        if !args.guide.is_empty() {
            let (row, speedup) = bench.guided()?;
            rows.push(row);
            speedups.push(speedup);
        }
    }
    output::to_stdout(|out| match args.json {
        true => output::json(
            out,
            &serde_json::json!({ "schema": "labrys-bench", "version": 1, "rows": rows, "speedups": speedups }),
        ),
        false => {
            out.write_all(table(&rows).to_text().as_bytes())?;
            match speedups.is_empty() {
                true => Ok(()),
                false => out.write_all(format!("\n{}", guided::table(&speedups).to_text()).as_bytes()),
            }
        }
    })
}

/// Totals over the sets that networks are measured on: of what does not learn.
fn references(args: &RewriteBench, config: &Config) -> Result<Vec<(String, f64)>, CliError> {
    let mut totals: Vec<(String, f64)> = vec![];
    for name in &config.data.held_back {
        let set = set(name).map_err(CliError::input)?;
        for (place, row) in Bench::new(args, set).plain_rows().into_iter().enumerate() {
            match totals.get_mut(place) {
                Some((_, total)) => *total += row.total,
                None => totals.push((row.method, row.total)),
            }
        }
    }
    Ok(totals)
}

impl<'a> Bench<'a> {
    fn new(args: &'a RewriteBench, set: Set) -> Self {
        let mut program = set.program();
        let settings = rewrite::Settings { mode: args.fp.into(), ..rewrite::Settings::default() };
        let rules = RuleSet::standard(&mut program, settings);
        let rules = if set.only_binds { rules.filtered(|rule| rule.subject == "binding") } else { rules };
        let functions = set.functions(&program);
        let starts = functions.into_iter().filter_map(|fun| Some(open(&mut program, fun)?.start)).collect();
        Self { args, set, program, rules, starts }
    }

    fn rows(&mut self) -> Vec<Row> {
        let mut rows = vec![self.row("as written", 1, |bench, start, _| bench.plain(start))];
        rows.push(self.row("hash-consing CSE", 1, |bench, start, _| bench.hash_consing(start)));
        rows.push(self.row("e-graph, trees", 1, |bench, start, _| bench.e_graph(start, false)));
        rows.push(self.row("e-graph, shared, CSE", 1, |bench, start, _| bench.e_graph(start, true)));
        let draws = |method| matches!(method, Method::Mcts | Method::Random);
        for (method, name) in Method::ALL {
            if method == Method::AStar {
                // Without a guide it is greedy.
                continue;
            }
            let seeds = if draws(method) { self.args.seeds } else { 1 };
            rows.push(self.row(name, seeds, |bench, start, seed| bench.search(start, method, false, seed)));
        }
        rows.push(
            self.row("greedy + portfolio", 1, |bench, start, seed| bench.search(start, Method::Greedy, true, seed)),
        );
        rows
    }

    /// Methods that do not learn, for figures.
    fn plain_rows(&mut self) -> Vec<Row> {
        vec![
            self.row("as written", 1, |bench, start, _| bench.plain(start)),
            self.row("CSE", 1, |bench, start, _| bench.hash_consing(start)),
            self.row("e-graph", 1, |bench, start, _| bench.e_graph(start, false)),
            self.row("greedy", 1, |bench, start, seed| bench.search(start, Method::Greedy, false, seed)),
            self.row("random", self.args.seeds, |bench, start, seed| bench.search(start, Method::Random, false, seed)),
        ]
    }

    /// A* under each guide: the row, with guides in the place of seeds, and how much sooner it gets there than A* without.
    fn guided(&mut self) -> Result<(Row, Speedup), CliError> {
        let starts = self.starts.clone();
        let unguided: Vec<Trail> = starts.iter().map(|start| self.trail(*start, None)).collect();
        let (mut trails, mut ms) = (vec![], 0.0);
        for guide in &self.args.guide {
            let mut value = guide.load()?;
            let started = Instant::now();
            let mut trail = |start: &ExprId| self.trail(*start, value.as_mut().map(|value| value as &mut dyn Value));
            let found: Vec<Trail> = starts.iter().map(&mut trail).collect();
            ms += started.elapsed().as_secs_f64() * 1e3;
            trails.push(found);
        }
        let total = |trails: &Vec<Trail>| trails.iter().map(Trail::best).sum::<f64>();
        let totals: Vec<f64> = trails.iter().map(total).collect();
        let guides = trails.len() as f64;
        let all = || trails.iter().flatten();
        let row = Row {
            set: self.set.name,
            method: "A*, guided".to_owned(),
            total: totals.iter().sum::<f64>() / guides,
            least: totals.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: totals.iter().copied().fold(0.0, f64::max),
            expansions: all().map(|trail| trail.expansions as f64).sum::<f64>() / guides,
            states: all().map(|trail| trail.states as f64).sum::<f64>() / guides,
            ms: ms / guides,
            costs: trails.first().map(|trails| trails.iter().map(Trail::best).collect()).unwrap_or_default(),
        };
        let speedup = Speedup::new(self.set.name, &unguided, &trails);
        Ok((row, speedup))
    }

    fn trail(&mut self, start: ExprId, value: Option<&mut dyn Value>) -> Trail {
        let limits = Limits { work: Some(self.args.work_limit), time: self.args.time_limit };
        let mut run = Runner::new(limits, Seed(0));
        let settings = Settings { method: Method::AStar, horizon: self.args.horizon(), ..Settings::default() };
        let cost = &mut CostTable::default();
        let graph = optimize(&mut self.program, &self.rules, cost, value, start, settings, &mut run).graph;
        let (expansions, states) = (graph.expansions(), graph.len() as u64);
        Trail { improvements: graph.improvements().to_vec(), expansions, states }
    }

    fn row(&mut self, method: &str, seeds: u64, mut run: impl FnMut(&mut Self, ExprId, u64) -> Run) -> Row {
        let started = Instant::now();
        let (mut totals, mut costs) = (vec![], vec![]);
        let (mut expansions, mut states) = (0, 0);
        for seed in 0..seeds {
            let mut total = 0.0;
            for start in self.starts.clone() {
                let found = run(self, start, seed);
                total += found.cost;
                expansions += found.expansions;
                states += found.states;
                if seed == 0 {
                    costs.push(found.cost);
                }
            }
            totals.push(total);
        }
        let mean = |sum: f64| sum / seeds as f64;
        Row {
            set: self.set.name,
            method: method.to_owned(),
            total: mean(totals.iter().sum()),
            least: totals.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: totals.iter().copied().fold(0.0, f64::max),
            expansions: mean(expansions as f64),
            states: mean(states as f64),
            ms: mean(started.elapsed().as_secs_f64() * 1e3),
            costs,
        }
    }

    fn cost(&mut self, expr: ExprId) -> Run {
        Run { cost: CostTable::default().cost(&mut self.program, expr), expansions: 0, states: 0 }
    }

    fn plain(&mut self, start: ExprId) -> Run {
        self.cost(start)
    }

    fn hash_consing(&mut self, start: ExprId) -> Run {
        let found = baselines::hash_consing(&mut self.program, &self.rules, &mut CostTable::default(), start);
        self.cost(found)
    }

    fn e_graph(&mut self, start: ExprId, counts_sharing: bool) -> Run {
        let cost = &mut CostTable::default();
        let found = baselines::e_graph(&mut self.program, &self.rules, cost, start, counts_sharing);
        self.cost(found)
    }

    fn search(&mut self, start: ExprId, method: Method, has_portfolio: bool, seed: u64) -> Run {
        let limits = Limits { work: Some(self.args.work_limit), time: self.args.time_limit };
        let mut run = Runner::new(limits, Seed(seed));
        let settings = Settings { method, horizon: self.args.horizon(), has_portfolio, ..Settings::default() };
        let cost = &mut CostTable::default();
        let found = optimize(&mut self.program, &self.rules, cost, None, start, settings, &mut run);
        Run { cost: found.costs.1, expansions: found.graph.expansions(), states: found.graph.len() as u64 }
    }
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        ("set", Align::Left),
        ("method", Align::Left),
        ("total cost", Align::Right),
        ("least", Align::Right),
        ("greatest", Align::Right),
        ("expansions", Align::Right),
        ("states", Align::Right),
        ("ms", Align::Right),
    ];
    let mut table = Table::new("sums of costs over a set", &columns);
    for row in rows {
        table.push(vec![
            Cell::Text(row.set.to_owned()),
            Cell::Text(row.method.clone()),
            Cell::Number(row.total, 2),
            Cell::Number(row.least, 2),
            Cell::Number(row.greatest, 2),
            Cell::Number(row.expansions, 0),
            Cell::Number(row.states, 0),
            Cell::Number(row.ms, 1),
        ]);
    }
    table
}
