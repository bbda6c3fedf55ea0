//! Scale-free graphs with many triangles.

use super::{Edge, edge};
use rand::{Rng, RngExt as _};
use std::collections::BTreeSet;

/// Holme & Kim 2002: like Barabasi-Albert with `m` edges a new node, but with probability `p` an edge goes to a neighbour of the
/// target before, which closes a triangle.
pub fn power_law_cluster(n: u32, m: u32, p: f64, rng: &mut impl Rng) -> Vec<Edge> {
    let mut edges: Vec<Edge> = vec![];
    // Every node once, and once more for each of its edges: a uniform draw is a draw by degree.
    let mut ends: Vec<u32> = (0..m.min(n)).collect();
    let mut neighbours: Vec<Vec<u32>> = vec![vec![]; n as usize];
    for node in m..n {
        let mut targets: BTreeSet<u32> = BTreeSet::new();
        let mut before: Option<u32> = None;
        while targets.len() < (m as usize).min(node as usize) {
            let close = before.filter(|_| rng.random_bool(p)).map(|b| &neighbours[b as usize]);
            let triangle = close.filter(|c| !c.is_empty()).map(|c| c[rng.random_range(0..c.len())]);
            let target = match triangle {
                Some(target) if !targets.contains(&target) => target,
                _ => ends[rng.random_range(0..ends.len())],
            };
            if targets.insert(target) {
                before = Some(target);
            }
        }
        for target in targets {
            edges.push(edge(target, node));
            neighbours[target as usize].push(node);
            neighbours[node as usize].push(target);
            ends.extend([target, node]);
        }
        ends.push(node);
    }
    edges
}
