//! A solution for a person (stderr), for a program (JSON on stdout), as a file, and its check.

use super::input::{GraphFlags, Instance};
use crate::error::CliError;
use crate::output::say;
use labrys_combopt::{Problem, check};
use labrys_graph::formats::Labels;
use labrys_report::units;
use labrys_search::{Incumbent, Outcome, StopReason};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A solution with all that the outputs need.
pub(crate) struct Answer {
    pub(crate) problem: Problem,
    pub(crate) input: Instance,
    pub(crate) nodes: Vec<u32>,
    pub(crate) objective: i64,
    /// What no solution can beat.
    pub(crate) bound: i64,
    pub(crate) search: Search,
}

/// What the search did.
pub(crate) struct Search {
    pub(crate) stop: StopReason,
    pub(crate) time: Duration,
    pub(crate) work: u64,
    trace: Vec<TracePoint>,
}

impl Search {
    /// When the best was found, in seconds.
    pub(crate) fn found_s(&self) -> f64 {
        self.trace.last().map_or(0.0, |point| point.t)
    }

    /// From an outcome whose scores stand for objectives.
    pub(crate) fn new<S>(outcome: &Outcome<S>, objective: impl Fn(u64) -> i64) -> Self {
        let point = |i: &Incumbent| TracePoint {
            t: i.time.as_secs_f64(),
            work: i.work,
            objective: objective(i.score.value),
            by: i.by,
        };
        let trace = outcome.trace.iter().map(point).collect();
        Self { stop: outcome.stop, time: outcome.time, work: outcome.work, trace }
    }
}

#[derive(Serialize)]
struct TracePoint {
    t: f64,
    work: u64,
    objective: i64,
    by: &'static str,
}

/// The file that `-o` writes. Nodes are numbered as in the input file.
#[derive(Serialize, Deserialize)]
pub(crate) struct SolutionFile {
    schema: String,
    version: u32,
    problem: String,
    objective: i64,
    bound: i64,
    nodes: Vec<u64>,
}

pub(crate) const SCHEMA: &str = "labrys-solution";

/// The JSON of the shared conventions (ARCHITECTURE.md).
#[derive(Serialize)]
pub(crate) struct RunResult<'a> {
    schema: &'static str,
    version: u32,
    command: &'static str,
    problem: &'static str,
    seed: u64,
    status: &'static str,
    stop_reason: StopReason,
    objective: i64,
    bound: i64,
    time_s: f64,
    work: u64,
    trace: &'a [TracePoint],
    solution: Nodes,
}

#[derive(Serialize)]
struct Nodes {
    nodes: Vec<u64>,
}

/// The value of an answer by the independent checker. Nodes are numbered from 0.
fn value(problem: Problem, input: &Instance, nodes: &[u32]) -> Result<i64, check::Violation> {
    let signed = |size: u64| size as i64;
    let graph = match input {
        Instance::Graph(loaded) => &loaded.graph,
        Instance::Cities(loaded) => {
            let distance = |a, b| loaded.cities.distance(a, b);
            return check::tour(loaded.cities.len(), nodes, distance).map(signed);
        }
    };
    match problem {
        Problem::VertexCover => check::vertex_cover(graph, nodes).map(signed),
        Problem::IndependentSet => check::independent_set(graph, nodes).map(signed),
        Problem::MaxClique => check::clique(graph, nodes).map(signed),
        Problem::MaxCut | Problem::Tsp => check::cut(graph, nodes),
    }
}

impl Answer {
    /// The checker must agree with the search.
    pub(crate) fn confirm(&self) -> Result<(), CliError> {
        let checked = value(self.problem, &self.input, &self.nodes).map_err(CliError::bug)?;
        let beats_bound = match self.problem {
            Problem::VertexCover | Problem::Tsp => checked < self.bound,
            Problem::IndependentSet | Problem::MaxClique | Problem::MaxCut => checked > self.bound,
        };
        if checked != self.objective || beats_bound {
            let (objective, bound) = (self.objective, self.bound);
            return Err(CliError::bug(format!(
                "the search says {objective}, the checker {checked}, the bound {bound}"
            )));
        }
        Ok(())
    }

