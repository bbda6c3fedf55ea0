//! Ranks as threads of one process.

mod meeting;

use crate::transport::{Transport, starts};
use crate::{CommError, Communicator};
use meeting::{Meeting, Message, Run};
use std::cell::Cell;
use std::sync::Arc;

/// Runs one function on `ranks` threads and collects what they return, in the order of ranks.
///
/// A rank that returns an error or panics ends the run: the others get [`CommError::RankDied`] at their next collective. The
/// first error in time is returned.
///
/// # Panics
/// If a rank panics, with its message, after all ranks have ended.
pub fn run<T, E>(ranks: usize, body: impl Fn(&Communicator) -> Result<T, E> + Sync) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send,
{
    let world = Run::begin(ranks.max(1));
    let results = std::thread::scope(|scope| {
        let start = |rank: usize| {
            let (world, body) = (Arc::clone(&world), &body);
            scope.spawn(move || on_rank(rank, world, body))
        };
        let handles: Vec<_> = (0..ranks.max(1)).map(start).collect();
        handles.into_iter().map(|handle| handle.join()).collect::<Vec<_>>()
    });
    world.run.end();
    first_failure_first(results, world.dead())
}

fn on_rank<T, E>(rank: usize, world: Arc<Meeting>, body: &impl Fn(&Communicator) -> Result<T, E>) -> Result<T, E> {
    let mut guard = Guard { rank, failed: true, run: Arc::clone(&world.run) };
    let communicator = Communicator::new(Rank::new(rank, world));
    let result = body(&communicator);
    guard.failed = result.is_err();
    result
}

/// Ranks that failed only because another one had died are not worth reporting.
fn first_failure_first<T, E>(
    results: Vec<std::thread::Result<Result<T, E>>>,
    dead: Option<usize>,
) -> Result<Vec<T>, E> {
    let mut values = vec![];
    let mut errors = vec![];
    for (rank, result) in results.into_iter().enumerate() {
        match result {
            Err(panic) if dead == Some(rank) => std::panic::resume_unwind(panic),
            Err(panic) => errors.push((rank, Err(panic))),
            Ok(Err(error)) => errors.push((rank, Ok(error))),
            Ok(Ok(value)) => values.push(value),
        }
    }
    errors.sort_by_key(|(rank, _)| dead != Some(*rank));
    match errors.into_iter().next() {
        None => Ok(values),
        Some((_, Ok(error))) => Err(error),
        Some((_, Err(panic))) => std::panic::resume_unwind(panic),
    }
}

/// Tells the others when a rank ends.
struct Guard {
    rank: usize,
    failed: bool,
    run: Arc<Run>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.run.leave(self.rank, self.failed);
    }
}

/// One rank's end.
struct Rank {
    rank: usize,
    meeting: Arc<Meeting>,
    /// Collectives so far.
    done: Cell<u64>,
}

impl Rank {
    fn new(rank: usize, meeting: Arc<Meeting>) -> Self {
        Self { rank, meeting, done: Cell::new(0) }
    }

    /// The messages of all ranks.
    fn exchange(&self, send: &[u8], counts: &[usize]) -> Result<Vec<Arc<Message>>, CommError> {
        let number = self.done.replace(self.done.get() + 1);
        self.meeting.meet(self.rank, number, send, counts)
    }

    /// Exchanges messages, and copies from each the part for this rank.
    fn collect(
        &self,
        collective: &'static str,
        (send, send_counts): (&[u8], &[usize]),
        recv: &mut [u8],
        counts: &[usize],
    ) -> Result<(), CommError> {
        let messages = self.exchange(send, send_counts)?;
        let places = starts(counts);
        for (from, message) in messages.iter().enumerate() {
            let (part, place) = (message.part(self.rank), &mut recv[places[from]..places[from + 1]]);
            if part.len() != place.len() {
                let (expected, got, rank) = (place.len(), part.len(), self.rank);
                return Err(CommError::SizesDiffer { collective, rank, from, expected, got });
            }
            place.copy_from_slice(part);
        }
        Ok(())
    }
}

impl Transport for Rank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.meeting.members.len()
    }

    fn all_gather_v(&self, send: &[u8], recv: &mut [u8], counts: &[usize]) -> Result<(), CommError> {
        self.collect("all-gather", (send, &[send.len()]), recv, counts)
    }

    fn all_to_all_v(
        &self,
        send: &[u8],
        send_counts: &[usize],
        recv: &mut [u8],
        recv_counts: &[usize],
    ) -> Result<(), CommError> {
        self.collect("all-to-all", (send, send_counts), recv, recv_counts)
    }

    fn split(&self, color: usize) -> Result<Box<dyn Transport>, CommError> {
        let bytes = color.to_le_bytes();
        let colors = self.exchange(&bytes, &[bytes.len()])?;
        let same = |rank: &usize| colors[*rank].bytes == bytes;
        let rank = (0..self.rank).filter(same).count();
        let members = || (0..colors.len()).filter(same).map(|rank| self.meeting.members[rank]).collect();
        let part = self.meeting.part(color, members);
        if rank == 0 {
            part.run.add(&part);
        }
        // All have taken their part before another split begins.
        self.exchange(&bytes, &[bytes.len()])?;
        self.meeting.forget_part(color);
        Ok(Box::new(Self::new(rank, part)))
    }
}
