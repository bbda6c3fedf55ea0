//! `labrys bench small-covers`: vertex cover on the paper's random graphs of 50 to 250 nodes, every ratio beside the independent-set ratio,
//! which does not flatter (docs/combopt.md).

use crate::error::CliError;
use crate::{interrupt, output};
use clap::Args;
use labrys_combopt::cover::{self, Switches, greedy, size};
use labrys_graph::{Graph, generate};
use labrys_report::table::{Align, Cell, Table};
use labrys_search::{Limits, Runner, Seed, StopReason};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Args, Debug)]
pub(crate) struct SmallCoversBench {
    /// Graphs of each family and size
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    graphs: u64,
    /// Seed of the graphs and of all methods
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const SIZES: [u32; 5] = [50, 100, 150, 200, 250];
/// Density of Erdos-Renyi graphs and edges of a new node of Barabasi-Albert graphs.
const DENSITY: f64 = 0.15;
const DEGREE: u32 = 4;
/// The solver's limit, and that of the run that gives the value to compare with.
const LIMIT: Duration = Duration::from_millis(20);
const REFERENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy)]
enum Family {
    ErdosRenyi,
    BarabasiAlbert,
}

/// Means over the graphs of a family and size.
#[derive(Default, Serialize)]
struct Row {
    family: &'static str,
    nodes: u32,
    graphs: u64,
    /// Graphs whose reference is proven optimal.
    proven: u64,
    /// Graphs on which the solver reached the reference.
    reached: u64,
    /// Latest time at which it did, in milliseconds.
    slowest_ms: f64,
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    name: &'static str,
    /// |C| / |C*|, the paper's ratio.
    cover_ratio: f64,
    /// (n - |C|) / (n - |C*|).
    set_ratio: f64,
}

const METHODS: [&str; 4] = ["all nodes", "max-degree", "min-degree", "solve 20 ms"];

pub(crate) fn run(args: &SmallCoversBench) -> Result<(), CliError> {
    let flag = interrupt::flag();
    let mut rows = vec![];
    for family in [Family::ErdosRenyi, Family::BarabasiAlbert] {
        for nodes in SIZES {
            if !flag.load(Ordering::Relaxed) {
                rows.push(row(args, family, nodes, &flag));
            }
        }
    }
    output::to_stdout(|out| match args.json {
        true => output::json(out, &serde_json::json!({ "schema": "labrys-bench", "version": 1, "rows": rows })),
        false => out.write_all(table(&rows).to_text().as_bytes()),
    })
}

fn row(args: &SmallCoversBench, family: Family, nodes: u32, flag: &Arc<AtomicBool>) -> Row {
    let mut sums = [(0.0, 0.0); METHODS.len()];
    let family_name = match family {
        Family::ErdosRenyi => "ER 0.15",
        Family::BarabasiAlbert => "BA 4",
    };
    let mut row = Row { family: family_name, nodes, graphs: args.graphs, ..Row::default() };
    for number in 0..args.graphs {
        let mut rng = Seed(args.seed).stream(family_name, u64::from(nodes) * 1_000_000 + number);
        let edges = match family {
            Family::ErdosRenyi => generate::erdos_renyi(nodes, DENSITY, &mut rng),
            Family::BarabasiAlbert => generate::barabasi_albert(nodes, DEGREE, &mut rng),
        };
        let graph = Graph::from_edges(nodes, edges);
        let (reference, proven, _) = solve(&graph, args.seed, REFERENCE, flag);
        let (found, _, ms) = solve(&graph, args.seed, LIMIT, flag);
        row.proven += u64::from(proven);
        row.reached += u64::from(found <= reference);
        row.slowest_ms = row.slowest_ms.max(ms);
        let sizes = [nodes as usize, size(&greedy::max_degree(&graph)), size(&greedy::min_degree(&graph)), found];
        for (sum, covered) in sums.iter_mut().zip(sizes) {
            sum.0 += covered as f64 / reference.max(1) as f64;
            sum.1 += (nodes as usize - covered) as f64 / (nodes as usize - reference).max(1) as f64;
        }
    }
    let mean = |sum: f64| sum / args.graphs as f64;
    let methods = METHODS.iter().zip(sums);
    row.methods = methods.map(|(name, s)| Method { name, cover_ratio: mean(s.0), set_ratio: mean(s.1) }).collect();
    row
}

/// Size of the best cover, whether it is proven, and when it was found in milliseconds.
fn solve(graph: &Graph, seed: u64, limit: Duration, flag: &Arc<AtomicBool>) -> (usize, bool, f64) {
    let limits = Limits { time: Some(limit), work: None };
    let mut run = Runner::new(limits, Seed(seed)).with_interrupt(Arc::clone(flag));
    cover::solve(graph, None, Switches::default(), &mut run);
    let outcome = run.finish();
    let found = outcome.best.map_or(graph.nodes(), |(_, cover)| size(&cover));
    let ms = outcome.trace.last().map_or(0.0, |best| best.time.as_secs_f64() * 1e3);
    (found, outcome.stop == StopReason::Optimal, ms)
}

fn table(rows: &[Row]) -> Table {
    let mut columns = vec![
        ("family", Align::Left),
        ("n", Align::Right),
        ("graphs", Align::Right),
        ("proven", Align::Right),
        ("reached", Align::Right),
        ("slowest ms", Align::Right),
    ];
    columns.extend(METHODS.map(|name| (name, Align::Right)));
    let mut table = Table::new("cover ratio / independent-set ratio", &columns);
    for row in rows {
        let mut cells = vec![
            Cell::Text(row.family.to_owned()),
            Cell::Text(row.nodes.to_string()),
            Cell::Text(row.graphs.to_string()),
            Cell::Text(row.proven.to_string()),
            Cell::Text(row.reached.to_string()),
            Cell::Number(row.slowest_ms, 1),
        ];
        let ratios = row.methods.iter().map(|m| Cell::Text(format!("{:.4} / {:.3}", m.cover_ratio, m.set_ratio)));
        cells.extend(ratios);
        table.push(cells);
    }
    table
}
