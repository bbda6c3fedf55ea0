//! What no tour can beat: spanning trees with one more edge under node prices (Held & Karp 1971).

use super::{Cities, Neighbours};

/// Half the way from each city to its two nearest. O(n).
pub fn two_nearest(cities: &Cities, neighbours: &Neighbours) -> u64 {
    let both = |city: u32| neighbours.of(city).iter().take(2).map(|&(_, distance)| u64::from(distance)).sum::<u64>();
    (0..cities.len() as u32).map(both).sum::<u64>().div_ceil(2)
}

/// Raises the prices of cities that a cheapest 1-tree visits too often, by subgradient steps; `upper` is the length of a tour. O(n^2) a round.
pub fn held_karp(cities: &Cities, upper: u64, rounds: u32, stop: &mut dyn FnMut() -> bool) -> u64 {
    let n = cities.len();
    if n < 3 {
        return 0;
    }
    let mut prices = vec![0.0; n];
    let mut degrees = vec![0i32; n];
    let mut before = vec![0i32; n];
    let (mut best, mut factor, mut since_better) = (f64::NEG_INFINITY, 2.0, 0);
    for _ in 0..rounds {
        let value = one_tree(cities, &prices, &mut degrees) - 2.0 * prices.iter().sum::<f64>();
        let norm: i64 = degrees.iter().map(|&degree| i64::from(degree - 2).pow(2)).sum();
        since_better += 1;
        if value > best {
            (best, since_better) = (value, 0);
        }
        // Lengths are integers: a bound just below the tour is the tour.
        if norm == 0 || upper as f64 - best < 0.99 || stop() {
            break;
        }
        if since_better > 10 {
            (factor, since_better) = (factor * 0.6, 0);
        }
        let step = factor * (1.01 * upper as f64 - value) / norm as f64;
        for ((price, &degree), before) in prices.iter_mut().zip(&degrees).zip(&mut before) {
            *price += step * (0.7 * f64::from(degree - 2) + 0.3 * f64::from(*before));
            *before = degree - 2;
        }
    }
    // Rounding errors of the sums stay far below this.
    ((best - 1e-3).ceil().max(0.0) as u64).min(upper)
}

/// Value of the cheapest 1-tree around city 0: a spanning tree of the others (Prim), and the two cheapest edges of city 0.
fn one_tree(cities: &Cities, prices: &[f64], degrees: &mut [i32]) -> f64 {
    let n = cities.len();
    let cost = |a: usize, b: usize| cities.distance(a as u32, b as u32) as f64 + prices[a] + prices[b];
    degrees.fill(0);
    let mut outside: Vec<u32> = (2..n as u32).collect();
    let mut nearest: Vec<(f64, u32)> = outside.iter().map(|&v| (cost(1, v as usize), 1)).collect();
    let mut value = 0.0;
    while let Some((i, &(edge, from))) = nearest.iter().enumerate().min_by(|a, b| a.1.0.total_cmp(&b.1.0)) {
        let v = outside.swap_remove(i);
        nearest.swap_remove(i);
        value += edge;
        degrees[v as usize] += 1;
        degrees[from as usize] += 1;
        for (&u, near) in outside.iter().zip(&mut nearest) {
            let through = cost(v as usize, u as usize);
            if through < near.0 {
                *near = (through, v);
            }
        }
    }
    let mut ends = [(f64::INFINITY, 0); 2];
    for v in 1..n {
        let edge = (cost(0, v), v);
        if edge.0 < ends[0].0 {
            ends = [edge, ends[0]];
        } else if edge.0 < ends[1].0 {
            ends[1] = edge;
        }
    }
    degrees[0] = 2;
    ends.iter().for_each(|&(_, v)| degrees[v] += 1);
    value + ends[0].0 + ends[1].0
}
