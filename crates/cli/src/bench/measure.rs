//! Methods times instances: objectives and times, then the metrics of REGAL section 5.3.

use crate::error::CliError;
use labrys_placement::baselines::cp_sat;
use labrys_placement::guide::OrderGuide;
use labrys_placement::learned::{Engine, Model};
use labrys_placement::solve::{self, Effort, Method};
use labrys_placement::{Plan, Problem, check};
use labrys_search::{Limits, Outcome, Runner, Seed};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What runs in a row of the table.
#[derive(Clone, Debug)]
pub(crate) enum Solver {
    /// One of ours.
    Method(Method, Effort),
    /// The portfolio with the bench's guide.
    Guided(Effort),
    /// A search with the proposals of a trained policy.
    Learned(Arc<Model>, Engine),
    /// The exact baseline, `warm` from the plan of the default preset.
    CpSat { library: cp_sat::Library, warm: bool },
}

impl Solver {
    /// Whether the bound is part of the method, so that its time counts.
    fn uses_bound(&self) -> bool {
        matches!(self, Self::Method(Method::Portfolio, _) | Self::Guided(_) | Self::CpSat { .. })
    }
}

/// A method with its budget, under a name.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) solver: Solver,
    pub(crate) limits: Limits,
}

impl Entry {
    /// A method with a budget of evaluations of the performance model.
    pub(crate) fn evaluations(name: &str, method: Method, evaluations: u64) -> Self {
        let limits = Limits { work: Some(evaluations), time: None };
        Self { name: name.to_owned(), solver: Solver::Method(method, Effort::Search), limits }
    }

    /// The portfolio with a time limit.
    pub(crate) fn timed(name: &str, time: Duration, work: Option<u64>) -> Self {
        let limits = Limits { work, time: Some(time) };
        Self { name: name.to_owned(), solver: Solver::Method(Method::Portfolio, Effort::Search), limits }
    }

    /// The constructive portfolio.
    pub(crate) fn constructive(name: &str) -> Self {
        let solver = Solver::Method(Method::Portfolio, Effort::Constructive);
        Self { name: name.to_owned(), solver, limits: Limits::default() }
    }

    /// The portfolio with the bench's guide.
    pub(crate) fn guided(name: &str, effort: Effort, time: Option<Duration>) -> Self {
        Self { name: name.to_owned(), solver: Solver::Guided(effort), limits: Limits { work: None, time } }
    }
}

/// What one method found on one instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// Objective, or nothing if no feasible plan was found.
    pub(crate) objective: Option<u64>,
    /// The bound that an exact method has proven.
    pub(crate) bound: Option<u64>,
    /// Wall-clock time, the computation of the bound included.
    pub(crate) time: Duration,
}

/// A search whose plan, if it is feasible, has passed the independent checker.
pub(crate) struct Checked {
    pub(crate) outcome: Outcome<Plan>,
    /// The bound that an exact method has proven.
    proven: Option<u64>,
    /// Wall-clock time, the computation of the bound included.
    time: Duration,
}

/// Runs one method and sums up what it found.
pub(crate) fn measure(
    problem: &Problem,
    entry: &Entry,
    guide: Option<&OrderGuide>,
    seed: Seed,
    interrupt: &Arc<AtomicBool>,
) -> Result<Measured, CliError> {
    let Checked { outcome, proven, time } = checked(problem, entry, guide, seed, interrupt)?;
    let objective = outcome.best.map(|(score, _)| score).filter(|score| score.is_feasible()).map(|score| score.value);
    Ok(Measured { objective, bound: proven, time })
}

/// Runs one method; its plan goes through the independent checker. The time includes that of the guide.
pub(crate) fn checked(
    problem: &Problem,
    entry: &Entry,
    guide: Option<&OrderGuide>,
    seed: Seed,
    interrupt: &Arc<AtomicBool>,
) -> Result<Checked, CliError> {
    let started = Instant::now();
    let bound = if entry.solver.uses_bound() { solve::bound(problem) } else { 0 };
    let spent = started.elapsed();
    let limits = Limits { time: entry.limits.time.map(|limit| limit.saturating_sub(spent)), ..entry.limits };
    let mut run = Runner::new(limits, seed).with_bound(bound).with_interrupt(Arc::clone(interrupt));
    let proven = search(problem, entry, guide, &mut run)?;
    let outcome = run.finish();
    let time = started.elapsed();
    if let Some((score, plan)) = outcome.best.as_ref().filter(|(score, _)| score.is_feasible()) {
        let cost = check(problem, plan).map_err(|violation| CliError::bug(format!("{}: {violation}", entry.name)))?;
        if problem.score(&cost) != *score {
            return Err(CliError::bug(format!("{}: the checker disagrees on the objective", entry.name)));
        }
        if proven.is_some_and(|bound| bound > score.value) {
            return Err(CliError::bug(format!("{}: a plan beats its proven bound", entry.name)));
        }
    }
    Ok(Checked { outcome, proven, time })
}

