//! One random walk over plans, and the best plan that it has seen.

use super::change::{Change, Move};
use super::energy::Sharpness;
use super::state::State;
use crate::problem::{Plan, Problem};
use labrys_dataflow::{OpId, TensorId};
use labrys_search::Score;
use labrys_search::anneal::accept;
use labrys_search::seed::Rng;
use rand::RngExt as _;

/// Most ops that one move drags along.
const MAX_GROUP: usize = 32;

/// Reaches below 2^10 are equally likely.
const NEAR_MAGNITUDES: u32 = 10;

/// A walk with its own stream of random numbers.
pub(super) struct Walk<'p> {
    state: State<'p>,
    change: Change,
    rng: Rng,
    /// The ops that a move drags, the one that moves first coming first, and where they came from.
    group: Vec<OpId>,
    origins: Vec<u32>,
    best: State<'p>,
    best_score: Score,
    /// Moves between two looks at the peak, each of which costs as much as some moves.
    look_every: u64,
    until_look: u64,
}

impl<'p> Walk<'p> {
    /// Starts at a plan.
    pub fn new(problem: &'p Problem, start: &Plan, sharpness: Sharpness, rng: Rng) -> Self {
        let mut state = State::new(problem, start);
        state.sharpness = sharpness;
        let look_every = (state.order.len() * state.devices / 32).max(16) as u64;
        Self {
            change: Change::new(state.devices),
            rng,
            group: Vec::with_capacity(MAX_GROUP),
            origins: Vec::with_capacity(MAX_GROUP),
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
        let devices = self.state.devices;
        let op = OpId(self.rng.random_range(0..self.state.order.len() as u32));
        let what = match self.rng.random_range(0..64u32) {
            0..16 => return self.drag(op, temperature),
            16..40 => self.propose_shift(op),
            40..58 if devices > 1 => self.propose_place(op),
            58.. if devices > 1 => self.propose_flip(),
            _ => self.propose_shift(op),
        };
        let Some(what) = what else { return };
        let delta = self.change.price(&self.state, what);
        if accept(delta, temperature, &mut self.rng) {
            self.change.commit(&mut self.state);
        }
    }

    /// Moves an op further than its slack, together with the ops that stand in its way.
    ///
    /// Single shifts cannot do this: to move a chain they would have to pay for each op before the last one makes it worth while.
    fn drag(&mut self, op: OpId, temperature: f64) {
        let last = self.state.order.len() as u32 - 1;
        let reach = self.reach();
        let at = self.state.position(op);
        let later = self.rng.random_bool(0.5);
        let to = if later { (at + reach).min(last) } else { at.saturating_sub(reach) };
        if to == at || !self.gather(op, to, later) {
            return;
        }
        // The last shift is only priced; the ones before it must be carried out to price the next.
        let target = |i: usize| if later { to - i as u32 } else { to + i as u32 };
        let leaders = self.group.len() - 1;
        let mut delta = 0.0;
        self.origins.clear();
        for i in 0..leaders {
            self.origins.push(self.state.position(self.group[i]));
            delta += self.shift(self.group[i], target(i));
        }
        let what = Move::Shift { op: self.group[leaders], to: target(leaders) };
        delta += self.change.price(&self.state, what);
        if accept(delta, temperature, &mut self.rng) {
            self.change.commit(&mut self.state);
        } else {
            for i in (0..leaders).rev() {
                self.shift(self.group[i], self.origins[i]);
            }
        }
    }

    /// Collects `op` and all between it and `to` that must stay on the same side of it. Says no if these are too many.
    fn gather(&mut self, op: OpId, to: u32, later: bool) -> bool {
        // Large groups cost much and are rarely worth it.
        let limit = MAX_GROUP >> self.rng.random_range(0..5u32);
        let state = &self.state;
        self.group.clear();
        self.group.push(op);
        let mut next = 0;
        while next < self.group.len() {
            let op = self.group[next];
            next += 1;
            let neighbours = if later { state.graph.succs(op) } else { state.graph.preds(op) };
            for &other in neighbours {
                let at = state.position(other);
                let in_the_way = if later { at <= to } else { at >= to };
                if in_the_way && !self.group.contains(&other) {
                    if self.group.len() == limit {
                        return false;
                    }
                    self.group.push(other);
                }
            }
        }
        self.group.sort_unstable_by_key(|&op| state.position(op));
        if later {
            self.group.reverse();
        }
        true
    }

    /// Shifts an op whatever it costs; returns the cost.
    fn shift(&mut self, op: OpId, to: u32) -> f64 {
        if self.state.position(op) == to {
            return 0.0;
        }
        let delta = self.change.price(&self.state, Move::Shift { op, to });
        self.change.commit(&mut self.state);
        delta
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
    fn reach(&mut self) -> u32 {
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
