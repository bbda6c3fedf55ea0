//! `labrys inspect`: what a model holds.

use crate::error::CliError;
use crate::load::ModelFlags;
use crate::output;
use crate::problem_flags::profile;
use clap::Args;
use labrys_dataflow::{Graph, cost};
use labrys_graph::dag;
use labrys_report::table::{Align, Cell, Table};
use labrys_report::units;
use std::collections::BTreeMap;

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// The model
    model: String,
    #[command(flatten)]
    input: ModelFlags,
    /// Profile that estimates run times: cpu, a100, h100, mcu, or a TOML file
    #[arg(long, value_name = "PROFILE", default_value = "cpu")]
    device_profile: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The numbers of one kind of op.
#[derive(Default)]
struct Kind {
    ops: usize,
    time: u64,
    output_bytes: u64,
}

pub(crate) fn run(args: &InspectArgs) -> Result<(), CliError> {
    let mut graph = args.input.load(&args.model)?.graph;
    cost::roofline(&mut graph, &profile(&args.device_profile)?);
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    for op in graph.ops() {
        let kind = kinds.entry(graph.kind(op)).or_default();
        kind.ops += 1;
        kind.time += graph.time(op);
        kind.output_bytes += graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum::<u64>();
    }
    let facts = facts(&graph);
    if args.json {
        let kinds: BTreeMap<&str, serde_json::Value> = kinds
            .iter()
            .map(|(&name, k)| {
                (name, serde_json::json!({"ops": k.ops, "time_ns": k.time, "output_bytes": k.output_bytes}))
            })
            .collect();
        let facts: serde_json::Map<String, serde_json::Value> =
            facts.into_iter().map(|(name, value, _)| (name.replace(' ', "_"), value.into())).collect();
        let value = serde_json::json!({
            "schema": "labrys-inspect", "version": 1, "model": graph.name(), "facts": facts, "kinds": kinds,
        });
        return output::to_stdout(|out| output::json(out, &value));
    }
    output::to_stdout(|out| {
        writeln!(out, "{}", output::printable(graph.name()))?;
        for (name, value, unit) in facts {
            writeln!(out, "  {name:<22} {}", unit.show(value as f64))?;
        }
        write!(out, "\n{}", output::printable(&table(kinds, graph.total_time()).to_text()))
    })
}

fn facts(graph: &Graph) -> Vec<(&'static str, u64, units::Unit)> {
    use units::Unit::{Bytes, Count, Nanoseconds};
    let levels = dag::b_levels(graph.topological(), graph.dag(), |op| graph.time(op));
    let sum = |values: &mut dyn Iterator<Item = u64>| values.sum();
    vec![
        ("ops", graph.op_count() as u64, Count),
        ("tensors", graph.tensor_count() as u64, Count),
        ("tensor bytes", sum(&mut graph.tensors().map(|t| graph.bytes(t))), Bytes),
        ("weights", graph.weight_count() as u64, Count),
        ("weight bytes", sum(&mut graph.weights().map(|w| graph.weight_bytes(w))), Bytes),
        ("measured ops", graph.measured_ops() as u64, Count),
        ("estimated ops", (graph.op_count() - graph.measured_ops()) as u64, Count),
        ("time on one device", graph.total_time(), Nanoseconds),
        ("critical path", levels.into_iter().max().unwrap_or(0), Nanoseconds),
    ]
}

fn table(kinds: BTreeMap<&str, Kind>, total: u64) -> Table {
    let columns = [
        ("kind", Align::Left),
        ("ops", Align::Right),
        ("time", Align::Right),
        ("share", Align::Right),
        ("outputs", Align::Right),
    ];
    let mut table = Table::new("", &columns);
    let mut rows: Vec<(&str, Kind)> = kinds.into_iter().collect();
    rows.sort_by_key(|(name, kind)| (std::cmp::Reverse(kind.time), *name));
    for (name, kind) in rows {
        table.push([
            Cell::Text(name.to_owned()),
            Cell::Number(kind.ops as f64, 0),
            Cell::Text(units::duration(kind.time as f64)),
            Cell::Text(units::percent(kind.time as f64 / total.max(1) as f64)),
            Cell::Text(units::bytes(kind.output_bytes as f64)),
        ]);
    }
    table
}
