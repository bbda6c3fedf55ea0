//! One random walk over plans, and the best plan that it has seen.

use super::change::{Change, Move};
use super::state::State;
use super::style::Style;
use crate::problem::{Plan, Problem};
use labrys_dataflow::{OpId, TensorId};
use labrys_search::Score;
use labrys_search::anneal::accept;
use labrys_search::seed::Rng;
use rand::RngExt as _;

/// An aimed move gives up after so many tensors that are not live where it aims.
const TENSORS_TRIED: u32 = 32;

/// Reaches below 2^10 are equally likely.
const NEAR_MAGNITUDES: u32 = 10;

/// A walk with its own stream of random numbers.
pub(super) struct Walk<'p> {
    pub(super) state: State<'p>,
    pub(super) change: Change,
    pub(super) rng: Rng,
    style: Style,
    /// Buffers of compound moves.
    pub(super) group: Vec<OpId>,
    pub(super) sequence: Vec<Move>,
    pub(super) undo: Vec<Move>,
    best: State<'p>,
    best_score: Score,
    /// Moves between two looks at the peak, each of which costs as much as some moves.
    look_every: u64,
    until_look: u64,
}

impl<'p> Walk<'p> {
    /// Starts at a plan.
    pub fn new(problem: &'p Problem, start: &Plan, style: Style, rng: Rng) -> Self {
        let state = State::new(problem, start);
        let look_every = (state.order.len() * state.devices / 32).max(16) as u64;
        Self {
            change: Change::new(state.devices),
            rng,
            style,
            group: vec![],
            sequence: vec![],
            undo: vec![],
            best_score: score(&state),
            best: state.clone(),
            state,
            look_every,
            until_look: look_every,
        }
    }

    /// The best score so far; the peak alone, whatever the objective.
    pub fn best_score(&self) -> Score {
        self.best_score
    }

    /// The best plan so far.
    pub fn best_plan(&self) -> Plan {
        self.best.to_plan()
    }

    /// Tries `moves` moves at the temperature and energy of `progress`.
    pub fn advance(&mut self, moves: u64, progress: f64) {
        self.state.sharpness = self.style.sharpness(progress);
        self.state.rescale(self.best_score.value as f64);
        let temperature = self.style.temperature(progress);
        for _ in 0..moves {
            self.step(temperature);
            self.until_look -= 1;
            if self.until_look == 0 {
                self.until_look = self.look_every;
                self.look();
            }
        }
        self.look();
    }

    fn step(&mut self, temperature: f64) {
        let devices = self.state.devices;
        let (op, tensor) = self.pick();
        if devices > 1 && self.style.gathered > 0.0 && self.rng.random_bool(self.style.gathered) {
            return self.gather_consumers(tensor, temperature);
        }
        let what = match self.rng.random_range(0..64u32) {
            0..16 => return self.drag(op, temperature),
            16..40 => self.propose_shift(op),
            40..58 if devices > 1 => self.propose_place(op),
            58.. if devices > 1 => tensor.or_else(|| self.any_tensor()).map(|tensor| Move::Flip { tensor }),
            _ => self.propose_shift(op),
        };
        let Some(what) = what else { return };
        let delta = self.change.price(&self.state, what);
        if accept(delta, temperature, &mut self.rng) {
            self.change.commit(&mut self.state);
        }
    }

    /// The op that a move is about, and the tensor if the move is aimed at one.
    fn pick(&mut self) -> (OpId, Option<TensorId>) {
        if self.rng.random_bool(self.style.aimed)
            && let Some(tensor) = self.live_near_the_peak()
        {
            let consumers = self.state.graph.consumers(tensor);
            let producer = self.state.graph.producer(tensor);
            let op = if self.rng.random() { producer } else { consumers[self.rng.random_range(0..consumers.len())] };
            return (op, Some(tensor));
        }
        (OpId(self.rng.random_range(0..self.state.order.len() as u32)), None)
    }

    /// A consumed tensor that a device holds where it holds much: the fullest of some cells, and the first that is live there among
    /// some tensors.
    fn live_near_the_peak(&mut self) -> Option<TensorId> {
        let (mut at, mut device, mut most) = (0, 0, -1.0);
        for _ in 0..self.style.glances {
            let position = self.rng.random_range(0..self.state.order.len());
            for (d, cells) in self.state.cells.iter().enumerate() {
                let held = cells[position] * self.state.scale[d];
                if held > most {
                    (at, device, most) = (position as u32, d, held);
                }
            }
        }
        for _ in 0..TENSORS_TRIED {
            let tensor = self.any_tensor()?;
            let users = self.state.users(tensor, device);
            let is_made = self.state.position(self.state.graph.producer(tensor)) <= at;
            if is_made && users.count > 0 && self.state.position(users.last) >= at {
                return Some(tensor);
            }
        }
        None
    }

    pub(super) fn any_tensor(&mut self) -> Option<TensorId> {
        let tensors = self.state.graph.tensor_count() as u32;
        (tensors > 0).then(|| TensorId(self.rng.random_range(0..tensors)))
    }

    fn look(&mut self) {
        let score = score(&self.state);
        if score < self.best_score {
            self.best_score = score;
            self.best.clone_from(&self.state);
        }
    }

    /// How far to move: every power of two is as likely up to 512, then each half as likely as the one before, since a move
    /// costs as much as it is far.
    pub(super) fn reach(&mut self) -> u32 {
        let magnitudes = u32::BITS - (self.state.order.len() as u32).leading_zeros();
        let near = self.rng.random_range(0..magnitudes.min(NEAR_MAGNITUDES));
        let far = if near + 1 == NEAR_MAGNITUDES { self.rng.random::<u32>().trailing_zeros() } else { 0 };
        1 << (near + far).min(magnitudes - 1)
    }

    /// Another position within the slack.
    fn propose_shift(&mut self, op: OpId) -> Option<Move> {
        let at = self.state.position(op);
        let (earliest, latest) = self.state.slack(op);
        let reach = self.reach();
        let (earliest, latest) = (earliest.max(at.saturating_sub(reach)), latest.min(at + reach));
        if earliest == latest {
            return None;
        }
        let to = self.rng.random_range(earliest..latest);
        Some(Move::Shift { op, to: to + u32::from(to >= at) })
    }

    pub(super) fn propose_place(&mut self, op: OpId) -> Option<Move> {
        let to = self.rng.random_range(0..self.state.devices - 1);
        Some(Move::Place { op, to: to + usize::from(to >= self.state.home(op)) })
    }
}

fn score(state: &State<'_>) -> Score {
    let (mut excess, mut value) = (0, 0);
    for (peak, device) in state.peaks().zip(&state.problem.devices) {
        let peak = peak as u64;
        excess += device.memory.map_or(0, |limit| peak.saturating_sub(limit));
        value = value.max(peak);
    }
    Score { excess, value }
}
