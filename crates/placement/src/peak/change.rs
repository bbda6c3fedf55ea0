//! Moves: each is first priced without touching the state, and carried out only if it is accepted.

use super::state::{State, Users, users_among};
use super::timeline::{Shift, Span, Steps, cell};
use crate::problem::{DeviceId, Weights};
use labrys_dataflow::{OpId, TensorId};
use labrys_graph::Id;

/// What a move does to order, placement and transfers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Move {
    /// Puts an op at another position within its slack.
    Shift { op: OpId, to: u32 },
    /// Puts an op on another device.
    Place { op: OpId, to: usize },
    /// Makes the transfers of a tensor lazy if they are eager, and the other way round.
    Flip { tensor: TensorId },
}

/// A priced move. The buffers are reused, so that a move allocates nothing.
pub(super) struct Change {
    what: Move,
    /// By how much the energy changes.
    pub energy: f64,
    /// How memory changes, per device; for a shift in points after it.
    steps: Vec<Steps>,
    /// New users, by index in `State::users`.
    users: Vec<(usize, Users)>,
    before: Vec<Span>,
    after: Vec<Span>,
}

impl Change {
    /// Allocates the buffers.
    pub fn new(devices: usize) -> Self {
        Self {
            what: Move::Flip { tensor: TensorId(0) },
            energy: 0.0,
            steps: vec![Steps::default(); devices],
            users: vec![],
            before: vec![Span::default(); devices],
            after: vec![Span::default(); devices],
        }
    }

    /// Prices a move; returns by how much the energy changes.
    #[inline]
    pub fn price(&mut self, state: &State<'_>, what: Move) -> f64 {
        self.what = what;
        self.users.clear();
        self.steps.iter_mut().for_each(Steps::clear);
        match what {
            Move::Shift { op, to } => self.price_shift(state, op, Shift { from: state.position(op), to }),
            Move::Place { op, to } => self.price_place(state, op, to),
            Move::Flip { tensor } => self.price_flip(state, tensor),
        }
        self.energy
    }

    /// Carries out the move that was priced last, on the same state.
    pub fn commit(&self, state: &mut State<'_>) {
        state.energy += self.energy;
        match self.what {
            Move::Shift { op, to } => self.commit_shift(state, op, Shift { from: state.position(op), to }),
            Move::Place { op, to } => self.commit_place(state, op, to),
            Move::Flip { tensor } => state.eager[tensor.index()] ^= true,
        }
        if !matches!(self.what, Move::Shift { .. }) {
            self.add_steps(state);
        }
        for &(slot, users) in &self.users {
            state.users[slot] = users;
        }
    }

    fn price_shift(&mut self, state: &State<'_>, op: OpId, shift: Shift) {
        let home = state.home(op);
        for &tensor in state.graph.inputs(op) {
            let users = users_after_shift(state, tensor, op, shift);
            if users.first == op || users.last == op || users != state.users(tensor, home) {
                self.users.push((tensor.index() * state.devices + home, users));
                self.shift_tensor(state, tensor, Some((home, users)), shift);
            }
        }
        for &tensor in state.graph.outputs(op) {
            self.shift_tensor(state, tensor, None, shift);
        }
        self.energy = 0.0;
        for device in 0..state.devices {
            self.steps[device].sort();
            self.energy += shift_energy(state, &self.steps[device], device, op, shift);
        }
    }

    /// Notes how the copies of one tensor change, beyond moving with their ops.
    fn shift_tensor(&mut self, state: &State<'_>, tensor: TensorId, new: Option<(usize, Users)>, shift: Shift) {
        state.spans(tensor, &mut self.before);
        let producer = state.graph.producer(tensor);
        let at = |op: OpId| shift.position(state.position(op));
        let ends = |device| {
            let users = match new {
                Some((changed, users)) if changed == device => users,
                _ => state.users(tensor, device),
            };
            (users.count > 0).then(|| (at(users.first), at(users.last)))
        };
        let eager = state.eager[tensor.index()];
        state.spans_if(tensor, state.home(producer), at(producer), eager, ends, &mut self.after);
        self.before.iter_mut().for_each(|span| *span = shift.carry(*span));
        self.note_spans(state.graph.bytes(tensor) as f64);
    }

    /// Turns the difference of `before` and `after` into steps.
    #[inline]
    fn note_spans(&mut self, bytes: f64) {
        for ((steps, before), after) in self.steps.iter_mut().zip(&self.before).zip(&self.after) {
            steps.replace(*before, *after, bytes);
        }
    }

