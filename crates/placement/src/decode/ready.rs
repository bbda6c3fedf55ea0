//! A priority queue for random keys: buckets by key, the fullest bucket found by counting leading zeros.
//!
//! Random keys spread over the buckets, so that a bucket seldom holds more than one of the few items that are ready at a time.
//! Equal keys cost a scan of their bucket. Measured against a binary heap in `benches/decoder.rs`.

const NONE: u32 = u32::MAX;

/// Ready items by urgency, highest first, the lowest item among equals. Empty again after every decoding.
pub(super) struct ReadyQueue {
    /// First item of each bucket, the others chained through `next`.
    head: Vec<u32>,
    next: Vec<u32>,
    urgency: Vec<u32>,
    /// One bit per bucket that is not empty, and one bit per word of those.
    words: Vec<u64>,
    summary: u64,
    scale: f32,
}

impl ReadyQueue {
    /// For items below `items`, of which about `ops` become ready one after the other.
    pub(super) fn new(items: usize, ops: usize) -> Self {
        let buckets = (2 * ops).next_power_of_two().clamp(64, 4096);
        Self {
            head: vec![NONE; buckets],
            next: vec![NONE; items],
            urgency: vec![0; items],
            words: vec![0; buckets / 64],
            summary: 0,
            scale: buckets as f32,
        }
    }

    #[inline(always)]
    fn bucket(&self, urgency: u32) -> usize {
        ((f32::from_bits(urgency) * self.scale) as usize).min(self.head.len() - 1)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, item: usize, urgency: u32) {
        let bucket = self.bucket(urgency);
        self.urgency[item] = urgency;
        self.next[item] = self.head[bucket];
        self.head[bucket] = item as u32;
        self.words[bucket / 64] |= 1 << (bucket % 64);
        self.summary |= 1 << (bucket / 64);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let word = 63 - self.summary.leading_zeros() as usize;
        let bit = 63 - self.words[word].leading_zeros() as usize;
        let bucket = word * 64 + bit;
        let first = self.head[bucket];
        if self.next[first as usize] != NONE {
            return Some(self.unlink_most_urgent(bucket));
        }
        self.head[bucket] = NONE;
        self.words[word] &= !(1 << bit);
        if self.words[word] == 0 {
            self.summary &= !(1 << word);
        }
        Some(first as usize)
    }

    /// Takes the best item out of a bucket that holds at least two.
    #[cold]
    fn unlink_most_urgent(&mut self, bucket: usize) -> usize {
        let rank = |item: u32| (self.urgency[item as usize], std::cmp::Reverse(item));
        let (mut before_best, mut best) = (NONE, self.head[bucket]);
        let mut before = best;
        while self.next[before as usize] != NONE {
            let item = self.next[before as usize];
            if rank(item) > rank(best) {
                (before_best, best) = (before, item);
            }
            before = item;
        }
        let after = self.next[best as usize];
        match before_best {
            NONE => self.head[bucket] = after,
            before => self.next[before as usize] = after,
        }
        best as usize
    }
}
