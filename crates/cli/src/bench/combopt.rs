//! `labrys bench combopt`: every published instance against its optimum or best known value.

use crate::args::duration;
use crate::error::CliError;
use crate::guide::GuideFlag;
use crate::progress::Progress;
use crate::solve::Measured;
use crate::{dataset, interrupt, output, solve};
use clap::Args;
use labrys_combopt::Problem;
use labrys_report::table::{Align, Cell, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[derive(Args, Debug)]
pub(crate) struct CombOptBench {
    /// Folder with dimacs/, frb/, snap/, gset/ and tsplib/, each with a table of optima [default: graphs/ in LABRYS_INSTANCES, else in
    /// ../shared/data]
    #[arg(long, value_name = "FOLDER")]
    instances: Option<PathBuf>,
    /// Only the instances whose folder and name hold this, such as tsplib/pr
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Time limits of each run, one column each
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = duration, default_value = "1s,10s")]
    time_limit: Vec<Duration>,
    /// Stop each run after this many steps: guides are then compared at equal steps, not at equal time
    #[arg(long, value_name = "N")]
    work_limit: Option<u64>,
    /// What steers the first solution, as in `labrys solve`; one run each
    #[arg(long, value_name = "GUIDE", value_delimiter = ',', default_value = "none")]
    guide: Vec<GuideFlag>,
    /// Nothing but the first solution: no reductions, no local search, no exact search
    #[arg(long)]
    construct: bool,
    /// Seed of all methods
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Folders with their problem, their table and how its files end.
const FOLDERS: [(&str, Problem, &str, &str); 5] = [
    ("dimacs", Problem::VertexCover, "optima.csv", ".mis.gz"),
    ("frb", Problem::VertexCover, "optima.csv", ".mis.gz"),
    ("snap", Problem::VertexCover, "optima.csv", ".txt.gz"),
    ("gset", Problem::MaxCut, "best_known.csv", ".txt.gz"),
    ("tsplib", Problem::Tsp, "optima.csv", ".tsp.gz"),
];
/// Columns of the tables that hold the value to reach.
const VALUES: [&str; 4] = ["min_vertex_cover", "best_known_cut", "optimal_length", "objective"];

/// One instance with the value to reach.
struct Instance {
    name: String,
    problem: Problem,
    path: PathBuf,
    published: i64,
}

/// One run.
#[derive(Serialize)]
struct Row {
    instance: String,
    problem: &'static str,
    published: i64,
    guide: String,
    limit_s: f64,
    objective: i64,
    bound: i64,
    /// How much worse than published, in percent; below 0 is better.
    gap: f64,
    /// When the best was found.
    found_s: f64,
    time_s: f64,
    stop_reason: String,
}

pub(crate) fn run(args: &CombOptBench) -> Result<(), CliError> {
    let instances = instances(args)?;
    let flag = interrupt::flag();
    let progress = Progress::new(false);
    let mut rows = vec![];
    for instance in &instances {
        for (&limit, guide) in
            args.time_limit.iter().flat_map(|limit| args.guide.iter().map(move |guide| (limit, guide)))
        {
            if flag.load(Ordering::Relaxed) {
                break;
            }
            progress.message(format!("{}, {} s, guide {guide}", instance.name, limit.as_secs_f64()));
            let answer = solve::measured(what(args, instance, limit, guide), Arc::clone(&flag))?;
            rows.push(row(instance, limit, guide, &answer));
        }
    }
    drop(progress);
    output::to_stdout(|out| match args.json {
        true => output::json(out, &serde_json::json!({ "schema": "labrys-bench", "version": 1, "rows": rows })),
        false => out.write_all(table(&rows).to_text().as_bytes()),
    })
}

fn what(args: &CombOptBench, instance: &Instance, time_limit: Duration, guide: &GuideFlag) -> Measured {
    Measured {
        problem: instance.problem,
        path: instance.path.to_string_lossy().into_owned(),
        time_limit,
        work_limit: args.work_limit,
        seed: args.seed,
        guide: guide.clone(),
        construct: args.construct,
    }
}

fn row(instance: &Instance, limit: Duration, guide: &GuideFlag, answer: &solve::Answer) -> Row {
    let better = if instance.problem == Problem::MaxCut { -1.0 } else { 1.0 };
    let published = instance.published;
    Row {
        instance: instance.name.clone(),
        problem: instance.problem.name(),
        published,
        guide: guide.to_string(),
        limit_s: limit.as_secs_f64(),
        objective: answer.objective,
        bound: answer.bound,
        // Adding 0 makes a zero of -0.
        gap: better * 100.0 * (answer.objective - published) as f64 / published.max(1) as f64 + 0.0,
        found_s: answer.search.found_s(),
        time_s: answer.search.time.as_secs_f64(),
        stop_reason: answer.search.stop.to_string(),
    }
}

fn instances(args: &CombOptBench) -> Result<Vec<Instance>, CliError> {
    let root = args.instances.clone().unwrap_or_else(|| dataset::folder(None).join("graphs"));
    let mut found = vec![];
    for (folder, problem, table, ending) in FOLDERS {
        let path = root.join(folder).join(table);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for (name, published) in published(&path, &text)? {
            let path = root.join(folder).join(format!("{name}{ending}"));
            let name = format!("{folder}/{name}");
            if path.is_file() && name.contains(&args.only) {
                found.push(Instance { name, problem, path, published });
            }
        }
    }
    if found.is_empty() {
        return Err(CliError::input(format!("no instances in {}", root.display()))
            .with_hint(Some("--instances or LABRYS_INSTANCES names their folder, --only may be too narrow")));
    }
    Ok(found)
}

/// Names and values of a table with a header.
fn published(path: &Path, text: &str) -> Result<Vec<(String, i64)>, CliError> {
    let bad = |line: usize| CliError::input(format!("{}: line {line}: expected a name and a value", path.display()));
    let mut lines = text.lines().enumerate();
    let header = lines.next().ok_or_else(|| bad(1))?.1;
    let column = header.split(',').position(|name| VALUES.contains(&name.trim())).ok_or_else(|| bad(1))?;
    let row = |(i, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let value = cells.get(column).and_then(|cell| cell.parse().ok()).ok_or_else(|| bad(i + 1))?;
        Ok((cells[0].to_owned(), value))
    };
    lines.filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        ("instance", Align::Left),
        ("published", Align::Right),
        ("guide", Align::Left),
        ("limit s", Align::Right),
        ("best", Align::Right),
        ("gap %", Align::Right),
        ("bound", Align::Right),
        ("found s", Align::Right),
        ("ended s", Align::Right),
        ("by", Align::Left),
    ];
    let mut table = Table::new("", &columns);
    for row in rows {
        table.push([
            Cell::Text(row.instance.clone()),
            Cell::Text(row.published.to_string()),
            Cell::Text(row.guide.clone()),
            Cell::Text(row.limit_s.to_string()),
            Cell::Text(row.objective.to_string()),
            Cell::Number(row.gap, 3),
            Cell::Text(row.bound.to_string()),
            Cell::Number(row.found_s, 2),
            Cell::Number(row.time_s, 2),
            Cell::Text(row.stop_reason.clone()),
        ]);
    }
    table
}
