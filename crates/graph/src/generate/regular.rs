//! Random regular graphs.

use super::{Edge, edge};
use rand::{Rng, RngExt as _, seq::SliceRandom as _};
use rustc_hash::FxHashSet;

/// A random `d`-regular graph: stubs are paired at random, and pairs that are no new edges are mended by exchanging ends with random
/// edges (McKay & Wormald 1990). If `n * d` is odd one node has degree `d - 1`. `d` is at most `n - 1`.
pub fn random_regular(n: u32, d: u32, rng: &mut impl Rng) -> Vec<Edge> {
    let most = n.saturating_sub(1);
    let d = d.min(most);
    let mut edges = if d > most / 2 {
        // Exchanges rarely succeed in dense graphs: what is left out is sparse.
        let absent: FxHashSet<Edge> = sparse(n, most - d, rng).into_iter().collect();
        (0..n).flat_map(|high| (0..high).map(move |low| (low, high))).filter(|pair| !absent.contains(pair)).collect()
    } else {
        sparse(n, d, rng)
    };
    edges.sort_unstable();
    edges
}

fn sparse(n: u32, d: u32, rng: &mut impl Rng) -> Vec<Edge> {
    let mut stubs: Vec<u32> = (0..n).flat_map(|v| std::iter::repeat_n(v, d as usize)).collect();
    loop {
        stubs.shuffle(rng);
        if let Some(edges) = mend(&stubs, rng) {
            return edges;
        }
    }
}

/// Pairs neighbouring stubs; `None` if chance did not find enough exchanges, which hardly happens.
fn mend(stubs: &[u32], rng: &mut impl Rng) -> Option<Vec<Edge>> {
    let mut present = FxHashSet::default();
    let (mut edges, mut bad) = (vec![], vec![]);
    for pair in stubs.chunks_exact(2) {
        let new = edge(pair[0], pair[1]);
        if new.0 != new.1 && present.insert(new) { edges.push(new) } else { bad.push(new) }
    }
    const MOST_TRIES: usize = 1_000;
    let mut tries = MOST_TRIES * (bad.len() + 1);
    while let Some(&(a, b)) = bad.last() {
        tries = tries.checked_sub(1)?;
        if edges.is_empty() {
            return None;
        }
        let i = rng.random_range(0..edges.len());
        let (c, d) = if rng.random_bool(0.5) { edges[i] } else { (edges[i].1, edges[i].0) };
        let (first, second) = (edge(a, c), edge(b, d));
        let fits = first.0 != first.1 && second.0 != second.1 && first != second;
        if fits && !present.contains(&first) && !present.contains(&second) {
            bad.pop();
            present.remove(&edges[i]);
            present.extend([first, second]);
            edges[i] = first;
            edges.push(second);
        }
    }
    Some(edges)
}
