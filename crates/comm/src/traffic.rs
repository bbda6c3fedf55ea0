//! How much was sent, and by which collective.

use std::fmt;

/// The collectives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Collective {
    /// Every rank gets the reduction of all values.
    AllReduce,
    /// Every rank gets all parts.
    AllGather,
    /// Every rank gets its part of the reduction.
    ReduceScatter,
    /// Every rank sends another part to each.
    AllToAll,
    /// One rank sends to all.
    Broadcast,
}

impl Collective {
    /// All of them, in the order of [`Traffic`]'s counters.
    pub const ALL: [Self; 5] = [Self::AllReduce, Self::AllGather, Self::ReduceScatter, Self::AllToAll, Self::Broadcast];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
            Self::Broadcast => "broadcast",
        }
    }
}

/// Calls and bytes sent to other ranks, by collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    calls: [u64; 5],
    bytes: [u64; 5],
}

impl Traffic {
    /// Calls of a collective.
    pub fn calls(&self, collective: Collective) -> u64 {
        self.calls[collective as usize]
    }

    /// Bytes that this rank sent to others in a collective.
    pub fn bytes(&self, collective: Collective) -> u64 {
        self.bytes[collective as usize]
    }

    /// Bytes that this rank sent to others.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// What was added since an earlier count.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let minus = |a: &[u64; 5], b: &[u64; 5]| std::array::from_fn(|i| a[i] - b[i]);
        Self { calls: minus(&self.calls, &earlier.calls), bytes: minus(&self.bytes, &earlier.bytes) }
    }

    pub(crate) fn count(&mut self, collective: Collective, bytes: usize) {
        self.calls[collective as usize] += 1;
        self.bytes[collective as usize] += bytes as u64;
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = Collective::ALL.into_iter().filter(|&collective| self.calls(collective) > 0);
        let parts: Vec<_> = used.map(|c| format!("{} {} calls {} B", c.name(), self.calls(c), self.bytes(c))).collect();
        f.write_str(&parts.join(", "))
    }
}
