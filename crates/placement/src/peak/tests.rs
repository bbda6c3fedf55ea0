use super::change::{Change, Move};
use super::state::State;
use super::*;
use crate::random_graph::decorated;
use crate::{Objective, Weights, baselines, check, synthetic};
use labrys_dataflow::{OpId, TensorId};
use labrys_graph::Id;
use labrys_search::{Limits, Seed};
use rand::RngExt as _;
use std::sync::Arc;

/// A problem with scratch memory, weights, control edges, outputs and one to four devices.
fn problem(number: u64) -> Problem {
    let mut rng = Seed(1).stream("peak", number);
    let graph = decorated(number, 39);
    let weights = if rng.random_bool(0.5) { Weights::Resident } else { Weights::Ignored };
    Problem::new(graph, rng.random_range(1..5), Objective::PeakMemory).with_weights(weights)
}

fn random_move(state: &State<'_>, rng: &mut labrys_search::seed::Rng) -> Option<Move> {
    let op = OpId::new(rng.random_range(0..state.order.len()));
    match rng.random_range(0..3) {
        0 => {
            let (earliest, latest) = state.slack(op);
            let to = rng.random_range(earliest..=latest);
            (to != state.position(op)).then_some(Move::Shift { op, to })
        }
        1 => {
            let to = rng.random_range(0..state.devices);
            (to != state.home(op)).then_some(Move::Place { op, to })
        }
        _ => {
            let tensors = state.graph.tensor_count();
            (tensors > 0).then(|| Move::Flip { tensor: TensorId::new(rng.random_range(0..tensors)) })
        }
    }
}

/// After any moves the state is what a state made afresh from its plan is, and the checker agrees on the peaks.
#[test]
fn moves_keep_every_count_exact() {
    for number in 0..150 {
        let problem = problem(number);
        let mut rng = Seed(2).stream("moves", number);
        let plan = baselines::random::plan(&problem, &mut rng);
        let mut state = State::new(&problem, &plan);
        let mut change = Change::new(state.devices);
        for _ in 0..60 {
            let Some(what) = random_move(&state, &mut rng) else { continue };
            let before = state.energy;
            let delta = change.price(&state, what);
            change.commit(&mut state);
            let plan = state.to_plan();
            let mut fresh = state.clone();
            fresh.fill();
            fresh.rescale(1.0 / state.scale[0]);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs() + b.abs());
            assert!(close(before + delta, fresh.energy), "{number} {what:?}: {} {}", before + delta, fresh.energy);
            let reread = State::new(&problem, &plan);
            assert_eq!((&state.order, &state.position), (&reread.order, &reread.position), "{number} {what:?}");
            assert_eq!((&state.users, &state.readers), (&fresh.users, &fresh.readers), "{number} {what:?}");
            assert_eq!((&state.cells, &state.gaps), (&fresh.cells, &fresh.gaps), "{number} {what:?}");
            let peaks = check(&problem, &plan).unwrap().peaks;
            assert_eq!(state.peaks().map(|peak| peak as u64).collect::<Vec<_>>(), peaks, "{number} {what:?}");
        }
    }
}

fn run(problem: &Problem, work: u64) -> labrys_search::Outcome<Plan> {
    let mut run = Runner::new(Limits { work: Some(work), time: None }, Seed(5));
    let start = baselines::random::plan(problem, &mut Seed(0).stream("start", 0));
    anneal(problem, &start, &mut run);
    run.finish()
}

#[test]
fn what_is_offered_is_valid_and_exactly_scored() {
    for number in 0..30 {
        let problem = problem(number);
        let outcome = run(&problem, 3_001);
        assert_eq!(outcome.work, 3_001);
        let (score, plan) = outcome.best.unwrap();
        assert_eq!(problem.score(&check(&problem, &plan).unwrap()), score);
    }
}

#[test]
fn threads_do_not_change_the_result() {
    let graph = Arc::new(synthetic::graph(Seed(0), 1));
    let problem = Problem::new(graph, 2, Objective::PeakMemory);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&problem, 10_000).best.unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn memory_limits_are_met_when_they_can_be() {
    let graph = Arc::new(synthetic::graph(Seed(0), 2));
    let free = Problem::new(graph, 2, Objective::PeakMemory);
    let reached = run(&free, 50_000).best.unwrap().0.value;
    let mut limited = free.clone();
    (limited.devices[0].memory, limited.devices[1].memory) = (Some(reached * 6 / 10), Some(reached * 16 / 10));
    let (score, plan) = run(&limited, 50_000).best.unwrap();
    assert!(score.is_feasible(), "{score:?}");
    assert!(check(&limited, &plan).unwrap().peaks[0] <= reached * 6 / 10);
}
