//! The HTML report of `labrys place`.

use crate::place::{PlaceArgs, Placed};
use crate::summary::{gap, unit};
use labrys_placement::present;
use labrys_report::html::{self, Page};
use labrys_report::series::{Axis, Join, LineChart, Scale, Series};
use labrys_report::table::{Align, Cell, Table};
use labrys_report::units::{self, Unit};

pub(crate) fn page(args: &PlaceArgs, placed: &Placed) -> String {
    let problem = &placed.problem;
    html::page(&Page {
        title: problem.graph.name().to_owned(),
        subtitle: placed.headline(),
        facts: facts(placed),
        timeline: present::timeline(problem, &placed.plan),
        peak: present::peak(problem, &placed.plan, &placed.arena),
        charts: vec![search_trace(placed)],
        tables: vec![devices(placed)],
        footer: format!("labrys {} · {} · seed {}", env!("CARGO_PKG_VERSION"), args.model, args.run.seed),
    })
}

fn facts(placed: &Placed) -> Vec<(String, String)> {
    let show = |value: u64| unit(placed.problem.objective).show(value as f64);
    let speedup = placed.serial_time() as f64 / placed.cost.makespan.max(1) as f64;
    let facts = [
        ("makespan", units::duration(placed.cost.makespan as f64)),
        ("of one device", format!("{speedup:.2}x")),
        ("peak memory", units::bytes(placed.cost.peak() as f64)),
        ("proven bound", show(placed.bound)),
        ("gap", units::percent(gap(placed.objective(), placed.bound))),
        ("ops", placed.problem.graph.op_count().to_string()),
        ("transfers", placed.plan.transfer_count().to_string()),
        ("transferred", units::bytes(placed.transferred() as f64)),
        ("run times", placed.time_sources()),
        ("stopped", placed.outcome.stop.to_string()),
        ("checked", "yes".to_owned()),
    ];
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

/// Best objective over time, with the bound.
fn search_trace(placed: &Placed) -> LineChart {
    let feasible = placed.outcome.trace.iter().filter(|incumbent| incumbent.score.is_feasible());
    let mut points: Vec<(f64, f64)> = feasible.map(|i| (i.time.as_nanos() as f64, i.score.value as f64)).collect();
    points.push((placed.outcome.time.as_nanos() as f64, placed.objective() as f64));
    LineChart {
        title: "search".to_owned(),
        x: Axis { label: "time".to_owned(), unit: Unit::Nanoseconds, scale: Scale::Linear },
        y: Axis { label: "best".to_owned(), unit: unit(placed.problem.objective), scale: Scale::Linear },
        join: Join::Steps,
        series: vec![Series { name: "best so far".to_owned(), points }],
        bands: vec![],
        references: vec![("bound".to_owned(), placed.bound as f64)],
    }
}

fn devices(placed: &Placed) -> Table {
    let columns = [
        ("device", Align::Left),
        ("ops", Align::Right),
        ("busy", Align::Right),
        ("peak", Align::Right),
        ("weights", Align::Right),
        ("arena", Align::Right),
        ("fragmentation", Align::Right),
    ];
    let mut table = Table::new("devices", &columns);
    let shares = placed.shares();
    for (d, id) in placed.problem.device_ids().enumerate() {
        let bytes = |value: u64| Cell::Text(units::bytes(value as f64));
        let arena = &placed.arena.devices[d];
        table.push([
            Cell::Text(placed.problem.devices[d].name.clone()),
            Cell::Number(placed.ops_on(d) as f64, 0),
            Cell::Text(units::percent(shares[d])),
            bytes(placed.cost.peaks[d]),
            bytes(placed.problem.resident_weights(&placed.plan.device, id)),
            bytes(arena.height),
            Cell::Number(arena.fragmentation(), 3),
        ]);
    }
    table
}
