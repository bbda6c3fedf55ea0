use super::*;
use crate::check;
use crate::guide::{MaxDegree, NodeGuide, Random};
use crate::reduce::Rules;
use labrys_graph::{Graph, generate};
use labrys_search::{Guide, Limits, Outcome, Runner, Seed, StopReason};

fn run(graph: &Graph, switches: Switches, guide: Option<&NodeGuide>, work: u64) -> (u64, Outcome<Vec<bool>>) {
    let mut runner = Runner::new(Limits { time: None, work: Some(work) }, Seed(1));
    solve(graph, guide, switches, &mut runner);
    let bound = runner.bound().unwrap_or(0);
    (bound, runner.finish())
}

fn solved(graph: &Graph) -> u64 {
    let (bound, outcome) = run(graph, Switches::default(), None, 1_000_000);
    let (score, cover) = outcome.best.unwrap();
    assert_eq!(check::vertex_cover(graph, &listed(&cover)), Ok(score.value));
    assert_eq!((outcome.stop, bound), (StopReason::Optimal, score.value));
    score.value
}

fn brute_force(graph: &Graph) -> u64 {
    let covers = |set: u32| graph.edges().all(|(a, b)| set >> a & 1 == 1 || set >> b & 1 == 1);
    (0..1u32 << graph.nodes()).filter(|&set| covers(set)).map(u32::count_ones).min().unwrap().into()
}

#[test]
fn odd_graphs_are_solved_at_once() {
    let clique = |n: u32| Graph::from_edges(n, (0..n).flat_map(|b| (0..b).map(move |a| (a, b))));
    assert_eq!(solved(&Graph::from_edges(0, [])), 0);
    assert_eq!(solved(&Graph::from_edges(1, [])), 0);
    assert_eq!(solved(&Graph::from_edges(2, [(0, 1)])), 1);
    assert_eq!(solved(&clique(5)), 4);
    assert_eq!(solved(&clique(200)), 199);
    assert_eq!(solved(&Graph::from_edges(9, [(0, 1), (1, 2), (4, 5), (5, 6), (6, 4)])), 3);
}

#[test]
fn small_graphs_are_solved_exactly_whatever_the_switches() {
    let mut rng = Seed(2).stream("cover", 0);
    for round in 0..60u32 {
        let n = 10 + round % 7;
        let graph = Graph::from_edges(n, generate::erdos_renyi(n, [0.2, 0.4, 0.7][round as usize % 3], &mut rng));
        let optimum = brute_force(&graph);
        for rules in [Rules::ALL, Rules::NONE] {
            for (local_search, exact) in [(true, true), (true, false), (false, true)] {
                let (bound, outcome) = run(&graph, Switches { rules, local_search, exact }, None, 20_000);
                let (score, cover) = outcome.best.unwrap();
                assert_eq!(check::vertex_cover(&graph, &listed(&cover)), Ok(optimum));
                assert!(bound <= optimum && score.value == optimum);
                assert!(!exact || outcome.stop == StopReason::Optimal, "{:?}", outcome.stop);
            }
        }
    }
}

#[test]
fn planted_optima_are_found_and_the_exact_search_agrees() {
    let planted = generate::ModelRb::hard(12).generate(&mut Seed(4).stream("rb", 0));
    let graph = Graph::from_edges(planted.nodes, planted.edges);
    assert_eq!(solved(&graph), u64::from(planted.nodes) - 12);
    let cover = branch::smallest_cover(&graph, graph.nodes() + 1, u64::MAX, &mut || false).unwrap().unwrap();
    assert_eq!(size(&cover), graph.nodes() - 12);
    assert_eq!(branch::smallest_cover(&graph, size(&cover), u64::MAX, &mut || false), Ok(None));
}

/// Bounds, greedy covers and clique search on sparse and dense graphs against each other.
#[test]
fn methods_agree() {
    let mut rng = Seed(9).stream("agree", 0);
    for density in [0.05, 0.1, 0.3, 0.6, 0.9] {
        let graph = Graph::from_edges(60, generate::erdos_renyi(60, density, &mut rng));
        let optimum = solved(&graph) as usize;
        let clique::Answer::Best(set) = clique::independent_set(&graph, 0, &mut |_| false) else { panic!("no answer") };
        assert_eq!(check::independent_set(&graph, &set), Ok(60 - optimum as u64));
        assert!(bound::lower_bound(&graph) <= optimum);
        for cover in
            [greedy::min_degree(&graph), greedy::max_degree(&graph), greedy::by_advice(&graph, &[1.0, f32::NAN])]
        {
            assert!(check::vertex_cover(&graph, &listed(&cover)).unwrap() >= optimum as u64);
        }
    }
}

/// The same search with more time is the same search for longer.
#[test]
fn a_search_that_gives_up_knows_how_far_it_came() {
    for density in [0.05, 0.5] {
        let graph = Graph::from_edges(130, generate::erdos_renyi(130, density, &mut Seed(5).stream("far", 0)));
        let mut last = 0.0;
        for doubling in 8..40 {
            match branch::smallest_cover(&graph, graph.nodes(), 1 << doubling, &mut || false) {
                Ok(_) => {
                    assert!(last > 0.01, "{last}");
                    break;
                }
                Err(gave_up) => {
                    assert!((last..=1.0).contains(&gave_up.explored), "{last} {gave_up:?}");
                    last = gave_up.explored;
                }
            }
        }
    }
}

/// Answers of the wrong length, not finite.
struct Hostile;

impl Guide<Graph> for Hostile {
    type Advice = Vec<f32>;

    fn advise(&self, graph: &Graph) -> Vec<f32> {
        (0..graph.nodes() / 2 + 3).map(|v| if v % 3 == 0 { f32::NAN } else { f32::INFINITY }).collect()
    }
}

#[test]
fn any_guide_is_safe_and_the_start_never_worse() {
    let graph = Graph::from_edges(120, generate::erdos_renyi(120, 0.1, &mut Seed(3).stream("guide", 0)));
    let start = Switches { rules: Rules::NONE, local_search: false, exact: false };
    let value = |guide: Option<&NodeGuide>| {
        let (score, cover) = run(&graph, start, guide, 1_000).1.best.unwrap();
        assert_eq!(check::vertex_cover(&graph, &listed(&cover)), Ok(score.value));
        score.value
    };
    let plain = value(None);
    let guides: [&NodeGuide; 3] = [&Random(Seed(1)), &MaxDegree, &Hostile];
    assert!(guides.into_iter().all(|guide| value(Some(guide)) <= plain));
}

#[test]
fn the_same_seed_and_work_give_the_same_cover() {
    let graph = Graph::from_edges(300, generate::erdos_renyi(300, 0.1, &mut Seed(8).stream("same", 0)));
    let once = || run(&graph, Switches { exact: false, ..Switches::default() }, None, 5_000).1.best;
    assert_eq!(once(), once());
}
