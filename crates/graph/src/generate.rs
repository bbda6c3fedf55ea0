//! Random undirected graphs: the families that REGAL (A.1.4) and RL4GO draw from, and those of the published benchmarks. Edges
//! come as pairs `(low, high)`, each once. The same generator state gives the same edges on every machine.

mod model_rb;
mod power_law;
mod regular;
mod rmat;
mod rudy;

pub use model_rb::{ModelRb, Planted};
pub use power_law::power_law_cluster;
pub use regular::random_regular;
pub use rmat::rmat;
pub use rudy::{planar, random_signs, torus, union};

use rand::{Rng, RngExt as _, seq::SliceRandom as _};
use std::collections::BTreeSet;

/// An undirected edge, lower node first.
pub type Edge = (u32, u32);

fn edge(a: u32, b: u32) -> Edge {
    (a.min(b), a.max(b))
}

/// Erdos-Renyi G(n, p): every pair independently with probability `p`. O(n + m) by geometric skips (Batagelj & Brandes 2005).
pub fn erdos_renyi(n: u32, p: f64, rng: &mut impl Rng) -> Vec<Edge> {
    let mut edges = vec![];
    skip_pairs(pairs_below(n), p, rng, |k| edges.push(nth_pair(k)));
    edges
}

/// Barabasi-Albert: nodes arrive one by one and attach to `m` distinct earlier nodes, chosen in proportion to their degree.
pub fn barabasi_albert(n: u32, m: u32, rng: &mut impl Rng) -> Vec<Edge> {
    let mut edges: Vec<Edge> = vec![];
    // Each edge puts both ends in here: a uniform draw from it is a draw by degree.
    let mut ends: Vec<u32> = vec![];
    let mut targets: BTreeSet<u32> = (0..m.min(n)).collect();
    for node in m..n {
        for &target in &targets {
            edges.push(edge(target, node));
            ends.extend([target, node]);
        }
        targets.clear();
        while targets.len() < m as usize && !ends.is_empty() {
            targets.insert(ends[rng.random_range(0..ends.len())]);
        }
    }
    edges
}

/// Watts-Strogatz: a ring where each node knows its `k` nearest, each edge rewired with probability `p` to a random node.
pub fn watts_strogatz(n: u32, k: u32, p: f64, rng: &mut impl Rng) -> Vec<Edge> {
    let mut present: BTreeSet<Edge> = BTreeSet::new();
    for reach in 1..=(k / 2).min(n.saturating_sub(1) / 2) {
        present.extend((0..n).map(|v| edge(v, (v + reach) % n)));
    }
    for reach in 1..=(k / 2).min(n.saturating_sub(1) / 2) {
        for v in 0..n {
            let old = edge(v, (v + reach) % n);
            if rng.random_bool(p) {
                let new = edge(v, rng.random_range(0..n));
                if new.0 != new.1 && !present.contains(&new) {
                    present.remove(&old);
                    present.insert(new);
                }
            }
        }
    }
    present.into_iter().collect()
}

/// Stochastic block model: `blocks` near-equal blocks, an edge with probability `within` inside a block and `across` between two.
pub fn stochastic_block(n: u32, blocks: u32, within: f64, across: f64, rng: &mut impl Rng) -> Vec<Edge> {
    let block = |v: u32| u64::from(v) * u64::from(blocks) / u64::from(n.max(1));
    let mut edges = vec![];
    let top = within.max(across);
    skip_pairs(pairs_below(n), top, rng, |k| edges.push(nth_pair(k)));
    edges.retain(|&(a, b)| {
        let p = if block(a) == block(b) { within } else { across };
        rng.random_bool(p / top)
    });
    edges
}

/// A random relabelling of `n` nodes.
pub fn permutation(n: u32, rng: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    order.shuffle(rng);
    order
}

fn pairs_below(n: u32) -> u64 {
    u64::from(n) * u64::from(n.saturating_sub(1)) / 2
}