    fn commit_shift(&self, state: &mut State<'_>, op: OpId, shift: Shift) {
        let (from, to) = (shift.from as usize, shift.to as usize);
        for (device, steps) in self.steps.iter().enumerate() {
            let moved = moved_cell(state, steps, device, op, shift);
            let (cells, gaps) = (&mut state.cells[device], &mut state.gaps[device]);
            if shift.is_later() {
                cells.copy_within(from + 1..to + 1, from);
                gaps.copy_within(from + 2..to + 2, from + 1);
            } else {
                cells.copy_within(to..from, to + 1);
                gaps.copy_within(to..from, to + 1);
            }
            steps.for_each_span(|span, bytes| {
                cells[span.cells()].iter_mut().for_each(|held| *held += bytes);
                gaps[span.gaps()].iter_mut().for_each(|held| *held += bytes);
            });
            cells[to] = moved;
        }
        if shift.is_later() {
            state.order.copy_within(from + 1..to + 1, from);
        } else {
            state.order.copy_within(to..from, to + 1);
        }
        state.order[to] = op;
        let (first, last) = shift.window();
        for position in first..=last {
            state.position[state.order[position].index()] = position as u32;
        }
    }

    fn price_place(&mut self, state: &State<'_>, op: OpId, to: usize) {
        let from = state.home(op);
        for &tensor in state.graph.inputs(op) {
            self.place_input(state, tensor, op, to);
        }
        for &tensor in state.graph.outputs(op) {
            self.replace_home(state, tensor, op, to);
        }
        let at = cell(state.position(op));
        let running = Span { start: at, end: at + 1 };
        let scratch = state.graph.scratch(op) as f64;
        if scratch > 0.0 {
            self.steps[from].replace(running, Span::default(), scratch);
            self.steps[to].replace(Span::default(), running, scratch);
        }
        if state.problem.weights == Weights::Resident {
            self.move_weights(state, op, to);
        }
        self.energy = self.steps_energy(state);
    }

    /// `op` consumes a tensor on device `to` instead of its own.
    fn place_input(&mut self, state: &State<'_>, tensor: TensorId, op: OpId, to: usize) {
        let from = state.home(op);
        let (left, joined) = (users_without(state, tensor, op), users_with(state, tensor, op, to));
        state.spans(tensor, &mut self.before);
        let producer = state.graph.producer(tensor);
        let ends = |device| {
            let users = match device {
                d if d == from => left,
                d if d == to => joined,
                _ => state.users(tensor, device),
            };
            (users.count > 0).then(|| (state.position(users.first), state.position(users.last)))
        };
        let (made, eager) = (state.position(producer), state.eager[tensor.index()]);
        state.spans_if(tensor, state.home(producer), made, eager, ends, &mut self.after);
        self.users.push((tensor.index() * state.devices + from, left));
        self.users.push((tensor.index() * state.devices + to, joined));
        self.note_spans(state.graph.bytes(tensor) as f64);
    }

    /// `op` produces a tensor on device `to` instead of its own.
    fn replace_home(&mut self, state: &State<'_>, tensor: TensorId, op: OpId, to: usize) {
        state.spans(tensor, &mut self.before);
        let ends = |device| {
            let users = state.users(tensor, device);
            (users.count > 0).then(|| (state.position(users.first), state.position(users.last)))
        };
        let eager = state.eager[tensor.index()];
        state.spans_if(tensor, to, state.position(op), eager, ends, &mut self.after);
        self.note_spans(state.graph.bytes(tensor) as f64);
    }

    fn move_weights(&mut self, state: &State<'_>, op: OpId, to: usize) {
        let always = Span { start: 0, end: 2 * state.order.len() as u32 + 1 };
        let from = state.home(op);
        for &weight in state.graph.reads(op) {
            let bytes = state.graph.weight_bytes(weight) as f64;
            let readers = &state.readers[weight.index() * state.devices..][..state.devices];
            if readers[from] == 1 {
                self.steps[from].replace(always, Span::default(), bytes);
            }
            if readers[to] == 0 {
                self.steps[to].replace(Span::default(), always, bytes);
            }
        }
    }

    fn commit_place(&self, state: &mut State<'_>, op: OpId, to: usize) {
        let from = state.home(op);
        if state.problem.weights == Weights::Resident {
            for &weight in state.graph.reads(op) {
                state.readers[weight.index() * state.devices + from] -= 1;
                state.readers[weight.index() * state.devices + to] += 1;
            }
        }
        state.device[op.index()] = DeviceId::new(to);
    }

