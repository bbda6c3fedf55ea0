//! Adam (Kingma and Ba 2015).

use crate::{Gradients, Matrix, Params};

/// The optimiser with its state. All of it is public, so that a run can be saved and resumed exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// Learning rate.
    pub learning_rate: f32,
    /// Decay rates of the two moments.
    pub betas: (f32, f32),
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// Steps done.
    pub steps: u64,
    /// First moments, in the order of the parameters.
    pub first: Vec<Matrix>,
    /// Second moments, in the order of the parameters.
    pub second: Vec<Matrix>,
}

impl Adam {
    /// A fresh optimiser with the usual decay rates 0.9 and 0.999 and epsilon 1e-8.
    pub fn new(params: &Params, learning_rate: f32) -> Self {
        let zeros = Gradients::zeros(params).values;
        Self { learning_rate, betas: (0.9, 0.999), epsilon: 1e-8, steps: 0, first: zeros.clone(), second: zeros }
    }

    /// Moves the parameters against the gradients.
    ///
    /// # Panics
    /// If the parameters or gradients have another layout than those that the optimiser was made for.
    pub fn step(&mut self, params: &mut Params, gradients: &Gradients) {
        assert!(params.len() == self.first.len() && gradients.values.len() == self.first.len());
        self.steps += 1;
        let exponent = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let bias = |beta: f32| 1.0 - f64::from(beta).powi(exponent);
        let (bias1, bias2) = (bias(self.betas.0) as f32, bias(self.betas.1) as f32);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((value, gradient), (first, second)) in params.values_mut().iter_mut().zip(&gradients.values).zip(moments) {
            let moments = first.data.iter_mut().zip(&mut second.data);
            for ((x, &g), (m, v)) in value.data.iter_mut().zip(&gradient.data).zip(moments) {
                *m += (1.0 - self.betas.0) * (g - *m);
                *v += (1.0 - self.betas.1) * (g * g - *v);
                *x -= self.learning_rate * (*m / bias1) / ((*v / bias2).sqrt() + self.epsilon);
            }
        }
    }
}
