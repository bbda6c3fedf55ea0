//! Recursive matrices.

use super::{Edge, edge};
use rand::{Rng, RngExt as _};

/// R-MAT (Chakrabarti, Zhan, Faloutsos 2004): `2^scale` nodes; each of `draws` draws walks down the quadrants of the adjacency
/// matrix with probabilities `quadrants` (upper left, upper right, lower left, the rest). Loops and repeats are left out, so fewer
/// edges come out. Graph500 uses `[0.57, 0.19, 0.19]`. Sorted. `scale` is at most 31.
pub fn rmat(scale: u32, draws: usize, quadrants: [f64; 3], rng: &mut impl Rng) -> Vec<Edge> {
    let [a, b, c] = quadrants;
    let mut edges = Vec::with_capacity(draws);
    for _ in 0..draws {
        let (mut row, mut column) = (0u32, 0u32);
        for _ in 0..scale.min(31) {
            let u: f64 = rng.random();
            row = 2 * row + u32::from(u >= a + b);
            column = 2 * column + u32::from((u >= a && u < a + b) || u >= a + b + c);
        }
        if row != column {
            edges.push(edge(row, column));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}
