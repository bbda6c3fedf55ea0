//! The result of `labrys place` for a person (stderr) and for a program (JSON on stdout).

use crate::output::say;
use crate::place::{PlaceArgs, Placed};
use labrys_dataflow::Graph;
use labrys_placement::{Objective, PlanFile};
use labrys_report::units::{self, Unit};
use labrys_search::Outcome;
use std::time::Duration;

/// Unit of an objective.
pub(crate) fn unit(objective: Objective) -> Unit {
    match objective {
        Objective::Makespan => Unit::Nanoseconds,
        Objective::PeakMemory => Unit::Bytes,
    }
}

/// Share by which the objective is above its bound.
pub(crate) fn gap(objective: u64, bound: u64) -> f64 {
    (objective as f64 - bound as f64) / bound.max(1) as f64
}

impl Placed {
    pub(crate) fn objective(&self) -> u64 {
        self.problem.score(&self.cost).value
    }

    /// Time in which each device runs ops, as a share of the makespan.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let mut busy = vec![0u64; self.problem.device_count()];
        for op in self.problem.graph.ops() {
            let device = self.plan.device[op.0 as usize];
            busy[device.0 as usize] += self.problem.time(op, device);
        }
        busy.into_iter().map(|time| time as f64 / self.cost.makespan.max(1) as f64).collect()
    }

    pub(crate) fn ops_on(&self, device: usize) -> usize {
        self.plan.device.iter().filter(|d| d.0 as usize == device).count()
    }

    /// Makespan of running everything on the first device.
    pub(crate) fn serial_time(&self) -> u64 {
        self.problem.times[self.problem.devices[0].class].iter().sum()
    }

    /// Bytes sent over links.
    pub(crate) fn transferred(&self) -> u64 {
        use labrys_placement::Step;
        let sent = self.plan.steps.iter().filter_map(|step| match step {
            Step::Transfer { tensor, .. } => Some(self.problem.graph.bytes(*tensor)),
            Step::Run(_) => None,
        });
        sent.sum()
    }

    /// One line that says it all: ops, time share and memory per device, transfers, gap, checked.
    pub(crate) fn headline(&self) -> String {
        let shares = self.shares();
        let device = |d: usize| {
            format!(
                "{} {} ops {} of the time {}",
                self.problem.devices[d].name,
                self.ops_on(d),
                units::percent(shares[d]),
                units::bytes(self.cost.peaks[d] as f64)
            )
        };
        let shown = self.problem.device_count().min(8);
        let mut devices: Vec<String> = (0..shown).map(device).collect();
        if shown < self.problem.device_count() {
            devices.push(format!("{} more devices", self.problem.device_count() - shown));
        }
        format!(
            "{} ops · {} · {} transfers ({}) · gap {} · checked",
            self.problem.graph.op_count(),
            devices.join(" | "),
            self.plan.transfer_count(),
            units::bytes(self.transferred() as f64),
            units::percent(gap(self.objective(), self.bound))
        )
    }

    /// Where the run times come from.
    pub(crate) fn time_sources(&self) -> String {
        let (ops, measured) = (self.problem.graph.op_count(), self.problem.graph.measured_ops());
        format!("{measured} measured, {} estimated", ops - measured)
    }
}

/// Prints what a person wants to know.
pub(crate) fn print(args: &PlaceArgs, placed: &Placed, elapsed: Duration) {
    if args.run.verbose {
        details(placed, elapsed);
    }
    say(&placed.headline());
    let unit = unit(placed.problem.objective);
    let show = |value: u64| unit.show(value as f64);
    say(&format!(
        "best {} (gap {} to bound {}) · stopped: {} · {} moves · seed {} · checked",
        show(placed.objective()),
        units::percent(gap(placed.objective(), placed.bound)),
        show(placed.bound),
        placed.outcome.stop,
        units::count(placed.outcome.work as f64),
        args.run.seed
    ));
}

fn details(placed: &Placed, elapsed: Duration) {
    let graph: &Graph = &placed.problem.graph;
    say(&format!("{}: run times {}", graph.name(), placed.time_sources()));
    let per_op = graph.heap_bytes() / graph.op_count();
    say(&format!("graph in memory: {} ({per_op} bytes an op)", units::bytes(graph.heap_bytes() as f64)));
    let serial = placed.serial_time() as f64;
    let (makespan, speedup) = (placed.cost.makespan as f64, serial / (placed.cost.makespan as f64).max(1.0));
    say(&format!("makespan {} ({speedup:.2}x of one device)", units::duration(makespan)));
    for (device, arena) in placed.problem.devices.iter().zip(&placed.arena.devices) {
        say(&format!(
            "{}: arena {} (fragmentation {:.3})",
            device.name,
            units::bytes(arena.height as f64),
            arena.fragmentation()
        ));
    }
    for incumbent in &placed.outcome.trace {
        let value = unit(placed.problem.objective).show(incumbent.score.value as f64);
        say(&format!("{:>9.1} ms  {value}  {}", incumbent.time.as_secs_f64() * 1e3, incumbent.by));
    }
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let stages: Vec<String> = placed.stages.iter().map(|(name, time)| format!("{name} {}", ms(*time))).collect();
    say(&format!("{} · all in all {}", stages.join(" · "), ms(elapsed)));
}

/// The JSON of the shared conventions (ARCHITECTURE.md).
#[derive(serde::Serialize)]
pub(crate) struct RunResult<'a> {
    schema: &'static str,
    version: u32,
    command: &'static str,
    seed: u64,
    status: &'static str,
    stop_reason: labrys_search::StopReason,
    objective: u64,
    bound: u64,
    time_s: f64,
    work: u64,
    trace: Vec<TracePoint>,
    solution: &'a PlanFile<'a>,
}

#[derive(serde::Serialize)]
struct TracePoint {
    t: f64,
    work: u64,
    objective: u64,
    by: &'static str,
}

pub(crate) fn result<'a>(args: &PlaceArgs, placed: &Placed, file: &'a PlanFile<'a>) -> RunResult<'a> {
    let Outcome { trace, stop, time, work, .. } = &placed.outcome;
    let point = |i: &labrys_search::Incumbent| TracePoint {
        t: i.time.as_secs_f64(),
        work: i.work,
        objective: i.score.value,
        by: i.by,
    };
    RunResult {
        schema: "labrys-result",
        version: 1,
        command: "place",
        seed: args.run.seed,
        status: if placed.objective() == placed.bound { "optimal" } else { "feasible" },
        stop_reason: *stop,
        objective: placed.objective(),
        bound: placed.bound,
        time_s: time.as_secs_f64(),
        work: *work,
        trace: trace.iter().filter(|i| i.score.is_feasible()).map(point).collect(),
        solution: file,
    }
}
