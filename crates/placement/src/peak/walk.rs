//! One random walk over plans, and the best plan that it has seen.

use super::change::{Change, Move};
use super::state::State;
use crate::problem::{Plan, Problem};
use labrys_dataflow::{OpId, TensorId};
use labrys_search::Score;
use labrys_search::anneal::accept;
use labrys_search::seed::Rng;
use rand::RngExt as _;

/// A walk with its own stream of random numbers.
pub(super) struct Walk<'p> {
    state: State<'p>,
    change: Change,
    rng: Rng,
    best: State<'p>,
    best_score: Score,
    /// Moves between two looks at the peak, each of which costs as much as some moves.
    look_every: u64,
    until_look: u64,
}

impl<'p> Walk<'p> {
    /// Starts at a plan.
    pub fn new(problem: &'p Problem, start: &Plan, rng: Rng) -> Self {
        let state = State::new(problem, start);
        let look_every = (state.order.len() * state.devices / 32).max(16) as u64;
        Self {
            change: Change::new(state.devices),
            rng,
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

    /// Tries `moves` moves at one temperature, in units of one cell at the best peak.
    pub fn advance(&mut self, moves: u64, temperature: f64) {
        self.state.rescale(self.best_score.value as f64);
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
        let Some(what) = self.propose() else { return };
        let delta = self.change.price(&self.state, what);
        if accept(delta, temperature, &mut self.rng) {
            self.change.commit(&mut self.state);
        }
    }

    fn look(&mut self) {
        let score = score(&self.state);
        if score < self.best_score {
            self.best_score = score;
            self.best.clone_from(&self.state);
        }
    }

    fn propose(&mut self) -> Option<Move> {
        let n = self.state.order.len() as u32;
        let kind = if self.state.devices == 1 { 0 } else { self.rng.random_range(0..16u32) };
        match kind {
            0..8 => {
                let op = OpId(self.rng.random_range(0..n));
                self.propose_shift(op)
            }
            8..14 => {
                let op = OpId(self.rng.random_range(0..n));
                self.propose_place(op)
            }
            _ => self.propose_flip(),
        }
    }

    /// Another position within the slack and within a reach that is as often short as long.
    fn propose_shift(&mut self, op: OpId) -> Option<Move> {
        let at = self.state.position(op);
        let (earliest, latest) = self.state.slack(op);
        let magnitudes = u32::BITS - (self.state.order.len() as u32).leading_zeros();
        let reach = 1u32 << self.rng.random_range(0..magnitudes);
        let (earliest, latest) = (earliest.max(at.saturating_sub(reach)), latest.min(at + reach));
        if earliest == latest {
            return None;
        }
        let to = self.rng.random_range(earliest..latest);
        Some(Move::Shift { op, to: to + u32::from(to >= at) })
    }

    fn propose_place(&mut self, op: OpId) -> Option<Move> {
        let to = self.rng.random_range(0..self.state.devices - 1);
        Some(Move::Place { op, to: to + usize::from(to >= self.state.home(op)) })
    }

    fn propose_flip(&mut self) -> Option<Move> {
        let tensors = self.state.graph.tensor_count() as u32;
        (tensors > 0).then(|| Move::Flip { tensor: TensorId(self.rng.random_range(0..tensors)) })
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
