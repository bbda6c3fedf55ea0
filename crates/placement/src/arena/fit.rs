//! Ways to give buffers their offsets.

use super::Buffer;
use std::collections::{BTreeMap, BTreeSet};

/// The largest sum of sizes at any step.
pub(super) fn peak(buffers: &[Buffer]) -> u64 {
    let mut steps: Vec<(u32, i128)> = buffers
        .iter()
        .flat_map(|b| [(b.first, i128::from(b.bytes)), (b.last.saturating_add(1), -i128::from(b.bytes))])
        .collect();
    // Frees come before allocations of the same step.
    steps.sort_unstable();
    let (mut held, mut peak) = (0, 0);
    for (_, step) in steps {
        held += step;
        peak = peak.max(held);
    }
    u64::try_from(peak).unwrap_or(u64::MAX)
}

/// As an allocator at run time would: in order of time, each into the smallest hole that takes it. O(n log n).
pub(super) fn in_order_of_time(buffers: &mut [Buffer]) {
    let mut by_end: Vec<usize> = (0..buffers.len()).collect();
    by_end.sort_unstable_by_key(|&i| (buffers[i].last, i));
    let mut heap = Heap::default();
    let mut ended = 0;
    for i in 0..buffers.len() {
        debug_assert!(i == 0 || buffers[i - 1].first <= buffers[i].first, "buffers come in order of first use");
        while buffers[by_end[ended]].last < buffers[i].first {
            heap.free(buffers[by_end[ended]].offset, buffers[by_end[ended]].bytes);
            ended += 1;
        }
        buffers[i].offset = heap.allocate(buffers[i].bytes);
    }
}

/// A heap with a list of holes.
#[derive(Default)]
struct Heap {
    /// Offset to size.
    holes: BTreeMap<u64, u64>,
    /// The same by size.
    by_size: BTreeSet<(u64, u64)>,
    top: u64,
}

impl Heap {
    fn allocate(&mut self, bytes: u64) -> u64 {
        if let Some(&(size, offset)) = self.by_size.range((bytes, 0)..).next() {
            self.remove(offset, size);
            if size > bytes {
                self.insert(offset + bytes, size - bytes);
            }
            return offset;
        }
        // A hole at the top grows.
        let offset = match self.holes.last_key_value() {
            Some((&offset, &size)) if offset + size == self.top => {
                self.remove(offset, size);
                offset
            }
            _ => self.top,
        };
        self.top = offset + bytes;
        offset
    }

    fn free(&mut self, mut offset: u64, mut bytes: u64) {
        if let Some((&before, &size)) = self.holes.range(..offset).next_back()
            && before + size == offset
        {
            self.remove(before, size);
            (offset, bytes) = (before, bytes + size);
        }
        if let Some(&size) = self.holes.get(&(offset + bytes)) {
            self.remove(offset + bytes, size);
            bytes += size;
        }
        self.insert(offset, bytes);
    }

    fn insert(&mut self, offset: u64, size: u64) {
        self.holes.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    fn remove(&mut self, offset: u64, size: u64) {
        self.holes.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}

/// For each buffer all others that are held at the same time; `None` if there are more than `limit` pairs.
pub(super) fn conflicts(buffers: &[Buffer], limit: usize) -> Option<Vec<Vec<u32>>> {
    let mut conflicts = vec![vec![]; buffers.len()];
    let mut active: Vec<u32> = vec![];
    let mut pairs = 0;
    for (i, buffer) in buffers.iter().enumerate() {
        active.retain(|&other| buffers[other as usize].last >= buffer.first);
        pairs += active.len();
        if pairs > limit {
            return None;
        }
        for &other in &active {
            conflicts[other as usize].push(i as u32);
        }
        conflicts[i].extend_from_slice(&active);
        active.push(i as u32);
    }
    Some(conflicts)
}

/// Places buffers one by one at the lowest offset where they fit. Buffers are reused from call to call.
#[derive(Default)]
pub(super) struct FirstFit {
    /// Offsets of the buffers placed so far, `u64::MAX` for the others.
    pub offsets: Vec<u64>,
    taken: Vec<(u64, u64)>,
}

impl FirstFit {
    /// Gives all buffers their offsets in this order; returns the height. Stops early above `limit`.
    pub fn place(&mut self, buffers: &[Buffer], conflicts: &[Vec<u32>], order: &[u32], limit: u64) -> u64 {
        self.offsets.clear();
        self.offsets.resize(buffers.len(), u64::MAX);
        let mut height = 0;
        for &i in order {
            let i = i as usize;
            self.taken.clear();
            let placed = conflicts[i].iter().map(|&j| j as usize).filter(|&j| self.offsets[j] != u64::MAX);
            self.taken.extend(placed.map(|j| (self.offsets[j], self.offsets[j] + buffers[j].bytes)));
            self.taken.sort_unstable();
            let mut offset = 0;
            for &(start, end) in &self.taken {
                if start >= offset + buffers[i].bytes {
                    break;
                }
                offset = offset.max(end);
            }
            self.offsets[i] = offset;
            height = height.max(offset + buffers[i].bytes);
            if height > limit {
                break;
            }
        }
        height
    }
}
