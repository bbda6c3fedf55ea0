//! First tours: along a space-filling curve, and by greedy edges.

use super::{Cities, Neighbours};
use crate::guide::by_score;

/// Cities in the order of a Hilbert curve through their points (Platzman & Bartholdi 1989); in the order of the file if there are none.
pub fn space_filling(cities: &Cities) -> Vec<u32> {
    let mut order: Vec<u32> = (0..cities.len() as u32).collect();
    if let Some(points) = cities.points() {
        let keys = hilbert_keys(points);
        order.sort_by_key(|&city| keys[city as usize]);
    }
    order
}

fn hilbert_keys(points: &[(f64, f64)]) -> Vec<u64> {
    const BITS: u32 = 20;
    let low = points.iter().fold((f64::INFINITY, f64::INFINITY), |low, p| (low.0.min(p.0), low.1.min(p.1)));
    let span = points.iter().fold(0.0f64, |span, p| span.max(p.0 - low.0).max(p.1 - low.1)).max(f64::MIN_POSITIVE);
    let scale = f64::from((1u32 << BITS) - 1) / span;
    let key = |&(x, y): &(f64, f64)| hilbert(((x - low.0) * scale) as u32, ((y - low.1) * scale) as u32, BITS);
    points.iter().map(key).collect()
}

/// Place of a cell on the curve.
fn hilbert(mut x: u32, mut y: u32, bits: u32) -> u64 {
    let mut key = 0u64;
    for level in (0..bits).rev() {
        let side = 1u32 << level;
        let (rx, ry) = (u32::from(x & side != 0), u32::from(y & side != 0));
        key = key << 2 | u64::from((3 * rx) ^ ry);
        if ry == 0 {
            if rx == 1 {
                let most = (1u32 << bits) - 1;
                (x, y) = (most - x, most - y);
            }
            std::mem::swap(&mut x, &mut y);
        }
    }
    key
}

/// Shortest edges first between neighbours, as long as they make paths; the paths are then joined along the space-filling curve.
pub fn greedy_edges(cities: &Cities, neighbours: &Neighbours) -> Vec<u32> {
    let n = cities.len() as u32;
    let pairs = (0..n).flat_map(|a| neighbours.of(a).iter().map(move |&(b, distance)| (distance, a, b)));
    let mut edges: Vec<(u32, u32, u32)> =
        pairs.filter(|&(_, a, b)| a < b || neighbours.of(b).iter().all(|&(c, _)| c != a)).collect();
    edges.sort_unstable();
    let mut paths = Paths::new(n);
    edges.into_iter().for_each(|(_, a, b)| paths.join(a, b));
    paths.string_together(&space_filling(cities))
}

/// Paths that grow into a tour.
struct Paths {
    /// Up to two neighbours of each city.
    links: Vec<[u32; 2]>,
    /// The other end, for each end of a path.
    other_end: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Paths {
    fn new(cities: u32) -> Self {
        Self { links: vec![[NONE; 2]; cities as usize], other_end: (0..cities).collect() }
    }

    fn is_end(&self, city: u32) -> bool {
        self.links[city as usize][1] == NONE
    }

    /// Joins two ends of different paths.
    fn join(&mut self, a: u32, b: u32) {
        if !self.is_end(a) || !self.is_end(b) || self.other_end[a as usize] == b {
            return;
        }
        let (far_a, far_b) = (self.other_end[a as usize], self.other_end[b as usize]);
        for (from, to) in [(a, b), (b, a)] {
            let links = &mut self.links[from as usize];
            links[usize::from(links[0] != NONE)] = to;
        }
        self.other_end[far_a as usize] = far_b;
        self.other_end[far_b as usize] = far_a;
    }

    /// All paths one after another, by where their first end lies in `order`.
    fn string_together(&self, order: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; order.len()];
        let mut tour = Vec::with_capacity(order.len());
        for &start in order.iter().filter(|&&city| self.is_end(city)) {
            let (mut before, mut city) = (NONE, start);
            while city != NONE && !seen[city as usize] {
                seen[city as usize] = true;
                tour.push(city);
                let [first, second] = self.links[city as usize];
                let next = if first == before { second } else { first };
                (before, city) = (city, next);
            }
        }
        tour
    }
}

/// Inserts the cities in the order of a guide's scores, each beside the nearest of its neighbours that is on the tour already.
pub fn by_advice(cities: &Cities, neighbours: &Neighbours, advice: &[f32]) -> Vec<u32> {
    let n = cities.len();
    let mut next = vec![NONE; n];
    let mut first = NONE;
    for city in by_score(n, advice) {
        let near = neighbours.of(city).iter().map(|&(u, _)| u).find(|&u| next[u as usize] != NONE);
        let beside = near.unwrap_or(first);
        if beside == NONE {
            (first, next[city as usize]) = (city, city);
        } else {
            next[city as usize] = std::mem::replace(&mut next[beside as usize], city);
        }
    }
    std::iter::successors((first != NONE).then_some(first), |&city| Some(next[city as usize])).take(n).collect()
}