/// Runs one method; returns the bound that it has proven, if it is an exact one.
fn search(
    problem: &Problem,
    entry: &Entry,
    guide: Option<&OrderGuide>,
    run: &mut Runner<Plan>,
) -> Result<Option<u64>, CliError> {
    match &entry.solver {
        Solver::Learned(model, engine) => {
            let failed = |error| CliError::input(format!("{}: {error}", entry.name));
            model.search(problem, *engine, run).map(|()| None).map_err(failed)
        }
        Solver::Method(method, effort) => {
            solve::solve(problem, *method, *effort, None, run);
            Ok(None)
        }
        Solver::Guided(effort) => {
            solve::solve_guided(problem, Method::Portfolio, *effort, None, guide, run);
            Ok(None)
        }
        Solver::CpSat { library, warm } => {
            if *warm {
                let limits = run.set_limits(Limits { work: Some(solve::DEFAULT_WORK), time: Some(DEFAULT_TIME) });
                solve::solve(problem, Method::Portfolio, Effort::Search, None, run);
                run.set_limits(limits);
            }
            let failed = |error| CliError::input(format!("{}: {error}", entry.name));
            cp_sat::search(problem, library, run).map(Some).map_err(failed)
        }
    }
}

/// Time limit of the default preset.
pub(crate) const DEFAULT_TIME: Duration = Duration::from_secs(1);

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
    /// Standard deviation over seeds of the mean improvement, if there are several seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed_deviation: Option<f64>,
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
    /// What else there is to say, or why the row is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

impl Row {
    /// The row of a method that could not run.
    pub(crate) fn absent(method: String, why: String) -> Self {
        let (improvement, seed_deviation, gap_best, gap_bound, ms) = (None, None, None, None, None);
        Self {
            method,
            improvement,
            seed_deviation,
            gap_best,
            gap_bound,
            ms,
            at_least_as_good: 0.0,
            feasible: 0.0,
            note: Some(why),
        }
    }
}

/// Standard deviation of the means of `parts` equal parts, if there are several.
fn deviation_over(parts: usize, values: &[f64]) -> Option<f64> {
    if parts < 2 || values.is_empty() || !values.len().is_multiple_of(parts) {
        return None;
    }
    let means: Vec<f64> = values.chunks(values.len() / parts).filter_map(|part| Some(Stats::of(part)?.mean)).collect();
    Stats::of(&means).map(|stats| stats.standard_error * (parts as f64).sqrt())
}

/// What an exact method has proven: `results` are its own, `bounds` what was known without it.
fn proofs(results: &[Measured], bounds: &[u64]) -> Option<String> {
    let proven: Vec<u64> = results.iter().filter_map(|result| result.bound).collect();
    let optimal = results.iter().filter(|result| result.objective.is_some() && result.objective == result.bound);
    let raised = proven.iter().zip(bounds).filter(|(own, known)| own > known);
    (!proven.is_empty()).then(|| {
        let [optimal, raised] = [optimal.count(), raised.count()];
        format!("proves {optimal} of {} graphs optimal and raises the bound of {raised}", proven.len())
    })
}

/// The rows of a table: `results[method][instance]`, compared with method `reference`. `bounds` are joined by those that exact
/// methods have proven. Several seeds lie one after the other, each with all instances.
pub(crate) fn rows(
    entries: &[Entry],
    results: &[Vec<Measured>],
    bounds: &[u64],
    reference: usize,
    seeds: usize,
) -> Vec<Row> {
    let instances = 0..bounds.len();
    let proven = |i: usize| results.iter().filter_map(|of_method| of_method[i].bound).max();
    let best_bounds: Vec<u64> = instances.clone().map(|i| bounds[i].max(proven(i).unwrap_or(0))).collect();
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
                solved().map(|(i, value)| percent(value / best_bounds[i].max(1) as f64 - 1.0)).collect();
            let ms: Vec<f64> = results[m].iter().map(|r| r.time.as_secs_f64() * 1e3).collect();
            let count = instances.len().max(1) as f64;
            Row {
                method: entry.name.clone(),
                improvement: Stats::of(&improvements),
                seed_deviation: deviation_over(seeds, &improvements),
                gap_best: Stats::of(&gaps),
                gap_bound: Stats::of(&to_bound),
                ms: Stats::of(&ms),
                at_least_as_good: percent(against().filter(|(value, base)| value <= base).count() as f64 / count),
                feasible: percent(solved().count() as f64 / count),
                note: proofs(&results[m], bounds),
            }
        })
        .collect()
}
