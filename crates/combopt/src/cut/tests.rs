use super::*;
use crate::check;
use crate::cover::listed;
use labrys_graph::{Graph, GraphBuilder, generate};
use labrys_search::{Limits, Outcome, Runner, Seed, StopReason};
use rand::RngExt as _;

fn weighted(n: u32, density: f64, rng: &mut labrys_search::seed::Rng) -> Graph {
    let mut builder = GraphBuilder::new(n);
    for (a, b) in generate::erdos_renyi(n, density, rng) {
        builder.add_weighted(a, b, rng.random_range(-4..=5));
    }
    builder.build().0
}

fn brute_force(graph: &Graph) -> i64 {
    let cut = |set: u32| -> i64 {
        graph.weighted_edges().filter(|((a, b), _)| (set >> a ^ set >> b) & 1 == 1).map(|(_, weight)| weight).sum()
    };
    (0..1u32 << graph.nodes()).map(cut).max().unwrap()
}

fn run(graph: &Graph, switches: Switches, work: u64) -> Outcome<Vec<bool>> {
    let mut runner = Runner::new(Limits { time: None, work: Some(work) }, Seed(1));
    solve(graph, None, switches, &mut runner);
    runner.finish()
}

fn value(graph: &Graph, outcome: &Outcome<Vec<bool>>) -> i64 {
    let (score, side) = outcome.best.as_ref().unwrap();
    let cut = check::cut(graph, &listed(side)).unwrap();
    assert_eq!(total_positive(graph) - cut, score.value as i64);
    cut
}

#[test]
fn small_graphs_are_solved_exactly_whatever_the_switches() {
    let mut rng = Seed(1).stream("cut", 0);
    for round in 0..60u32 {
        let graph = weighted(6 + round % 7, [0.3, 0.5, 0.9][round as usize % 3], &mut rng);
        let optimum = brute_force(&graph);
        assert!(bound::upper_bound(&graph) >= optimum);
        assert_eq!(exact::heaviest_cut(&graph, &mut |_| false).unwrap().0, optimum);
        for reductions in [true, false] {
            let outcome = run(&graph, Switches { reductions, ..Switches::default() }, 10_000);
            assert_eq!((value(&graph, &outcome), outcome.stop), (optimum, StopReason::Optimal));
            for (anneal, tabu) in [(true, true), (true, false), (false, true)] {
                let outcome = run(&graph, Switches { reductions, anneal, tabu, exact: false }, 60_000);
                assert_eq!(value(&graph, &outcome), optimum);
            }
        }
    }
}

#[test]
fn reductions_keep_the_optimum() {
    let mut rng = Seed(2).stream("cut", 1);
    for round in 0..200u32 {
        let graph = weighted(8 + round % 6, 0.3, &mut rng);
        let reduced = reduce::reduce(&graph, &mut || false);
        let (_, side) = exact::heaviest_cut(&reduced.kernel, &mut |_| false).unwrap();
        assert_eq!(check::cut(&graph, &listed(&reduced.lift(&side))), Ok(brute_force(&graph)));
    }
}

#[test]
fn odd_graphs_are_solved_at_once() {
    let clique = |n: u32| Graph::from_edges(n, (0..n).flat_map(|b| (0..b).map(move |a| (a, b))));
    let cases = [
        (Graph::from_edges(0, []), 0),
        (Graph::from_edges(3, []), 0),
        (Graph::from_edges(2, [(0, 1)]), 1),
        (clique(5), 6),
        (Graph::from_edges(2_000, (0..2_000).map(|v| (v, (v + 1) % 2_000))), 2_000),
        (Graph::from_edges(400, generate::torus(20, 20)), 800),
    ];
    for (graph, expected) in cases {
        let outcome = run(&graph, Switches::default(), 10_000_000);
        assert_eq!((value(&graph, &outcome), outcome.stop), (expected, StopReason::Optimal));
    }
}

#[test]
fn a_state_knows_its_gains() {
    let mut rng = Seed(3).stream("cut", 2);
    let graph = weighted(30, 0.3, &mut rng);
    let mut state = State::new(&graph, &[false; 30]);
    for _ in 0..200 {
        let v = rng.random_range(0..30);
        let (before, gain) = (state.cut(), state.gain(v));
        state.flip(v);
        assert_eq!(state.cut(), before + gain);
        assert_eq!(check::cut(&graph, &listed(state.side())), Ok(state.cut()));
    }
}

#[test]
fn the_same_seed_and_work_give_the_same_cut() {
    let graph = weighted(200, 0.1, &mut Seed(4).stream("cut", 3));
    assert_eq!(run(&graph, Switches::default(), 300_000).best, run(&graph, Switches::default(), 300_000).best);
}
