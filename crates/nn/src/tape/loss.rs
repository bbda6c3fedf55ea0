//! Log-probabilities and losses.

use super::{Flow, Tape, Var};
use crate::{Matrix, Segments, math};
use std::ops::Range;

impl<'a> Tape<'a> {
    /// Logarithm of the softmax over each row.
    pub fn log_softmax(&mut self, x: Var) -> Var {
        let (rows, cols) = self.value(x).shape();
        self.log_softmax_over(x, move || (0..rows).map(move |row| row * cols..(row + 1) * cols))
    }

    /// Logarithm of the softmax over the values of each segment: one choice among the nodes of each graph.
    ///
    /// # Panics
    /// If there is more than one column, or the segments do not cover all rows.
    pub fn segment_log_softmax(&mut self, x: Var, segments: &'a Segments) -> Var {
        assert_eq!(self.value(x).shape(), (segments.rows(), 1), "one column, covered by segments");
        self.log_softmax_over(x, move || segments.iter())
    }

    fn log_softmax_over<I: Iterator<Item = Range<usize>>>(&mut self, x: Var, groups: impl Fn() -> I + 'a) -> Var {
        let mut value = self.value(x).clone();
        groups().for_each(|group| log_softmax(&mut value.data[group]));
        self.record(value, &[x], move |value: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let Some(out) = flow.gradient(x) else { return };
            for group in groups() {
                let total: f32 = gradient.data[group.clone()].iter().sum();
                let sides = value.data[group.clone()].iter().zip(&gradient.data[group.clone()]);
                for (o, (y, g)) in out.data[group].iter_mut().zip(sides) {
                    *o += g - total * math::exp(*y);
                }
            }
        })
    }

    /// Entropy of the distribution whose log-probabilities stand in each row, as one column.
    pub fn entropy(&mut self, log_probabilities: Var) -> Var {
        let probabilities = self.exp(log_probabilities);
        let terms = self.mul(probabilities, log_probabilities);
        let sums = self.row_sum(terms);
        self.scale(sums, -1.0)
    }

    /// `(x - target)^2`, value by value.
    pub fn squared_error(&mut self, x: Var, target: &Matrix) -> Var {
        self.error(x, target, |difference| difference * difference, |difference| 2.0 * difference)
    }

    /// Half the squared error up to `delta`, linear beyond (Huber 1964), value by value.
    pub fn huber(&mut self, x: Var, target: &Matrix, delta: f32) -> Var {
        let loss = move |d: f32| match d.abs() <= delta {
            true => 0.5 * d * d,
            false => delta * (d.abs() - 0.5 * delta),
        };
        self.error(x, target, loss, move |d| d.clamp(-delta, delta))
    }

    fn error(
        &mut self,
        x: Var,
        target: &Matrix,
        loss: impl Fn(f32) -> f32,
        derivative: impl Fn(f32) -> f32 + 'static,
    ) -> Var {
        let source = self.value(x);
        assert_eq!(source.shape(), target.shape(), "a target for each value");
        let differences: Vec<f32> = source.data.iter().zip(&target.data).map(|(x, t)| x - t).collect();
        let value = Matrix::new(source.rows, source.cols, differences.iter().map(|&d| loss(d)).collect());
        self.record(value, &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let Some(out) = flow.gradient(x) else { return };
            for (o, (g, &d)) in out.data.iter_mut().zip(gradient.data.iter().zip(&differences)) {
                *o += g * derivative(d);
            }
        })
    }
}

/// Subtracts the logarithm of the sum of exponentials.
fn log_softmax(values: &mut [f32]) {
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let log_sum = values.iter().map(|x| math::exp(x - most)).sum::<f32>().ln() + most;
    values.iter_mut().for_each(|x| *x -= log_sum);
}
