//! A priority queue over ranks 0..n: a bitset with summary levels, 64 to 1 (a van Emde Boas tree cut to machine words).

/// A set of ranks whose least member is found in O(log64 n), without comparing any two.
#[derive(Clone, Debug)]
pub(crate) struct RankQueue {
    /// Level 0 has one bit a rank; each bit of level i + 1 says whether a word of level i is not zero.
    words: Vec<u64>,
    /// Where each level starts in `words`.
    levels: Vec<usize>,
}

impl RankQueue {
    /// An empty queue for ranks below `ranks`.
    pub fn new(ranks: usize) -> Self {
        let (mut levels, mut start, mut size) = (vec![], 0, ranks);
        loop {
            size = size.div_ceil(64).max(1);
            levels.push(start);
            start += size;
            if size == 1 {
                return Self { words: vec![0; start], levels };
            }
        }
    }

    /// Adds a rank.
    #[inline]
    pub fn insert(&mut self, rank: u32) {
        let mut at = rank as usize;
        for &level in &self.levels {
            let word = &mut self.words[level + at / 64];
            let before = *word;
            *word |= 1 << (at % 64);
            if before != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// Takes a rank out, if it is there.
    #[inline]
    pub fn remove(&mut self, rank: u32) {
        let mut at = rank as usize;
        for &level in &self.levels {
            let word = &mut self.words[level + at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The least rank.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        let mut at = 0;
        for &level in self.levels.iter().rev() {
            let word = self.words[level + at];
            if word == 0 {
                return None;
            }
            at = at * 64 + word.trailing_zeros() as usize;
        }
        Some(at as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::RankQueue;
    use rand::RngExt as _;
    use std::collections::BTreeSet;

    #[test]
    fn behaves_as_an_ordered_set() {
        let mut rng = labrys_search::Seed(1).stream("queue", 0);
        for ranks in [1, 64, 65, 5_000, 300_000] {
            let (mut queue, mut set) = (RankQueue::new(ranks), BTreeSet::new());
            for _ in 0..2_000 {
                let rank = rng.random_range(0..ranks as u32);
                if rng.random_bool(0.6) {
                    queue.insert(rank);
                    set.insert(rank);
                } else {
                    queue.remove(rank);
                    set.remove(&rank);
                }
                assert_eq!(queue.first(), set.first().copied());
            }
        }
    }
}