    fn price_flip(&mut self, state: &State<'_>, tensor: TensorId) {
        state.spans(tensor, &mut self.before);
        let producer = state.graph.producer(tensor);
        let ends = |device| {
            let users = state.users(tensor, device);
            (users.count > 0).then(|| (state.position(users.first), state.position(users.last)))
        };
        let (home, made) = (state.home(producer), state.position(producer));
        state.spans_if(tensor, home, made, !state.eager[tensor.index()], ends, &mut self.after);
        self.note_spans(state.graph.bytes(tensor) as f64);
        self.energy = self.steps_energy(state);
    }

    /// Sorts the steps and prices them where no op moves.
    fn steps_energy(&mut self, state: &State<'_>) -> f64 {
        let mut total = 0.0;
        for (device, steps) in self.steps.iter_mut().enumerate().filter(|(_, steps)| !steps.is_empty()) {
            steps.sort();
            steps.for_each_span(|span, bytes| {
                total += state.sharpness.change(&state.cells[device][span.cells()], bytes, state.scale[device]);
            });
        }
        total
    }

    fn add_steps(&self, state: &mut State<'_>) {
        for (device, steps) in self.steps.iter().enumerate() {
            steps.for_each_span(|span, bytes| {
                state.cells[device][span.cells()].iter_mut().for_each(|held| *held += bytes);
                state.gaps[device][span.gaps()].iter_mut().for_each(|held| *held += bytes);
            });
        }
    }
}

/// The users of an input of `op` on its device after a shift: the others keep their order.
#[inline]
fn users_after_shift(state: &State<'_>, tensor: TensorId, op: OpId, shift: Shift) -> Users {
    let home = state.home(op);
    let mut users = state.users(tensor, home);
    if users.count == 1 {
        return users;
    }
    let (was_first, was_last) = (users.first == op, users.last == op);
    if (shift.is_later() && was_first) || (!shift.is_later() && was_last) {
        return state.scan(tensor, home, |op| shift.position(state.position(op)));
    }
    if shift.is_later() && shift.to >= state.position(users.last) {
        users.last = op;
    }
    if !shift.is_later() && shift.to <= state.position(users.first) {
        users.first = op;
    }
    users
}

/// The users of a tensor on the device of `op` if `op` left it.
fn users_without(state: &State<'_>, tensor: TensorId, op: OpId) -> Users {
    let home = state.home(op);
    let users = state.users(tensor, home);
    if users.first != op && users.last != op {
        return Users { count: users.count - 1, ..users };
    }
    let others = state.graph.consumers(tensor).iter().copied().filter(|&o| o != op && state.home(o) == home);
    users_among(others, |op| state.position(op))
}

/// The users of a tensor on `device` if `op` came to it.
fn users_with(state: &State<'_>, tensor: TensorId, op: OpId, device: usize) -> Users {
    let users = state.users(tensor, device);
    if users.count == 0 {
        return Users { count: 1, first: op, last: op };
    }
    let at = state.position(op);
    Users {
        count: users.count + 1,
        first: if at < state.position(users.first) { op } else { users.first },
        last: if at > state.position(users.last) { op } else { users.last },
    }
}

/// What a device holds in the cell of a shifted op: what it held at the gap, and what the op changes.
#[inline]
fn moved_cell(state: &State<'_>, steps: &Steps, device: usize, op: OpId, shift: Shift) -> f64 {
    let gap = shift.to as usize + usize::from(shift.is_later());
    let scratch = if state.home(op) == device { state.graph.scratch(op) as f64 } else { 0.0 };
    let mut held = state.gaps[device][gap] + scratch;
    steps.for_each_span(|span, bytes| {
        if (span.start..span.end).contains(&cell(shift.to)) {
            held += bytes;
        }
    });
    held
}

/// Energy of a shift on one device: the window's cells move as they are, but for the steps.
#[inline]
fn shift_energy(state: &State<'_>, steps: &Steps, device: usize, op: OpId, shift: Shift) -> f64 {
    let (cells, scale) = (&state.cells[device], state.scale[device]);
    let (first, last) = shift.window();
    let mut total = state.sharpness.of_cell(moved_cell(state, steps, device, op, shift), scale)
        - state.sharpness.of_cell(cells[shift.from as usize], scale);
    steps.for_each_span(|span, bytes| {
        let range = span.cells();
        // The window without the moved op's cell, in positions before the shift.
        let origin = if shift.is_later() {
            range.start.max(first) + 1..range.end.min(last) + 1
        } else {
            range.start.max(first + 1) - 1..range.end.min(last + 1) - 1
        };
        if origin.start < origin.end {
            total += state.sharpness.change(&cells[origin], bytes, scale);
        }
    });
    total
}
