use super::*;
use labrys_graph::generate;
use labrys_search::Seed;

/// Smallest cover by trying all sets.
fn brute_force(graph: &Graph) -> usize {
    let n = graph.nodes();
    let covers = |set: u32| graph.edges().all(|(a, b)| set >> a & 1 == 1 || set >> b & 1 == 1);
    (0..1u32 << n).filter(|&set| covers(set)).map(|set| set.count_ones() as usize).min().unwrap()
}

fn smallest_cover(graph: &Graph) -> Vec<bool> {
    let n = graph.nodes();
    let covers = |set: &u32| graph.edges().all(|(a, b)| set >> a & 1 == 1 || set >> b & 1 == 1);
    let best = (0..1u32 << n).filter(covers).min_by_key(|set| set.count_ones()).unwrap();
    (0..n).map(|v| best >> v & 1 == 1).collect()
}

fn single(rule: usize) -> Rules {
    Rules { degree: rule == 0, unconfined: rule == 1, twin: rule == 2, alternative: rule == 3, linear: rule == 4 }
}

/// Each rule alone and all together keep the optimum, and lifting gives a cover of that size.
#[test]
fn rules_keep_the_optimum() {
    let mut rng = Seed(11).stream("reduce", 0);
    for round in 0..600u32 {
        let n = 4 + round % 11;
        let density = [0.15, 0.3, 0.5, 0.7][round as usize % 4];
        let graph = Graph::from_edges(n, generate::erdos_renyi(n, density, &mut rng));
        let optimum = brute_force(&graph);
        for rules in (0..5).map(single).chain([Rules::ALL, Rules::NONE]) {
            let reduced = reduce(&graph, rules, &mut || false);
            let kernel_cover = smallest_cover(&reduced.kernel);
            let size = kernel_cover.iter().filter(|&&covered| covered).count();
            assert_eq!(reduced.offset + size, optimum, "{rules:?} of {:?}", graph.edges().collect::<Vec<_>>());
            let cover = reduced.lift(&kernel_cover);
            assert!(graph.edges().all(|(a, b)| cover[a as usize] || cover[b as usize]), "{rules:?}");
            assert_eq!(cover.iter().filter(|&&covered| covered).count(), optimum, "{rules:?}");
        }
        assert!(half_integral_bound(&graph) <= optimum);
    }
}

/// Sparse graphs of maximum degree 3 and 4 are where twins, funnels and desks are.
#[test]
fn rules_keep_the_optimum_of_regular_graphs() {
    let mut rng = Seed(12).stream("reduce", 1);
    for round in 0..300u32 {
        let (n, d) = (8 + 2 * (round % 4), 3 + round % 2);
        let graph = Graph::from_edges(n, generate::random_regular(n, d, &mut rng));
        let optimum = brute_force(&graph);
        for rules in [single(2), single(3), Rules::ALL] {
            let reduced = reduce(&graph, rules, &mut || false);
            let cover = reduced.lift(&smallest_cover(&reduced.kernel));
            assert!(graph.edges().all(|(a, b)| cover[a as usize] || cover[b as usize]));
            assert_eq!(cover.iter().filter(|&&covered| covered).count(), optimum, "{rules:?}");
        }
    }
}

#[test]
fn trees_and_cycles_vanish() {
    let path = Graph::from_edges(1_000, (1..1_000).map(|v| (v - 1, v)));
    let cycle = Graph::from_edges(999, (0..999).map(|v| (v, (v + 1) % 999)));
    for (graph, optimum) in [(path, 500), (cycle, 500), (Graph::from_edges(0, []), 0), (Graph::from_edges(3, []), 0)] {
        let reduced = reduce(&graph, Rules::ALL, &mut || false);
        assert_eq!((reduced.kernel.nodes(), reduced.offset), (0, optimum));
    }
}

#[test]
fn stopping_early_is_safe() {
    let mut rng = Seed(5).stream("reduce", 2);
    let graph = Graph::from_edges(300, generate::barabasi_albert(300, 2, &mut rng));
    let mut asked = 0;
    let reduced = reduce(&graph, Rules::ALL, &mut || {
        asked += 1;
        asked > 1
    });
    let cover = reduced.lift(&vec![true; reduced.kernel.nodes()]);
    assert!(graph.edges().all(|(a, b)| cover[a as usize] || cover[b as usize]));
}
