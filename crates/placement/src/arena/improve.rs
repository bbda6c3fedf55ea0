//! Better offsets: several orders of placement, then a local search over the order.

use super::Buffer;
use super::fit::{FirstFit, conflicts};
use labrys_search::Seed;
use labrys_search::seed::Rng;
use rand::RngExt as _;
use std::cmp::Reverse;

/// Lowers the height of an arena towards `peak`; keeps what there is if it finds nothing better.
pub(super) fn improve(buffers: &mut [Buffer], peak: u64, budget: u64) {
    let mut height = buffers.iter().map(Buffer::end).max().unwrap_or(0);
    if height == peak {
        return;
    }
    let Some(conflicts) = conflicts(buffers, usize::try_from(budget / 8).unwrap_or(usize::MAX)) else { return };
    let pairs: u64 = conflicts.iter().map(|others| others.len() as u64 + 1).sum();
    let mut search = Search { buffers, conflicts, fit: FirstFit::default(), best: None };
    let mut left = budget;
    let mut best_order = vec![];
    for order in orders(search.buffers) {
        left = left.saturating_sub(pairs);
        let found = search.try_order(&order, height);
        if found < height || best_order.is_empty() {
            (height, best_order) = (height.min(found), order);
        }
    }
    // A try places all buffers at most twice.
    search.climb(best_order, height, peak, left / (2 * pairs));
    if let Some(best) = search.best {
        for (buffer, offset) in buffers.iter_mut().zip(best) {
            buffer.offset = offset;
        }
    }
}

/// Large ones first, by different measures.
fn orders(buffers: &[Buffer]) -> Vec<Vec<u32>> {
    type Measure = fn(&Buffer) -> u128;
    let lifetime = |b: &Buffer| u128::from(b.last - b.first) + 1;
    let area: Measure = |b| u128::from(b.bytes) * (u128::from(b.last - b.first) + 1);
    let size: Measure = |b| u128::from(b.bytes);
    let sorted = |measure: &dyn Fn(&Buffer) -> u128| {
        let mut order: Vec<u32> = (0..buffers.len() as u32).collect();
        order.sort_by_key(|&i| Reverse(measure(&buffers[i as usize])));
        order
    };
    vec![sorted(&size), sorted(&area), sorted(&lifetime)]
}

struct Search<'b> {
    buffers: &'b [Buffer],
    conflicts: Vec<Vec<u32>>,
    fit: FirstFit,
    /// Offsets of the lowest arena found.
    best: Option<Vec<u64>>,
}

impl Search<'_> {
    /// Places in this order and keeps the offsets if they are below `height`.
    fn try_order(&mut self, order: &[u32], height: u64) -> u64 {
        let found = self.fit.place(self.buffers, &self.conflicts, order, height);
        if found < height {
            self.best = Some(self.fit.offsets.clone());
        }
        found
    }

    /// Hill climbing: a buffer at the top goes before one that it conflicts with.
    fn climb(&mut self, mut order: Vec<u32>, mut height: u64, peak: u64, tries: u64) {
        let mut rng = Seed(0).stream("arena", 0);
        let mut rank = vec![0u32; order.len()];
        for _ in 0..tries {
            if height == peak {
                return;
            }
            order.iter().enumerate().for_each(|(at, &i)| rank[i as usize] = at as u32);
            let Some((from, to)) = self.raise_top(&order, &rank, height, &mut rng) else { return };
            order[to..=from].rotate_right(1);
            let found = self.try_order(&order, height);
            if found > height {
                order[to..=from].rotate_left(1);
            }
            height = height.min(found);
        }
    }

    /// The first buffer in order that reaches the height, and the rank of an earlier one that it conflicts with.
    fn raise_top(&mut self, order: &[u32], rank: &[u32], height: u64, rng: &mut Rng) -> Option<(usize, usize)> {
        self.fit.place(self.buffers, &self.conflicts, order, height.saturating_sub(1));
        let reaches = |&&i: &&u32| {
            let offset = self.fit.offsets[i as usize];
            offset != u64::MAX && offset + self.buffers[i as usize].bytes >= height
        };
        let top = *order.iter().find(reaches)?;
        let from = rank[top as usize];
        let earlier: Vec<u32> =
            self.conflicts[top as usize].iter().map(|&j| rank[j as usize]).filter(|&r| r < from).collect();
        if earlier.is_empty() {
            return None;
        }
        Some((from as usize, earlier[rng.random_range(0..earlier.len())] as usize))
    }
}
