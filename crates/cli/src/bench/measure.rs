//! Methods times instances: objectives and times, then the metrics of REGAL section 5.3.

use crate::error::CliError;
use labrys_placement::solve::{self, Effort, Method};
use labrys_placement::{Problem, check};
use labrys_search::{Limits, Runner, Seed};
use std::time::{Duration, Instant};

/// A method with its budget, under a name.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) method: Method,
    pub(crate) effort: Effort,
    pub(crate) limits: Limits,
}

impl Entry {
    /// A method with a budget of evaluations of the performance model.
    pub(crate) fn evaluations(name: &str, method: Method, evaluations: u64) -> Self {
        let limits = Limits { work: Some(evaluations), time: None };
        Self { name: name.to_owned(), method, effort: Effort::Search, limits }
    }

    /// The portfolio with a time limit.
    pub(crate) fn timed(name: &str, time: Duration, work: Option<u64>) -> Self {
        let limits = Limits { work, time: Some(time) };
        Self { name: name.to_owned(), method: Method::Portfolio, effort: Effort::Search, limits }
    }

    /// The constructive portfolio.
    pub(crate) fn constructive(name: &str) -> Self {
        let limits = Limits::default();
        Self { name: name.to_owned(), method: Method::Portfolio, effort: Effort::Constructive, limits }
    }
}

/// What one method found on one instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// Objective, or nothing if no feasible plan was found.
    pub(crate) objective: Option<u64>,
    /// Wall-clock time, the computation of the bound included.
    pub(crate) time: Duration,
}

/// Runs one method; its plan goes through the independent checker.
pub(crate) fn measure(problem: &Problem, entry: &Entry, seed: Seed) -> Result<Measured, CliError> {
    let started = Instant::now();
    let bound = if entry.method == Method::Portfolio { solve::bound(problem) } else { 0 };
    let spent = started.elapsed();
    let limits = Limits { time: entry.limits.time.map(|limit| limit.saturating_sub(spent)), ..entry.limits };
    let mut run = Runner::new(limits, seed).with_bound(bound);
    solve::solve(problem, entry.method, entry.effort, None, &mut run);
    let outcome = run.finish();
    let time = started.elapsed();
    let Some((score, plan)) = outcome.best.filter(|(score, _)| score.is_feasible()) else {
        return Ok(Measured { objective: None, time });
    };
    let cost = check(problem, &plan).map_err(|violation| CliError::bug(format!("{}: {violation}", entry.name)))?;
    if problem.score(&cost) != score {
        return Err(CliError::bug(format!("{}: the checker disagrees on the objective", entry.name)));
    }
    Ok(Measured { objective: Some(score.value), time })
}

/// Mean with its standard error over instances.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct Stats {
    pub(crate) mean: f64,
    pub(crate) standard_error: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Stats {
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let (min, max) = values.iter().fold((f64::MAX, f64::MIN), |(lo, hi), &v| (lo.min(v), hi.max(v)));
        Some(Self { mean, standard_error: (variance / n).sqrt(), min, max })
    }
}

/// One row of a table; all shares in percent.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Row {
    pub(crate) method: String,
    /// Improvement over the reference method.
    pub(crate) improvement: Option<Stats>,
    /// Gap to the best objective that any method found.
    pub(crate) gap_best: Option<Stats>,
    /// Gap to the proven bound.
    pub(crate) gap_bound: Option<Stats>,
    /// Wall-clock milliseconds.
    pub(crate) ms: Option<Stats>,
    /// Share of instances on which the method is at least as good as the reference.
    pub(crate) at_least_as_good: f64,
    /// Share of instances with a feasible plan.
    pub(crate) feasible: f64,
}

/// The rows of a table: `results[method][instance]`, compared with method `reference`.
pub(crate) fn rows(entries: &[Entry], results: &[Vec<Measured>], bounds: &[u64], reference: usize) -> Vec<Row> {
    let instances = 0..bounds.len();
    let objective = |method: usize, i: usize| results[method][i].objective.map(|value| value.max(1) as f64);
    let best = |i: usize| (0..entries.len()).filter_map(|m| objective(m, i)).fold(f64::INFINITY, f64::min);
    let percent = |share: f64| 100.0 * share;
    entries
        .iter()
        .enumerate()
        .map(|(m, entry)| {
            let solved = || instances.clone().filter_map(|i| Some((i, objective(m, i)?)));
            let against = || solved().filter_map(|(i, value)| Some((value, objective(reference, i)?)));
            let improvements: Vec<f64> = against().map(|(value, base)| percent((base - value) / base)).collect();
            let gaps: Vec<f64> = solved().map(|(i, value)| percent(value / best(i) - 1.0)).collect();
            let to_bound: Vec<f64> =
                solved().map(|(i, value)| percent(value / bounds[i].max(1) as f64 - 1.0)).collect();
            let ms: Vec<f64> = results[m].iter().map(|r| r.time.as_secs_f64() * 1e3).collect();
            let count = instances.len().max(1) as f64;
            Row {
                method: entry.name.clone(),
                improvement: Stats::of(&improvements),
                gap_best: Stats::of(&gaps),
                gap_bound: Stats::of(&to_bound),
                ms: Stats::of(&ms),
                at_least_as_good: percent(against().filter(|(value, base)| value <= base).count() as f64 / count),
                feasible: percent(solved().count() as f64 / count),
            }
        })
        .collect()
}