    fn labels(&self) -> Vec<u64> {
        self.nodes.iter().map(|&v| self.input.labels().label(v)).collect()
    }

    pub(crate) fn solution(&self) -> SolutionFile {
        SolutionFile {
            schema: SCHEMA.to_owned(),
            version: 1,
            problem: self.problem.name().to_owned(),
            objective: self.objective,
            bound: self.bound,
            nodes: self.labels(),
        }
    }

    pub(crate) fn result(&self, seed: u64) -> RunResult<'_> {
        RunResult {
            schema: "labrys-result",
            version: 1,
            command: "solve",
            problem: self.problem.name(),
            seed,
            status: if self.objective == self.bound { "optimal" } else { "feasible" },
            stop_reason: self.search.stop,
            objective: self.objective,
            bound: self.bound,
            time_s: self.search.time.as_secs_f64(),
            work: self.search.work,
            trace: &self.search.trace,
            solution: Nodes { nodes: self.labels() },
        }
    }

    /// One line for a person, with `verbose` every improvement before it.
    pub(crate) fn print(&self, seed: u64, verbose: bool) {
        if verbose {
            for point in &self.search.trace {
                say(&format!("{:>9.1} ms  {}  {}", point.t * 1e3, point.objective, point.by));
            }
        }
        let gap = (self.objective - self.bound).unsigned_abs() as f64 / self.bound.unsigned_abs().max(1) as f64;
        say(&format!(
            "best {} (gap {} to bound {}) · stopped: {} · {} steps · seed {seed} · checked",
            self.objective,
            units::percent(gap),
            self.bound,
            self.search.stop,
            units::count(self.search.work as f64),
        ));
    }
}

/// `labrys check GRAPH SOLUTION`: is a solution valid, and worth what it says? In words.
pub(crate) fn check_solution(
    path: &str,
    solution_path: &str,
    bytes: &[u8],
) -> Result<Result<String, String>, CliError> {
    let in_solution = |what: &dyn std::fmt::Display| CliError::input(format!("{solution_path}: {what}"));
    let file: SolutionFile = serde_json::from_slice(bytes).map_err(|error| in_solution(&error))?;
    let problem = Problem::from_name(&file.problem).ok_or_else(|| in_solution(&"unknown problem"))?;
    let input = GraphFlags::default().load(path, problem)?;
    Ok(verdict(problem, &input, &file))
}

fn verdict(problem: Problem, input: &Instance, file: &SolutionFile) -> Result<String, String> {
    let node =
        |&label: &u64| input.labels().node(label, input.nodes()).ok_or_else(|| format!("there is no node {label}"));
    let nodes = file.nodes.iter().map(node).collect::<Result<Vec<u32>, String>>()?;
    let found = value(problem, input, &nodes).map_err(|violation| with_labels(violation, input.labels()))?;
    if found != file.objective {
        return Err(format!("it says {}, the checker {found}", file.objective));
    }
    Ok(format!("valid: {} of value {found}", file.problem))
}

/// A violation in the numbers of the file.
fn with_labels(violation: check::Violation, labels: &Labels) -> String {
    use check::Violation::{Missing, Neighbours, NoSuchNode, Strangers, Twice, Uncovered};
    let name = |v: u32| labels.label(v);
    match violation {
        NoSuchNode(v) => format!("there is no node {v}"),
        Twice(v) => format!("node {} is listed twice", name(v)),
        Uncovered(a, b) => format!("edge {}-{} is not covered", name(a), name(b)),
        Neighbours(a, b) => format!("nodes {} and {} are neighbours", name(a), name(b)),
        Strangers(a, b) => format!("nodes {} and {} are no neighbours", name(a), name(b)),
        Missing(v) => format!("city {} is not on the tour", name(v)),
    }
}
