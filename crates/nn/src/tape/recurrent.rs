//! Gated recurrent cells.

use super::{Flow, Tape, Var};
use crate::math::{sigmoid, tanh};
use crate::matrix::{Side, product};
use crate::{Matrix, Segments};

impl<'a> Tape<'a> {
    /// One update of a gated recurrent unit (Cho et al. 2014). `input` and `state` have three blocks of columns each, for the
    /// reset gate, the update gate and the candidate; biases are within. `h` is the state before.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn gru_cell(&mut self, input: Var, state: Var, h: Var) -> Var {
        let (x, s, before) = (self.value(input), self.value(state), self.value(h));
        let hidden = before.cols;
        assert!(x.shape() == (before.rows, 3 * hidden) && s.shape() == x.shape(), "three blocks for each state");
        let (mut gates, mut value) = (x.clone(), before.clone());
        for row in 0..before.rows {
            gru_row(s.row(row), gates.row_mut(row), value.row_mut(row));
        }
        self.record(value, &[input, state, h], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            gru_backward(&gates, [input, state, h], gradient, flow);
        })
    }

    /// A long short-term memory over the rows of each segment in order (Hochreiter and Schmidhuber 1997; equations 6 to
    /// 11 of the paper). `input` has four blocks of columns for the input, forget and output gates and the candidate, with
    /// biases within; `weights` carry the state before into the same blocks. The state starts at zero.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn lstm(&mut self, input: Var, weights: Var, segments: &'a Segments) -> Var {
        let (x, w) = (self.value(input), self.value(weights));
        let hidden = w.rows;
        assert!(w.cols == 4 * hidden && x.shape() == (segments.rows(), w.cols), "four blocks for each step");
        let mut trace = LstmTrace { gates: x.clone(), cells: Matrix::zeros(x.rows, hidden) };
        let mut value = Matrix::zeros(x.rows, hidden);
        for range in segments.iter() {
            for row in range.clone() {
                let before = (row > range.start).then(|| row - 1);
                trace.step(row, before, w, &mut value);
            }
        }
        self.record(value, &[input, weights], move |value: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let d_gates = trace.backward(flow.value(weights), gradient, segments);
            if let Some(out) = flow.gradient(weights) {
                weights_gradient(value, &d_gates, segments, out);
            }
            if let Some(out) = flow.gradient(input) {
                out.add(&d_gates);
            }
        })
    }
}

/// Turns the inputs of the gates into their values, and the state before into the one after.
fn gru_row(s: &[f32], gates: &mut [f32], h: &mut [f32]) {
    let hidden = h.len();
    let (sigmoids, candidates) = gates.split_at_mut(2 * hidden);
    sigmoids.iter_mut().zip(s).for_each(|(gate, s)| *gate = sigmoid(*gate + s));
    let (reset, update) = sigmoids.split_at(hidden);
    for ((candidate, r), s) in candidates.iter_mut().zip(reset).zip(&s[2 * hidden..]) {
        *candidate = tanh(*candidate + r * s);
    }
    for ((h, candidate), u) in h.iter_mut().zip(candidates).zip(update) {
        *h = *candidate + u * (*h - *candidate);
    }
}

fn gru_backward(gates: &Matrix, [input, state, h]: [Var; 3], gradient: &Matrix, flow: &mut Flow) {
    let (s, before) = (flow.value(state), flow.value(h));
    let hidden = before.cols;
    let (mut by_input, mut by_state) = (Matrix::zeros(s.rows, s.cols), Matrix::zeros(s.rows, s.cols));
    let mut by_h = Matrix::zeros(before.rows, hidden);
    for row in 0..s.rows {
        let (gates, s, before) = (gates.row(row), s.row(row), before.row(row));
        let (to_input, to_state) = (by_input.row_mut(row), by_state.row_mut(row));
        for (i, &g) in gradient.row(row).iter().enumerate() {
            let [reset, update, candidate] = [0, 1, 2].map(|block| gates[block * hidden + i]);
            let by_candidate = g * (1.0 - update) * (1.0 - candidate * candidate);
            let by_update = g * (before[i] - candidate) * update * (1.0 - update);
            let by_reset = by_candidate * s[2 * hidden + i] * reset * (1.0 - reset);
            (to_input[i], to_input[hidden + i], to_input[2 * hidden + i]) = (by_reset, by_update, by_candidate);
            (to_state[i], to_state[hidden + i], to_state[2 * hidden + i]) = (by_reset, by_update, by_candidate * reset);
            by_h.row_mut(row)[i] = g * update;
        }
    }
    for (var, values) in [(input, by_input), (state, by_state), (h, by_h)] {
        if let Some(out) = flow.gradient(var) {
            out.add(&values);
        }
    }
}

