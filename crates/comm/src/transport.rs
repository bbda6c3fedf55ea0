//! What an engine must do: move bytes between ranks.

use crate::CommError;

/// An engine seen from one rank. All ranks must make the same calls in the same order.
pub trait Transport {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Every rank sends `send` and receives the messages of all, in the order of ranks. `counts` are their bytes.
    fn all_gather_v(&self, send: &[u8], recv: &mut [u8], counts: &[usize]) -> Result<(), CommError>;

    /// Sends one part of `send` to each rank, and receives one part from each; parts lie in the order of ranks.
    fn all_to_all_v(
        &self,
        send: &[u8],
        send_counts: &[usize],
        recv: &mut [u8],
        recv_counts: &[usize],
    ) -> Result<(), CommError>;

    /// The ranks that gave the same color, as ranks of their own, in the order of the old ones.
    fn split(&self, color: usize) -> Result<Box<dyn Transport>, CommError>;
}

/// The only rank: messages to oneself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Transport for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_gather_v(&self, send: &[u8], recv: &mut [u8], _: &[usize]) -> Result<(), CommError> {
        copy("all-gather", send, recv)
    }

    fn all_to_all_v(&self, send: &[u8], _: &[usize], recv: &mut [u8], _: &[usize]) -> Result<(), CommError> {
        copy("all-to-all", send, recv)
    }

    fn split(&self, _: usize) -> Result<Box<dyn Transport>, CommError> {
        Ok(Box::new(Self))
    }
}

fn copy(collective: &'static str, send: &[u8], recv: &mut [u8]) -> Result<(), CommError> {
    if send.len() != recv.len() {
        let (expected, got) = (recv.len(), send.len());
        return Err(CommError::SizesDiffer { collective, rank: 0, from: 0, expected, got });
    }
    recv.copy_from_slice(send);
    Ok(())
}

/// Where each part starts, and where the last one ends.
pub(crate) fn starts(counts: &[usize]) -> Vec<usize> {
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}
