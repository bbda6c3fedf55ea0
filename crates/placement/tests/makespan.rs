//! Schedulers for run time: valid plans, exact scores, and bounds that hold.

mod common;

use common::problems;
use labrys_placement::solve::{self, Effort, Method};
use labrys_placement::{
    Link, Objective, Plan, Problem, Transfers, baselines, bounds, check, list, superstep, synthetic,
};
use labrys_search::{Limits, Runner, Score, Seed};
use proptest::prelude::*;
use std::sync::Arc;

fn free_links() -> impl Strategy<Value = Problem> {
    problems().prop_map(|(problem, _)| problem.with_link(Link::FREE).with_transfers(Transfers::Synchronous))
}

/// Improves the plan for this much work and checks the best one and its score.
fn improved(problem: &Problem, work: u64, improve: impl Fn(&Problem, &Plan, &mut Runner<Plan>)) -> (Score, Plan) {
    let start = baselines::random::plan(problem, &mut Seed(1).stream("plan", 0));
    let bound = bounds::makespan(problem);
    let mut run = Runner::new(Limits { work: Some(work), time: None }, Seed(1)).with_bound(bound);
    improve(problem, &start, &mut run);
    let (score, plan) = run.finish().best.expect("an improver offers at least one plan");
    assert_eq!(check::check_order(problem, &plan).map(|cost| problem.score(&cost)), Ok(score));
    assert!(bound <= score.value);
    (score, plan)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_plan_beats_the_bound((problem, seed) in problems()) {
        let plan = baselines::random::plan(&problem, &mut Seed(seed).stream("plan", 0));
        prop_assert!(bounds::makespan(&problem) <= check::check(&problem, &plan).unwrap().makespan);
    }

    #[test]
    fn superstep_lists_are_valid(problem in free_links()) {
        improved(&problem, 100, |problem, _, run| superstep::constructive(problem, run));
    }

    #[test]
    fn lists_are_valid_in_every_mode((problem, seed) in problems()) {
        let problem = if seed % 2 == 0 { problem.with_memory(seed % 5_000) } else { problem };
        improved(&problem, 100, |problem, _, run| list::constructive(problem, run));
        for plan in [baselines::heft::plan(&problem), baselines::list::plan(&problem)] {
            prop_assert!(check::check_order(&problem, &plan).is_ok());
        }
    }

    #[test]
    fn annealing_is_valid_in_every_mode((problem, seed) in problems()) {
        let problem = if seed % 2 == 0 { problem.with_memory(seed % 5_000) } else { problem };
        improved(&problem, 2_000, list::anneal::anneal);
    }

    #[test]
    fn superstep_searches_are_valid(problem in free_links()) {
        improved(&problem, 200, superstep::improve);
    }
}

#[test]
fn threads_do_not_change_the_result() {
    let problem = Problem::new(Arc::new(synthetic::graph(Seed(0), 3)), 2, Objective::Makespan);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| improved(&problem, 3_000, superstep::improve))
    };
    assert_eq!(with(1), with(3));
}

/// With three devices or more a relocated op's transfers to third devices start elsewhere, also far behind the change: graphs
/// much longer than the distance of two checkpoints of the timing.
#[test]
fn annealing_over_many_devices_keeps_exact_times() {
    let problem = Problem::new(Arc::new(synthetic::graph(Seed(0), 1)), 8, Objective::Makespan)
        .with_link(Link { bandwidth: Some(1e6), latency: 1_000 });
    for seed in 0..4 {
        let mut run = Runner::new(Limits { work: Some(200_000), time: None }, Seed(seed));
        solve::solve(&problem, Method::Portfolio, Effort::Search, None, &mut run);
        let (score, plan) = run.finish().best.expect("the portfolio always has a plan");
        assert_eq!(check::check(&problem, &plan).map(|cost| problem.score(&cost)), Ok(score), "seed {seed}");
    }
}
