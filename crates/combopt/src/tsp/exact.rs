//! Shortest tours of a few cities by dynamic programming over subsets (Bellman; Held & Karp 1962).

use super::Cities;

/// More cities would take too long.
pub(super) const MOST_CITIES: usize = 12;

/// The shortest tour. O(2^n n^2).
pub(super) fn shortest_tour(cities: &Cities) -> Vec<u32> {
    let n = cities.len();
    if n < 3 {
        return (0..n as u32).collect();
    }
    let inner = n - 1;
    let distance = |a: usize, b: usize| cities.distance(a as u32, b as u32);
    // Shortest path from the last city through a set of others to one of them, and the city before it.
    let mut shortest = vec![(u64::MAX, 0u8); inner << inner];
    for v in 0..inner {
        shortest[(1 << v) * inner + v] = (distance(inner, v), v as u8);
    }
    for set in 1usize..1 << inner {
        for v in (0..inner).filter(|v| set >> v & 1 == 1 && set != 1 << v) {
            let rest = set & !(1 << v);
            let through = (0..inner).filter(|u| rest >> u & 1 == 1);
            let best = through.map(|u| (shortest[rest * inner + u].0 + distance(u, v), u as u8)).min();
            shortest[set * inner + v] = best.unwrap_or((u64::MAX, 0));
        }
    }
    let mut set = (1usize << inner) - 1;
    let last = (0..inner).min_by_key(|&v| shortest[set * inner + v].0 + distance(v, inner)).unwrap_or(0);
    let (mut tour, mut v) = (vec![inner as u32], last);
    while tour.len() < n {
        tour.push(v as u32);
        let before = shortest[set * inner + v].1 as usize;
        set &= !(1 << v);
        v = before;
    }
    tour
}