/// Calls `take` with each of `0..count` independently with probability `p`, in ascending order.
fn skip_pairs(count: u64, p: f64, rng: &mut impl Rng, mut take: impl FnMut(u64)) {
    if p <= 0.0 {
        return;
    }
    let log_miss = (1.0 - p.min(1.0)).ln();
    let mut k = 0u64;
    loop {
        if p < 1.0 {
            let skip = ((1.0 - rng.random::<f64>()).ln() / log_miss).floor();
            k = k.saturating_add(if skip >= count as f64 { count } else { skip as u64 });
        }
        if k >= count {
            return;
        }
        take(k);
        k += 1;
    }
}

/// Pair number `k` in the order (0,1) (0,2) (1,2) (0,3) ...
fn nth_pair(k: u64) -> Edge {
    let mut high = ((1.0 + (1.0 + 8.0 * k as f64).sqrt()) / 2.0) as u64;
    while high * (high - 1) / 2 > k {
        high -= 1;
    }
    while high * (high + 1) / 2 <= k {
        high += 1;
    }
    ((k - high * (high - 1) / 2) as u32, high as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    fn rng() -> rand_pcg::Pcg64Mcg {
        rand_pcg::Pcg64Mcg::seed_from_u64(3)
    }

    fn assert_simple(edges: &[Edge], n: u32) {
        let distinct: BTreeSet<_> = edges.iter().collect();
        assert_eq!(distinct.len(), edges.len(), "no edge twice");
        assert!(edges.iter().all(|&(a, b)| a < b && b < n));
    }

    #[test]
    fn families_are_simple_and_have_the_expected_density() {
        let expect = |edges: Vec<Edge>, n: u32, low: usize, high: usize| {
            assert_simple(&edges, n);
            assert!((low..=high).contains(&edges.len()), "{} edges", edges.len());
        };
        expect(erdos_renyi(400, 0.05, &mut rng()), 400, 3_700, 4_280);
        expect(erdos_renyi(10, 1.0, &mut rng()), 10, 45, 45);
        expect(erdos_renyi(10, 0.0, &mut rng()), 10, 0, 0);
        expect(barabasi_albert(200, 2, &mut rng()), 200, 396, 396);
        expect(watts_strogatz(200, 4, 0.3, &mut rng()), 200, 400, 400);
        expect(stochastic_block(200, 4, 0.3, 0.01, &mut rng()), 200, 1_350, 1_850);
    }

    fn degrees(edges: &[Edge], n: u32) -> Vec<usize> {
        (0..n).map(|v| edges.iter().filter(|&&(a, b)| a == v || b == v).count()).collect()
    }

    #[test]
    fn regular_graphs_are_regular_sparse_or_dense() {
        for (n, d) in [(20, 3), (50, 6), (20, 17), (8, 7), (9, 8), (12, 0)] {
            let edges = random_regular(n, d, &mut rng());
            assert_simple(&edges, n);
            assert!(degrees(&edges, n).iter().all(|&degree| degree == d as usize), "{n} {d}");
        }
        assert_eq!(random_regular(9, 3, &mut rng()).len(), 13, "one stub is left over");
    }

    #[test]
    fn power_law_clusters_have_triangles() {
        let triangles = |p: f64| {
            let edges = power_law_cluster(300, 3, p, &mut rng());
            assert_simple(&edges, 300);
            assert_eq!(edges.len(), 297 * 3);
            let graph = crate::Graph::from_edges(300, edges);
            graph
                .edges()
                .map(|(a, b)| graph.neighbours(a).iter().filter(|&&c| graph.has_edge(b, c)).count())
                .sum::<usize>()
        };
        assert!(triangles(0.9) > 2 * triangles(0.0));
    }

    #[test]
    fn rmat_has_hubs() {
        let edges = rmat(10, 8_000, [0.57, 0.19, 0.19], &mut rng());
        assert_simple(&edges, 1_024);
        assert!((5_000..8_000).contains(&edges.len()), "{} edges", edges.len());
        assert!(degrees(&edges, 1_024).into_iter().max() > Some(100));
    }

    #[test]
    fn model_rb_hides_an_independent_set() {
        let planted = ModelRb::hard(30).generate(&mut rng());
        assert_simple(&planted.edges, planted.nodes);
        assert_eq!((planted.nodes, planted.independent_set.len()), (450, 30));
        // frb30-15-1 to -3 have 17,809 to 17,874 edges.
        assert!((17_500..18_200).contains(&planted.edges.len()), "{} edges", planted.edges.len());
        let graph = crate::Graph::from_edges(planted.nodes, planted.edges);
        let set = &planted.independent_set;
        assert!(set.iter().all(|&a| set.iter().all(|&b| !graph.has_edge(a, b))));
    }

    #[test]
    fn rudy_families() {
        assert_eq!(torus(40, 50).len(), 4_000);
        assert_simple(&torus(2, 2), 4);
        let one = planar(800, 0.99, &mut rng());
        assert_simple(&one, 800);
        assert_eq!(one.len(), (0.99f64 * (3.0 * 800.0 - 6.0)).round() as usize);
        let both = union(one.clone(), planar(800, 0.99, &mut rng()));
        assert_eq!(both, one, "the same state draws the same graph");
        assert_eq!(random_signs(100, &mut rng()).iter().filter(|sign| sign.abs() == 1).count(), 100);
    }

    /// Published tables name seeds: what they stand for must not change.
    #[test]
    fn seeds_are_stable() {
        let digest = |edges: Vec<Edge>| {
            edges.iter().fold(edges.len() as u64, |hash, &(a, b)| {
                (hash ^ (u64::from(a) << 32 | u64::from(b))).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
            })
        };
        let families = [
            digest(erdos_renyi(100, 0.15, &mut rng())),
            digest(barabasi_albert(100, 4, &mut rng())),
            digest(watts_strogatz(100, 4, 0.2, &mut rng())),
            digest(stochastic_block(100, 3, 0.2, 0.02, &mut rng())),
            digest(random_regular(100, 3, &mut rng())),
            digest(power_law_cluster(100, 3, 0.5, &mut rng())),
            digest(rmat(7, 400, [0.57, 0.19, 0.19], &mut rng())),
            digest(ModelRb::hard(10).generate(&mut rng()).edges),
            digest(planar(100, 0.9, &mut rng())),
        ];
        assert_eq!(families, STABLE);
    }

    const STABLE: [u64; 9] = [
        0x698f544e53658c08,
        0x620a6931f61496f2,
        0x7ebfe6391dc99c5a,
        0x321cc9090e3a259c,
        0x075c2e4b5387015b,
        0x7a1134177836a5be,
        0x60ffd4282e8ba11d,
        0xa18520c7d7230ed1,
        0x999c16bba12b8762,
    ];

    #[test]
    fn tiny_sizes_are_fine() {
        for n in 0..4 {
            assert_simple(&erdos_renyi(n, 0.5, &mut rng()), n);
            assert_simple(&barabasi_albert(n, 2, &mut rng()), n);
            assert_simple(&watts_strogatz(n, 4, 0.5, &mut rng()), n);
            assert_simple(&stochastic_block(n, 4, 0.3, 0.1, &mut rng()), n);
            assert_simple(&random_regular(n, 2, &mut rng()), n);
            assert_simple(&power_law_cluster(n, 2, 0.5, &mut rng()), n);
            assert_simple(&rmat(n, 10, [0.25; 3], &mut rng()), 1 << n);
            assert_simple(&planar(n, 1.0, &mut rng()), n);
            assert_simple(&torus(n, n), n * n);
            assert_eq!(ModelRb::hard(n).generate(&mut rng()).independent_set.len(), n as usize);
        }
    }

    #[test]
    fn pairs_are_numbered_without_gaps() {
        let pairs: Vec<Edge> = (0..6).map(nth_pair).collect();
        assert_eq!(pairs, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]);
    }
}
