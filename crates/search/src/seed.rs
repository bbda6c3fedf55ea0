//! One seed, many independent streams.

use rand_pcg::Pcg64Mcg;

/// The generator that every search uses: fast, small, and the same on every platform.
pub type Rng = Pcg64Mcg;

/// The user's seed. Every part of a search draws from its own stream, so that adding a part does not change the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seed(pub u64);

impl Seed {
    /// The generator for one part of a search, named by a label, and one number within it (an island, a graph).
    pub fn stream(self, label: &str, number: u64) -> Rng {
        let mut hash = splitmix(self.0);
        for byte in label.bytes() {
            hash = splitmix(hash ^ u64::from(byte));
        }
        hash = splitmix(hash ^ number);
        let low = splitmix(hash);
        Pcg64Mcg::new((u128::from(hash) << 64) | u128::from(low))
    }

    /// A derived seed, for a search within a search.
    pub fn derive(self, label: &str, number: u64) -> Self {
        use rand::Rng as _;
        Self(self.stream(label, number).next_u64())
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that mixes all bits.
pub fn splitmix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng as _;

    #[test]
    fn streams_are_stable_and_differ() {
        let draw = |seed: u64, label, number| Seed(seed).stream(label, number).next_u64();
        assert_eq!(draw(0, "a", 0), draw(0, "a", 0));
        let others = [draw(0, "a", 0), draw(1, "a", 0), draw(0, "b", 0), draw(0, "a", 1)];
        for (i, x) in others.iter().enumerate() {
            assert!(others[..i].iter().all(|y| y != x));
        }
    }
}