/// What the way back through a sequence needs.
struct LstmTrace {
    /// Input, forget and output gates and candidate of every step, after their activations.
    gates: Matrix,
    /// The cell after every step.
    cells: Matrix,
}

impl LstmTrace {
    /// One step, from the state at row `before`, or from zero.
    fn step(&mut self, row: usize, before: Option<usize>, weights: &Matrix, out: &mut Matrix) {
        let hidden = weights.rows;
        let gates = self.gates.row_mut(row);
        if let Some(before) = before {
            for (k, &h) in out.row(before).iter().enumerate() {
                gates.iter_mut().zip(weights.row(k)).for_each(|(gate, w)| *gate += h * w);
            }
        }
        let (sigmoids, candidates) = gates.split_at_mut(3 * hidden);
        sigmoids.iter_mut().for_each(|gate| *gate = sigmoid(*gate));
        candidates.iter_mut().for_each(|gate| *gate = tanh(*gate));
        for column in 0..hidden {
            let kept = before.map_or(0.0, |before| self.cells.row(before)[column]);
            let cell = sigmoids[hidden + column] * kept + sigmoids[column] * candidates[column];
            self.cells.row_mut(row)[column] = cell;
            out.row_mut(row)[column] = sigmoids[2 * hidden + column] * tanh(cell);
        }
    }

    /// Derivatives by the arguments of all gates.
    fn backward(&self, weights: &Matrix, gradient: &Matrix, segments: &Segments) -> Matrix {
        let mut d_gates = Matrix::zeros(self.gates.rows, self.gates.cols);
        for range in segments.iter() {
            let mut carried = Carried { state: vec![0.0; weights.rows], cell: vec![0.0; weights.rows] };
            for row in range.clone().rev() {
                let before = (row > range.start).then(|| self.cells.row(row - 1));
                self.step_back(row, before, gradient.row(row), &mut carried, d_gates.row_mut(row));
                for (k, state) in carried.state.iter_mut().enumerate() {
                    *state = d_gates.row(row).iter().zip(weights.row(k)).map(|(g, w)| g * w).sum();
                }
            }
        }
        d_gates
    }

    fn step_back(&self, row: usize, before: Option<&[f32]>, gradient: &[f32], carried: &mut Carried, out: &mut [f32]) {
        let hidden = gradient.len();
        let gates = self.gates.row(row);
        for column in 0..hidden {
            let [input, forget, output, candidate] = [0, 1, 2, 3].map(|block| gates[block * hidden + column]);
            let squashed = tanh(self.cells.row(row)[column]);
            let d_state = gradient[column] + carried.state[column];
            let d_cell = carried.cell[column] + d_state * output * (1.0 - squashed * squashed);
            let kept = before.map_or(0.0, |before| before[column]);
            out[column] = d_cell * candidate * input * (1.0 - input);
            out[hidden + column] = d_cell * kept * forget * (1.0 - forget);
            out[2 * hidden + column] = d_state * squashed * output * (1.0 - output);
            out[3 * hidden + column] = d_cell * input * (1.0 - candidate * candidate);
            carried.cell[column] = d_cell * forget;
        }
    }
}

/// Derivatives that flow from a step to the one before.
struct Carried {
    state: Vec<f32>,
    cell: Vec<f32>,
}

/// Each step's derivatives times the state before it; a segment's first step has none.
fn weights_gradient(states: &Matrix, d_gates: &Matrix, segments: &Segments, out: &mut Matrix) {
    for range in segments.iter().filter(|range| range.len() > 1) {
        let part = |m: &Matrix, rows: std::ops::Range<usize>| {
            Matrix::new(rows.len(), m.cols, m.data[rows.start * m.cols..rows.end * m.cols].to_vec())
        };
        let before = part(states, range.start..range.end - 1);
        let after = part(d_gates, range.start + 1..range.end);
        product((&before, Side::Transposed), (&after, Side::Plain), out, true);
    }
}
