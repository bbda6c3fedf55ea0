//! Variants of real graphs (REGAL A.1.2), and what makes two graphs one topology.

use labrys_dataflow::Graph;
use labrys_dataflow::graph::TimeSource;
use labrys_search::Seed;
use rand::RngExt as _;

/// Copy `number` of a graph, with every tensor's size and every op's run time multiplied by its own draw from U(0.5, 1.5).
/// Number 0 is the graph itself.
pub fn augment(graph: &Graph, seed: Seed, number: u64) -> Graph {
    let mut copy = graph.clone();
    if number == 0 {
        return copy;
    }
    let mut rng = seed.stream("augment", number);
    let mut noisy = |value: u64| (value as f64 * rng.random_range(0.5..1.5)).round() as u64;
    for tensor in graph.tensors() {
        copy.set_bytes(tensor, noisy(graph.bytes(tensor)));
    }
    for op in graph.ops() {
        copy.set_time(op, noisy(graph.time(op)), TimeSource::Measured);
    }
    copy
}

/// Identifies a topology as the paper does, by the sequence of in-degrees (A.1.2): 16 hexadecimal digits.
pub fn fingerprint(graph: &Graph) -> String {
    // FNV-1a over 64 bits.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for &op in graph.topological() {
        for byte in (graph.inputs(op).len() + graph.control(op).len()).to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Which set a topology is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// Learned from.
    Train,
    /// Decides which parameters are best.
    Validation,
    /// Never seen in training.
    Test,
}

impl Split {
    /// The set of topology `rank` in a list sorted by number of ops: 3-1-1 of each five (A.1.2).
    pub fn of_rank(rank: usize) -> Self {
        [Self::Train, Self::Validation, Self::Train, Self::Test, Self::Train][rank % 5]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn copies_share_the_topology_and_stay_within_half() {
        let graph = synthetic::graph(Seed(1), 0);
        let copy = augment(&graph, Seed(2), 7);
        assert_eq!((fingerprint(&graph), graph.dag()), (fingerprint(&copy), copy.dag()));
        assert_ne!(fingerprint(&graph), fingerprint(&synthetic::graph(Seed(1), 1)));
        let within = |old: u64, new: u64| 2 * new + 1 >= old && 2 * new <= 3 * old + 1;
        assert!(graph.tensors().all(|t| within(graph.bytes(t), copy.bytes(t))));
        assert!(graph.ops().all(|op| within(graph.time(op), copy.time(op))));
        assert!(graph.ops().any(|op| graph.time(op) != copy.time(op)));
        assert_eq!(augment(&graph, Seed(2), 7).total_time(), copy.total_time());
        assert_eq!(augment(&graph, Seed(2), 0).total_time(), graph.total_time());
    }

    #[test]
    fn three_of_five_are_for_training() {
        let count = |split| (0..10).filter(|&rank| Split::of_rank(rank) == split).count();
        assert_eq!([Split::Train, Split::Validation, Split::Test].map(count), [6, 2, 2]);
    }
}
