//! Why a collective failed.

/// Why a collective failed. No rank is left waiting: each gets an error, or the run is ended.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommError {
    /// Another rank stopped before this collective.
    #[error("rank {rank} died; the other ranks cannot go on without it")]
    RankDied {
        /// The rank that stopped first.
        rank: usize,
    },
    /// Ranks do not agree on the sizes of a message.
    #[error(
        "{collective}: rank {rank} expected {expected} bytes from rank {from}, got {got}; all ranks must make the same calls"
    )]
    SizesDiffer {
        /// Which collective.
        collective: &'static str,
        /// Who noticed.
        rank: usize,
        /// Who sent.
        from: usize,
        /// Bytes expected.
        expected: usize,
        /// Bytes that came.
        got: usize,
    },
    /// A message beyond what the engine can send.
    #[error("a message of {bytes} bytes; MPI counts in 32 bits: use more ranks, or threads")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The engine could not be started.
    #[error("MPI could not be started: {0}")]
    Start(String),
}
