//! Hard vertex cover and independent set problems whose optimum is known.

use super::Edge;
use rand::{Rng, RngExt as _, seq::index};

/// Model RB (Xu & Li 2000; forced satisfiable as in the `frb` benchmarks): one clique for each variable, one node for each of its
/// values, and edges between values that a constraint forbids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelRb {
    /// Number of variables, which is the size of the largest independent set.
    pub variables: u32,
    /// Values of each variable.
    pub values: u32,
    /// Binary constraints, drawn with repetition.
    pub constraints: u32,
    /// Share of the pairs of values that a constraint forbids.
    pub tightness: f64,
}

/// A graph with an independent set that is known to be as large as possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// Number of nodes.
    pub nodes: u32,
    /// The edges, sorted.
    pub edges: Vec<Edge>,
    /// One node of each clique, no two of them joined.
    pub independent_set: Vec<u32>,
}

impl ModelRb {
    /// The hardest mixture, at the threshold of satisfiability: alpha = 0.8, r = 0.8 / ln(4/3), p = 0.25, as in the `frb` files.
    /// `hard(59)` has the parameters of frb59-26.
    pub fn hard(variables: u32) -> Self {
        let n = f64::from(variables);
        let r = 0.8 / (4.0f64 / 3.0).ln();
        Self {
            variables,
            values: n.powf(0.8).round() as u32,
            constraints: (r * n * n.max(1.0).ln()).round() as u32,
            tightness: 0.25,
        }
    }

    /// Draws a graph. `variables * values` is its number of nodes.
    pub fn generate(&self, rng: &mut impl Rng) -> Planted {
        let d = self.values.max(1);
        let node = |variable: u32, value: u32| variable * d + value;
        let planted: Vec<u32> = (0..self.variables).map(|_| rng.random_range(0..d)).collect();
        let mut edges: Vec<Edge> = vec![];
        for variable in 0..self.variables {
            let pairs = (0..d).flat_map(|b| (0..b).map(move |a| (a, b)));
            edges.extend(pairs.map(|(a, b)| (node(variable, a), node(variable, b))));
        }
        let pairs = u64::from(d) * u64::from(d);
        let forbidden = ((pairs as f64 * self.tightness.clamp(0.0, 1.0)).round() as u64).min(pairs - 1);
        for _ in 0..if self.variables < 2 { 0 } else { self.constraints } {
            let ends = index::sample(rng, self.variables as usize, 2);
            let (x, y) = (ends.index(0).min(ends.index(1)) as u32, ends.index(0).max(ends.index(1)) as u32);
            let kept = u64::from(planted[x as usize]) * u64::from(d) + u64::from(planted[y as usize]);
            // One pair of values is never forbidden: skip over it.
            for pair in index::sample(rng, pairs as usize - 1, forbidden as usize) {
                let pair = pair as u64 + u64::from(pair as u64 >= kept);
                edges.push((node(x, (pair / u64::from(d)) as u32), node(y, (pair % u64::from(d)) as u32)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let independent_set = planted.iter().zip(0..).map(|(&value, variable)| node(variable, value)).collect();
        Planted { nodes: self.variables * d, edges, independent_set }
    }
}
