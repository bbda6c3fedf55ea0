//! Moves of several steps, taken or undone as one.

use super::change::Move;
use super::walk::Walk;
use labrys_dataflow::{OpId, TensorId};
use labrys_graph::Id as _;
use labrys_search::anneal::accept;
use rand::RngExt as _;

/// Most ops that one move drags along.
const MAX_GROUP: usize = 32;

/// Most consumers that one move brings together.
const MAX_GATHERED: usize = 8;

impl Walk<'_> {
    /// Moves an op further than its slack, together with the ops that stand in its way.
    ///
    /// Single shifts cannot do this: to move a chain they would have to pay for each op before the last one makes it worth while.
    pub(super) fn drag(&mut self, op: OpId, temperature: f64) {
        let last = self.state.order.len() as u32 - 1;
        let reach = self.reach();
        let at = self.state.position(op);
        let later = self.rng.random_bool(0.5);
        let to = if later { (at + reach).min(last) } else { at.saturating_sub(reach) };
        if to == at || !self.find_group(op, to, later) {
            return;
        }
        let target = |i: u32| if later { to - i } else { to + i };
        self.sequence.clear();
        self.sequence.extend(self.group.iter().zip(0..).map(|(&op, i)| Move::Shift { op, to: target(i) }));
        self.try_sequence(temperature);
    }

    /// Collects `op` and all between it and `to` that must stay on the same side of it, the one that moves first coming first. Says
    /// no if these are too many.
    fn find_group(&mut self, op: OpId, to: u32, later: bool) -> bool {
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

    /// Brings all consumers of a tensor to one device, sometimes with its producer, and sometimes with an early transfer.
    ///
    /// A tensor changes sides only as a whole: as long as one consumer stays behind, both devices hold a copy.
    pub(super) fn gather_consumers(&mut self, tensor: Option<TensorId>, temperature: f64) {
        let Some(tensor) = tensor.or_else(|| self.any_tensor()) else { return };
        let graph = self.state.graph;
        let consumers = graph.consumers(tensor);
        if consumers.is_empty() || consumers.len() > MAX_GATHERED {
            return;
        }
        let (producer, extra) = (graph.producer(tensor), self.rng.random_range(0..3u32));
        let one = consumers[self.rng.random_range(0..consumers.len())];
        let Some(Move::Place { to, .. }) = self.propose_place(one) else { return };
        self.sequence.clear();
        let movers = (extra == 0).then_some(&producer).into_iter().chain(consumers);
        self.sequence.extend(movers.filter(|&&op| self.state.home(op) != to).map(|&op| Move::Place { op, to }));
        if extra == 1 && !self.state.eager[tensor.index()] {
            self.sequence.push(Move::Flip { tensor });
        }
        self.try_sequence(temperature);
    }

    /// Carries out all of `sequence`, or nothing if the sum is not accepted.
    fn try_sequence(&mut self, temperature: f64) {
        let Some(last) = self.sequence.pop() else { return };
        // The last move is only priced; the ones before it must be carried out to price the next.
        self.undo.clear();
        let mut delta = 0.0;
        for i in 0..self.sequence.len() {
            let what = self.sequence[i];
            if let Some(back) = self.inverse(what) {
                delta += self.change.price(&self.state, what);
                self.change.commit(&mut self.state);
                self.undo.push(back);
            }
        }
        delta += self.change.price(&self.state, last);
        if accept(delta, temperature, &mut self.rng) {
            self.change.commit(&mut self.state);
            return;
        }
        while let Some(back) = self.undo.pop() {
            self.change.price(&self.state, back);
            self.change.commit(&mut self.state);
        }
    }

    /// What undoes a move; none if the move changes nothing.
    fn inverse(&self, what: Move) -> Option<Move> {
        match what {
            Move::Shift { op, to } => {
                let from = self.state.position(op);
                (from != to).then_some(Move::Shift { op, to: from })
            }
            Move::Place { op, to } => {
                let from = self.state.home(op);
                (from != to).then_some(Move::Place { op, to: from })
            }
            Move::Flip { tensor } => Some(Move::Flip { tensor }),
        }
    }
}
