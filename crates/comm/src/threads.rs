//! Ranks as threads of one process.

use crate::transport::{Transport, starts};
use crate::{CommError, Communicator};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
    let shared = Arc::new(Shared::new((0..ranks.max(1)).collect(), Arc::default()));
    shared.run().push(Arc::clone(&shared));
    let results = std::thread::scope(|scope| {
        let start = |rank: usize| {
            let (shared, body) = (Arc::clone(&shared), &body);
            scope.spawn(move || on_rank(rank, &shared, body))
        };
        let handles: Vec<_> = (0..ranks.max(1)).map(start).collect();
        handles.into_iter().map(|handle| handle.join()).collect::<Vec<_>>()
    });
    first_failure_first(results, shared.state().dead)
}

fn on_rank<T, E>(rank: usize, shared: &Arc<Shared>, body: &impl Fn(&Communicator) -> Result<T, E>) -> Result<T, E> {
    let mut guard = Guard { rank, failed: true, shared: Arc::clone(shared) };
    let communicator = Communicator::new(Rank { rank, shared: Arc::clone(shared) });
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

/// Tells the others that a rank has ended, well or not: it will take part in no further collective.
struct Guard {
    rank: usize,
    failed: bool,
    shared: Arc<Shared>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let run = self.shared.run();
        for shared in run.iter().filter(|shared| self.failed || shared.members.contains(&self.rank)) {
            let mut state = shared.state();
            state.gone.get_or_insert(self.rank);
            if self.failed {
                state.dead.get_or_insert(self.rank);
            }
            shared.changed.notify_all();
        }
    }
}

/// What the ranks of a communicator share.
struct Shared {
    /// Their ranks in the whole run.
    members: Vec<usize>,
    /// All communicators of the run: a rank that ends leaves its own ones, a rank that fails ends all.
    run: Arc<Mutex<Vec<Arc<Shared>>>>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The message of each rank in the collective that is under way.
    messages: Vec<Option<Arc<Message>>>,
    /// Ranks that have taken what they need.
    readers: usize,
    /// Counts completed collectives.
    generation: u64,
    /// The rank that ended first.
    gone: Option<usize>,
    /// The rank that failed first.
    dead: Option<usize>,
    /// Communicators that the last split made, by color.
    parts: BTreeMap<usize, Arc<Shared>>,
}

/// Bytes of one rank, with their parts: one for each rank, or one for all.
struct Message {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Message {
    fn part(&self, rank: usize) -> &[u8] {
        let rank = rank.min(self.starts.len() - 2);
        &self.bytes[self.starts[rank]..self.starts[rank + 1]]
    }
}

impl Shared {
    fn new(members: Vec<usize>, run: Arc<Mutex<Vec<Arc<Shared>>>>) -> Self {
        let (messages, parts) = (vec![None; members.len()], BTreeMap::new());
        let state = State { messages, readers: 0, generation: 0, gone: None, dead: None, parts };
        Self { members, run, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn run(&self) -> MutexGuard<'_, Vec<Arc<Shared>>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A panic of another rank leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        ready: impl Fn(&State) -> bool,
    ) -> Result<MutexGuard<'s, State>, CommError> {
        loop {
            if ready(&state) {
                return Ok(state);
            }
            if let Some(rank) = state.dead.or(state.gone) {
                return Err(CommError::RankDied { rank });
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives this rank's message, and returns those of all ranks.
    fn meet(&self, rank: usize, message: Message) -> Result<Vec<Arc<Message>>, CommError> {
        let mut state = self.state();
        let generation = state.generation;
        state.messages[rank] = Some(Arc::new(message));
        self.changed.notify_all();
        let mut state = self.wait(state, |state| state.messages.iter().all(Option::is_some))?;
        let all = state.messages.iter().flatten().cloned().collect();
        state.readers += 1;
        if state.readers == self.members.len() {
            state.readers = 0;
            state.generation += 1;
            state.messages.fill(None);
            self.changed.notify_all();
        }
        drop(self.wait(state, |state| state.generation > generation)?);
        Ok(all)
    }
}

/// One rank's end.
struct Rank {
    rank: usize,
    shared: Arc<Shared>,
}

impl Rank {
    /// Exchanges messages, and copies from each the part for this rank.
    fn collect(
        &self,
        collective: &'static str,
        message: Message,
        recv: &mut [u8],
        counts: &[usize],
    ) -> Result<(), CommError> {
        let messages = self.shared.meet(self.rank, message)?;
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
        self.shared.members.len()
    }

    fn all_gather_v(&self, send: &[u8], recv: &mut [u8], counts: &[usize]) -> Result<(), CommError> {
        let message = Message { bytes: send.to_vec(), starts: vec![0, send.len()] };
        self.collect("all-gather", message, recv, counts)
    }

    fn all_to_all_v(
        &self,
        send: &[u8],
        send_counts: &[usize],
        recv: &mut [u8],
        recv_counts: &[usize],
    ) -> Result<(), CommError> {
        let message = Message { bytes: send.to_vec(), starts: starts(send_counts) };
        self.collect("all-to-all", message, recv, recv_counts)
    }

    fn split(&self, color: usize) -> Result<Box<dyn Transport>, CommError> {
        let message = || Message { bytes: color.to_le_bytes().to_vec(), starts: vec![0, size_of::<usize>()] };
        let colors = self.shared.meet(self.rank, message())?;
        let same = |rank: &usize| colors[*rank].bytes == color.to_le_bytes();
        let rank = (0..self.rank).filter(same).count();
        let members = || (0..colors.len()).filter(same).map(|rank| self.shared.members[rank]).collect();
        let shared = {
            let mut state = self.shared.state();
            let new = || Arc::new(Shared::new(members(), Arc::clone(&self.shared.run)));
            Arc::clone(state.parts.entry(color).or_insert_with(new))
        };
        if rank == 0 {
            self.shared.run().push(Arc::clone(&shared));
        }
        // All have taken their part before another split begins.
        self.shared.meet(self.rank, message())?;
        self.shared.state().parts.remove(&color);
        Ok(Box::new(Self { rank, shared }))
    }
}
