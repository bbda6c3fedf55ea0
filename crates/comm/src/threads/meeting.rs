//! Where ranks meet: each puts its message down, and goes on when all have.
//!
//! Two sets of messages take turns. Whoever puts a message into one set has read the other, so that one wait for each
//! collective is enough, and a rank's own message of two collectives ago is free to be used again.

use crate::CommError;
use crate::transport::starts;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How often a rank looks for the others before it lets others run: 20 to 100 microseconds. To sleep and to be woken takes
/// as long, and longer on a virtual machine, whose processors halt when they have nothing to do.
const LOOKS: u32 = 2_000;
/// How often it then lets others run before it sleeps: 100 microseconds or so if there are none.
const TURNS: u32 = 200;

/// All communicators of a run: a rank that ends leaves its own ones, a rank that fails ends all.
pub(super) struct Run {
    meetings: Mutex<Vec<Arc<Meeting>>>,
    /// Whether each rank has a processor, so that those that wait may keep theirs busy.
    may_spin: bool,
}

impl Run {
    /// So many ranks, and their first communicator.
    pub(super) fn begin(ranks: usize) -> Arc<Meeting> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let run = Arc::new(Self { meetings: Mutex::default(), may_spin: ranks <= processors });
        let world = Meeting::new((0..ranks).collect(), &run);
        run.add(&world);
        world
    }

    /// A new communicator. All that have a part in it wait for this before they use it.
    pub(super) fn add(&self, meeting: &Arc<Meeting>) {
        self.meetings().push(Arc::clone(meeting));
    }

    /// A rank has ended, well or not: it will take part in no further collective.
    pub(super) fn leave(&self, rank: usize, failed: bool) {
        for meeting in self.meetings().iter().filter(|meeting| failed || meeting.members.contains(&rank)) {
            let mut state = meeting.state();
            state.gone.get_or_insert(rank);
            if failed {
                state.dead.get_or_insert(rank);
            }
            meeting.ended.store(true, Ordering::Release);
            meeting.changed.notify_all();
        }
    }

    /// Forgets the communicators, which know the run.
    pub(super) fn end(&self) {
        self.meetings().clear();
    }

    fn meetings(&self) -> MutexGuard<'_, Vec<Arc<Meeting>>> {
        self.meetings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the ranks of a communicator share.
pub(super) struct Meeting {
    /// Their ranks in the whole run.
    pub(super) members: Vec<usize>,
    pub(super) run: Arc<Run>,
    state: Mutex<State>,
    changed: Condvar,
    /// Messages ever put down. It changes under the lock, and is looked at without.
    arrived: AtomicU64,
    /// Whether a rank has ended; the same.
    ended: AtomicBool,
}

struct State {
    /// Messages of the collective that is under way, and of the one before it.
    messages: [Vec<Option<Arc<Message>>>; 2],
    /// Ranks that wait to be woken.
    asleep: usize,
    /// The rank that ended first.
    gone: Option<usize>,
    /// The rank that failed first.
    dead: Option<usize>,
    /// Communicators that the last split made, by color.
    parts: BTreeMap<usize, Arc<Meeting>>,
}

/// Bytes of one rank, with their parts: one for each rank, or one for all.
#[derive(Default)]
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Message {
    /// Replaces its content.
    fn fill(&mut self, bytes: &[u8], counts: &[usize]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.starts = starts(counts);
    }

    /// What a rank gets of it.
    pub(super) fn part(&self, rank: usize) -> &[u8] {
        let rank = rank.min(self.starts.len() - 2);
        &self.bytes[self.starts[rank]..self.starts[rank + 1]]
    }
}

impl Meeting {
    fn new(members: Vec<usize>, run: &Arc<Run>) -> Arc<Self> {
        let messages = [vec![None; members.len()], vec![None; members.len()]];
        let state = State { messages, asleep: 0, gone: None, dead: None, parts: BTreeMap::new() };
        Arc::new(Self {
            members,
            run: Arc::clone(run),
            state: Mutex::new(state),
            changed: Condvar::new(),
            arrived: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        })
    }

    /// A panic of another rank leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rank that failed first.
    pub(super) fn dead(&self) -> Option<usize> {
        self.state().dead
    }

    /// Gives this rank's message in the collective of some number, and returns those of all ranks. `counts` are the bytes
    /// for each rank, or the bytes for all.
    pub(super) fn meet(
        &self,
        rank: usize,
        number: u64,
        bytes: &[u8],
        counts: &[usize],
    ) -> Result<Vec<Arc<Message>>, CommError> {
        let (set, goal) = ((number % 2) as usize, (number + 1) * self.members.len() as u64);
        let old = self.state().messages[set][rank].take();
        let mut message = old.and_then(Arc::into_inner).unwrap_or_default();
        message.fill(bytes, counts);
        self.put(set, rank, message, goal);
        let state = self.wait(goal)?;
        Ok(state.messages[set].iter().flatten().cloned().collect())
    }

    /// Puts a message down; the last one wakes those that sleep.
    fn put(&self, set: usize, rank: usize, message: Message, goal: u64) {
        let mut state = self.state();
        state.messages[set][rank] = Some(Arc::new(message));
        let arrived = self.arrived.fetch_add(1, Ordering::Release) + 1;
        if arrived == goal && state.asleep > 0 {
            self.changed.notify_all();
        }
    }

    /// Waits for so many messages.
    fn wait(&self, goal: u64) -> Result<MutexGuard<'_, State>, CommError> {
        let ready = || self.arrived.load(Ordering::Acquire) >= goal;
        if self.run.may_spin {
            look_for(|| ready() || self.ended.load(Ordering::Acquire));
        }
        let mut state = self.state();
        loop {
            if ready() {
                return Ok(state);
            }
            if let Some(rank) = state.dead.or(state.gone) {
                return Err(CommError::RankDied { rank });
            }
            state.asleep += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    /// The communicator of those who gave a color.
    pub(super) fn part(&self, color: usize, members: impl FnOnce() -> Vec<usize>) -> Arc<Self> {
        let mut state = self.state();
        Arc::clone(state.parts.entry(color).or_insert_with(|| Self::new(members(), &self.run)))
    }

    /// All have their part.
    pub(super) fn forget_part(&self, color: usize) {
        self.state().parts.remove(&color);
    }
}

/// Looks for something for a while, at first without a pause.
fn look_for(found: impl Fn() -> bool) {
    for turn in 0..LOOKS + TURNS {
        if found() {
            return;
        }
        if turn < LOOKS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}
