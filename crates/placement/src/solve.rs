//! Placement from start to end: bound, constructive portfolio, improvement.

use crate::guide::OrderGuide;
use crate::problem::{Objective, Plan, Problem};
use crate::simulate::Simulator;
use crate::{baselines, bounds, list, peak, superstep};
use labrys_search::{Runner, brkga};

/// Which method searches. Everything but [`Method::Portfolio`] is a baseline, named as in the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// The constructive portfolio, then annealing: the one to use.
    Portfolio,
    /// The genetic algorithm with uniform proposals.
    Brkga,
    /// The same with hyper-parameters from a grid search.
    TunedBrkga,
    /// Greedy moves from random starts.
    LocalSearch,
    /// Graph partitioning and a depth-first order.
    GpDfs,
    /// List scheduling by b-level.
    List,
    /// Heterogeneous earliest finish time.
    Heft,
    /// Independent random plans.
    Random,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 8] = [
        Self::Portfolio,
        Self::Brkga,
        Self::TunedBrkga,
        Self::LocalSearch,
        Self::GpDfs,
        Self::List,
        Self::Heft,
        Self::Random,
    ];

    /// Name for the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portfolio => "portfolio",
            Self::Brkga => "brkga",
            Self::TunedBrkga => "tuned-brkga",
            Self::LocalSearch => "local-search",
            Self::GpDfs => "gp-dfs",
            Self::List => "list",
            Self::Heft => "heft",
            Self::Random => "random",
        }
    }
}

/// How far the portfolio goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Constructive methods only.
    Constructive,
    /// Improves until the runner stops.
    Search,
}

/// Candidate solutions that the default preset looks at: well below its second of time on models with thousands of ops.
pub const DEFAULT_WORK: u64 = 1_000_000;

/// A proven lower bound on the objective.
pub fn bound(problem: &Problem) -> u64 {
    match problem.objective {
        Objective::Makespan => bounds::makespan(problem),
        Objective::PeakMemory => bounds::memory(problem, bounds::DEFAULT_BUDGET),
    }
}

/// Searches until the runner stops or the method is done. `start` is a plan to begin from; the result is never worse.
pub fn solve(problem: &Problem, method: Method, effort: Effort, start: Option<Plan>, run: &mut Runner<Plan>) {
    solve_guided(problem, method, effort, start, None, run);
}

/// The same; a guide gives the portfolio more orders to start from if the objective is peak memory. What starts the improvement
/// is never worse than without it.
pub fn solve_guided(
    problem: &Problem,
    method: Method,
    effort: Effort,
    start: Option<Plan>,
    guide: Option<&OrderGuide>,
    run: &mut Runner<Plan>,
) {
    let one_plan = |plan: Plan, by, run: &mut Runner<Plan>| {
        let score = problem.score(&Simulator::new(problem).simulate(&plan));
        run.spend(1);
        run.offer(score, by, || plan);
    };
    if let Some(start) = start {
        one_plan(start, "start", run);
    }
    match method {
        Method::Portfolio => portfolio(problem, effort, guide, run),
        Method::Brkga => baselines::brkga::search(problem, &brkga::Params::default(), run),
        Method::TunedBrkga => baselines::tuned_brkga::search(problem, run),
        Method::LocalSearch => baselines::local_search::search(problem, run),
        Method::GpDfs => one_plan(baselines::gp_dfs::plan(problem), "GP+DFS", run),
        Method::List => one_plan(baselines::list::plan(problem), "list scheduling", run),
        Method::Heft => one_plan(baselines::heft::plan(problem), "HEFT", run),
        Method::Random => baselines::random::search(problem, run),
    }
}

/// The constructive portfolio, then the improvement that fits the objective and the links.
fn portfolio(problem: &Problem, effort: Effort, guide: Option<&OrderGuide>, run: &mut Runner<Plan>) {
    constructive(problem, run);
    let unguided = run.best().map(|(_, plan)| plan.clone());
    let guide = guide.filter(|_| problem.objective == Objective::PeakMemory && !run.should_stop());
    let guided = guide.and_then(|guide| peak::guided(problem, guide, run));
    let misses_limits = run.best_score().is_some_and(|score| !score.is_feasible());
    if effort == Effort::Constructive {
        if misses_limits {
            fit(problem, REPAIR_WORK, run);
        }
        return;
    }
    if misses_limits && problem.objective == Objective::Makespan && !run.should_stop() {
        fit(problem, u64::MAX, run);
    }
    let Some(start) = run.best().map(|(_, plan)| plan.clone()) else { return };
    if run.should_stop() {
        return;
    }
    match problem.objective {
        Objective::PeakMemory => {
            peak::anneal_guided(problem, unguided.as_ref().unwrap_or(&start), guided.as_ref(), run);
        }
        Objective::Makespan if by_super_steps(problem) => superstep::improve(problem, &start, run),
        Objective::Makespan => list::improve(problem, &start, run),
    }
}

/// Share of the budget that goes into meeting the memory limits before the makespan is looked at.
const FIT_SHARE: f64 = 0.5;
/// Moves that repair a constructive plan which misses the memory limits: some milliseconds.
const REPAIR_WORK: u64 = 50_000;

/// Searches for a plan that meets the memory limits, whatever its makespan, and offers the first one. Takes
/// `most_work` moves at most.
fn fit(problem: &Problem, most_work: u64, run: &mut Runner<Plan>) {
    let by_memory = Problem { objective: Objective::PeakMemory, ..problem.clone() };
    // Any feasible plan meets this bound, so that the search ends with the first.
    let mut part = run.part(FIT_SHARE, "fit").with_bound(u64::MAX);
    part.limit_work(most_work);
    peak::constructive(&by_memory, &mut part);
    if let Some(start) = part.best().map(|(_, plan)| plan.clone()) {
        peak::anneal(&by_memory, &start, &mut part);
    }
    let outcome = part.finish();
    run.spend(outcome.work);
    if let Some((_, plan)) = outcome.best {
        run.offer(problem.score(&Simulator::new(problem).simulate(&plan)), "fit to memory", || plan);
    }
}

/// Whether transfers are nothing but rendezvous and memory is no concern.
fn by_super_steps(problem: &Problem) -> bool {
    superstep::applies(problem) && !problem.is_memory_limited()
}

fn constructive(problem: &Problem, run: &mut Runner<Plan>) {
    if problem.objective == Objective::Makespan {
        if superstep::applies(problem) {
            superstep::constructive(problem, run);
        }
        if !by_super_steps(problem) {
            list::constructive(problem, run);
        }
    }
    if problem.objective == Objective::PeakMemory || problem.is_memory_limited() {
        peak::constructive(problem, run);
    }
}
