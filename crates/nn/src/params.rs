//! Parameters of a model: ordered, named matrices; and gradients of the same layout.

use crate::Matrix;
use rand::{Rng, RngExt as _};

/// One matrix of [`Params`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ParamId(pub(crate) u32);

/// How a parameter starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Init {
    /// All zero.
    Zero,
    /// All equal.
    Constant(f32),
    /// Uniform of variance 2 / (inputs + outputs) (Glorot and Bengio 2010).
    Glorot,
    /// Uniform of variance 2 / inputs (He et al. 2015), for weights before a ReLU.
    He,
}

/// Named matrices in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    names: Vec<String>,
    values: Vec<Matrix>,
}

impl Params {
    /// No parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter.
    ///
    /// # Panics
    /// If the name is taken.
    pub fn add(&mut self, name: &str, shape: (usize, usize), init: Init, rng: &mut impl Rng) -> ParamId {
        let (rows, cols) = shape;
        let mut uniform = |variance: f32| {
            let limit = (3.0 * variance).sqrt();
            (0..rows * cols).map(|_| (2.0 * rng.random::<f32>() - 1.0) * limit).collect()
        };
        let data = match init {
            Init::Zero => vec![0.0; rows * cols],
            Init::Constant(value) => vec![value; rows * cols],
            Init::Glorot => uniform(2.0 / (rows + cols).max(1) as f32),
            Init::He => uniform(2.0 / rows.max(1) as f32),
        };
        self.push(name, Matrix::new(rows, cols, data))
    }

    /// Adds a parameter with a known value.
    ///
    /// # Panics
    /// If the name is taken.
    pub fn push(&mut self, name: &str, value: Matrix) -> ParamId {
        assert!(self.find(name).is_none(), "two parameters named {name}");
        self.names.push(name.to_string());
        self.values.push(value);
        ParamId(self.values.len() as u32 - 1)
    }

    /// The parameter with a name.
    pub fn find(&self, name: &str) -> Option<ParamId> {
        self.names.iter().position(|n| n == name).map(|index| ParamId(index as u32))
    }

    /// All parameters in order.
    pub fn ids(&self) -> impl Iterator<Item = ParamId> + use<> {
        (0..self.values.len() as u32).map(ParamId)
    }

    /// The name of a parameter.
    pub fn name(&self, id: ParamId) -> &str {
        &self.names[id.0 as usize]
    }

    /// Number of parameters (matrices).
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of values over all parameters.
    pub fn count(&self) -> usize {
        self.values.iter().map(|value| value.data.len()).sum()
    }

    /// The value of a parameter.
    pub fn get(&self, id: ParamId) -> &Matrix {
        &self.values[id.0 as usize]
    }

    /// The value of a parameter, to write.
    pub fn get_mut(&mut self, id: ParamId) -> &mut Matrix {
        &mut self.values[id.0 as usize]
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Matrix)> {
        self.names.iter().map(String::as_str).zip(&self.values)
    }

    pub(crate) fn values_mut(&mut self) -> &mut [Matrix] {
        &mut self.values
    }
}

/// A gradient for every parameter, in the same order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradients {
    pub(crate) values: Vec<Matrix>,
}

impl Gradients {
    /// All zero.
    pub fn zeros(params: &Params) -> Self {
        Self { values: params.values.iter().map(|value| Matrix::zeros(value.rows, value.cols)).collect() }
    }

    /// Gradients that were computed by hand: one value for each parameter, in the same order.
    pub fn from_values(values: &Params) -> Self {
        Self { values: values.values.clone() }
    }

    /// The gradient of one parameter.
    pub fn get(&self, id: ParamId) -> &Matrix {
        &self.values[id.0 as usize]
    }

    /// Adds the gradients of another loss.
    pub fn add(&mut self, other: &Self) {
        for (x, y) in self.values.iter_mut().zip(&other.values) {
            x.add(y);
        }
    }

    /// Multiplies by a factor.
    pub fn scale(&mut self, factor: f32) {
        for x in self.values.iter_mut().flat_map(|value| &mut value.data) {
            *x *= factor;
        }
    }

    /// Euclidean norm over all values.
    pub fn norm(&self) -> f64 {
        let squares = self.values.iter().flat_map(|value| &value.data).map(|&x| f64::from(x) * f64::from(x));
        squares.sum::<f64>().sqrt()
    }

    /// Scales down to a norm, if it is larger; returns the norm before.
    pub fn clip_by_norm(&mut self, most: f64) -> f64 {
        let norm = self.norm();
        if norm > most {
            self.scale((most / norm) as f32);
        }
        norm
    }

    /// Whether every value is finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().flat_map(|value| &value.data).all(|x| x.is_finite())
    }
}
