//! The families of Rinaldi's generator `rudy`, which made the Gset.

use super::{Edge, edge};
use rand::{Rng, RngExt as _, seq::SliceRandom as _};

/// A two-dimensional grid of `rows` x `columns` whose borders are joined (G32, G48, ...). Sorted.
pub fn torus(rows: u32, columns: u32) -> Vec<Edge> {
    let node = |r: u32, c: u32| (r % rows) * columns + c % columns;
    let cell = |r: u32, c: u32| [edge(node(r, c), node(r, c + 1)), edge(node(r, c), node(r + 1, c))];
    let mut edges: Vec<Edge> = (0..rows).flat_map(|r| (0..columns).flat_map(move |c| cell(r, c))).collect();
    edges.retain(|&(a, b)| a != b);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A random planar graph with `density` (0 to 1) of the 3n - 6 edges that a planar graph can have: each node goes into a random
/// triangle of those before it, then edges are dropped at random. Labels are shuffled. Sorted.
pub fn planar(n: u32, density: f64, rng: &mut impl Rng) -> Vec<Edge> {
    let label = super::permutation(n, rng);
    let mut edges: Vec<Edge> = [(0, 1), (0, 2), (1, 2)].into_iter().filter(|&(_, high)| high < n).collect();
    let mut faces = vec![[0, 1, 2], [0, 1, 2]];
    for v in 3..n {
        let i = rng.random_range(0..faces.len());
        let [a, b, c] = faces[i];
        edges.extend([(a, v), (b, v), (c, v)]);
        faces[i] = [a, b, v];
        faces.extend([[a, c, v], [b, c, v]]);
    }
    edges.shuffle(rng);
    edges.truncate((edges.len() as f64 * density.clamp(0.0, 1.0)).round() as usize);
    edges.iter_mut().for_each(|e| *e = edge(label[e.0 as usize], label[e.1 as usize]));
    edges.sort_unstable();
    edges
}

/// All edges of two graphs on the same nodes, each once (G14 and G51 are unions of two planar graphs). Sorted.
pub fn union(first: Vec<Edge>, second: Vec<Edge>) -> Vec<Edge> {
    let mut edges = [first, second].concat();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A weight of +1 or -1 for each of `count` edges.
pub fn random_signs(count: usize, rng: &mut impl Rng) -> Vec<i64> {
    (0..count).map(|_| if rng.random_bool(0.5) { 1 } else { -1 }).collect()
}
