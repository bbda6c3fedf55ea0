//! Operations on each value by itself.

use super::{Flow, Tape, Var};
use crate::{Activation, Matrix, math};
use rand::{Rng, RngExt as _};

impl Tape<'_> {
    /// Sum of two matrices of the same shape.
    pub fn add(&mut self, a: Var, b: Var) -> Var {
        self.zip(a, b, |x, y| x + y, |_, _| (1.0, 1.0))
    }

    /// Difference of two matrices of the same shape.
    pub fn sub(&mut self, a: Var, b: Var) -> Var {
        self.zip(a, b, |x, y| x - y, |_, _| (1.0, -1.0))
    }

    /// Product value by value of two matrices of the same shape.
    pub fn mul(&mut self, a: Var, b: Var) -> Var {
        self.zip(a, b, |x, y| x * y, |x, y| (y, x))
    }

    /// `factor * x`.
    pub fn scale(&mut self, x: Var, factor: f32) -> Var {
        self.map(x, move |x| factor * x, move |_, _| factor)
    }

    /// `max(x, 0)`.
    pub fn relu(&mut self, x: Var) -> Var {
        self.activate(x, Activation::Relu)
    }

    /// Hyperbolic tangent.
    pub fn tanh(&mut self, x: Var) -> Var {
        self.activate(x, Activation::Tanh)
    }

    /// An activation, value by value.
    pub fn activate(&mut self, x: Var, activation: Activation) -> Var {
        self.map(x, move |x| activation.value(x), move |_, y| activation.slope(y))
    }

    /// `1 / (1 + exp(-x))`.
    pub fn sigmoid(&mut self, x: Var) -> Var {
        self.map(x, math::sigmoid, |_, y| y * (1.0 - y))
    }

    /// Exponential.
    pub fn exp(&mut self, x: Var) -> Var {
        self.map(x, math::exp, |_, y| y)
    }

    /// Zeroes each value with probability `rate` and scales the others up by `1 / (1 - rate)`. For training only.
    ///
    /// # Panics
    /// If the rate is not within 0 to 1, 1 excluded.
    pub fn dropout(&mut self, x: Var, rate: f32, rng: &mut impl Rng) -> Var {
        assert!((0.0..1.0).contains(&rate), "dropout of {rate}");
        let (rows, cols) = self.value(x).shape();
        let mut keep = || if rng.random::<f32>() < rate { 0.0 } else { 1.0 / (1.0 - rate) };
        let mask = Matrix::new(rows, cols, (0..rows * cols).map(|_| keep()).collect());
        let mask = self.constant(mask);
        self.mul(x, mask)
    }

    /// A function of each value with its derivative, given as a function of x and y.
    fn map(
        &mut self,
        x: Var,
        function: impl Fn(f32) -> f32,
        derivative: impl Fn(f32, f32) -> f32 + Clone + 'static,
    ) -> Var {
        let source = self.value(x);
        let value = Matrix::new(source.rows, source.cols, source.data.iter().map(|&x| function(x)).collect());
        self.record(value, &[x], move |value: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let source = flow.value(x);
            let Some(out) = flow.gradient(x) else { return };
            let points = source.data.iter().zip(&value.data);
            for ((o, g), (&x, &y)) in out.data.iter_mut().zip(&gradient.data).zip(points) {
                *o += g * derivative(x, y);
            }
        })
    }

    /// A function of two values with its two derivatives.
    fn zip(
        &mut self,
        a: Var,
        b: Var,
        function: impl Fn(f32, f32) -> f32,
        derivatives: impl Fn(f32, f32) -> (f32, f32) + Clone + 'static,
    ) -> Var {
        let (left, right) = (self.value(a), self.value(b));
        assert_eq!(left.shape(), right.shape(), "two matrices of one shape");
        let data = left.data.iter().zip(&right.data).map(|(&x, &y)| function(x, y)).collect();
        let value = Matrix::new(left.rows, left.cols, data);
        self.record(value, &[a, b], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let (left, right) = (flow.value(a), flow.value(b));
            if let Some(out) = flow.gradient(a) {
                let points = left.data.iter().zip(&right.data);
                for ((o, g), (&x, &y)) in out.data.iter_mut().zip(&gradient.data).zip(points) {
                    *o += g * derivatives(x, y).0;
                }
            }
            if let Some(out) = flow.gradient(b) {
                let points = left.data.iter().zip(&right.data);
                for ((o, g), (&x, &y)) in out.data.iter_mut().zip(&gradient.data).zip(points) {
                    *o += g * derivatives(x, y).1;
                }
            }
        })
    }
}
