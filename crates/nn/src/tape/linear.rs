//! Matrix products.

use super::{Flow, Tape, Var};
use crate::Matrix;
use crate::layers::Activation;
use crate::matrix::{Side, matmul, product};

impl Tape<'_> {
    /// The product of two matrices.
    pub fn matmul(&mut self, a: Var, b: Var) -> Var {
        let value = matmul(self.value(a), self.value(b));
        self.record(value, &[a, b], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            product_backward(a, b, gradient, flow);
        })
    }

    /// `x weights + bias`, the bias being one row.
    pub fn linear(&mut self, x: Var, weights: Var, bias: Var) -> Var {
        self.affine(&[(x, weights)], &[bias], None)
    }

    /// The sum of products and addends, an addend being one row for all or of full size; then the activation, if any.
    /// One pass over memory instead of one per term.
    ///
    /// # Panics
    /// If there is no product, or the shapes do not fit.
    pub fn affine(&mut self, products: &[(Var, Var)], addends: &[Var], activation: Option<Activation>) -> Var {
        let shape = (self.value(products[0].0).rows, self.value(products[0].1).cols);
        let mut value = self.sum_addends(addends, shape);
        for &(x, weights) in products {
            product((self.value(x), Side::Plain), (self.value(weights), Side::Plain), &mut value, true);
        }
        if let Some(activation) = activation {
            value.data.iter_mut().for_each(|x| *x = activation.value(*x));
        }
        let inputs: Vec<Var> = products.iter().flat_map(|&(x, w)| [x, w]).chain(addends.iter().copied()).collect();
        let (products, addends) = (products.to_vec(), addends.to_vec());
        self.record(value, &inputs, move |value: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let inner = activation.map(|activation| through(activation, value, gradient));
            let gradient = inner.as_ref().unwrap_or(gradient);
            products.iter().for_each(|&(x, weights)| product_backward(x, weights, gradient, flow));
            addends.iter().for_each(|&addend| addend_backward(addend, gradient, flow));
        })
    }

    /// The sum of addends, or zero.
    fn sum_addends(&self, addends: &[Var], (rows, cols): (usize, usize)) -> Matrix {
        let Some((&first, others)) = addends.split_first() else { return Matrix::zeros(rows, cols) };
        let first = self.value(first);
        assert!(first.cols == cols && (first.rows == 1 || first.rows == rows), "an addend of one row or all rows");
        let mut sum = match first.rows == rows {
            true => first.clone(),
            false => Matrix::new(rows, cols, first.data.repeat(rows)),
        };
        for &other in others {
            let other = self.value(other);
            match other.rows == rows {
                true => sum.add(other),
                false => sum.data.chunks_exact_mut(cols).for_each(|row| add(row, &other.data)),
            }
        }
        sum
    }
}

/// The gradient before an activation.
fn through(activation: Activation, value: &Matrix, gradient: &Matrix) -> Matrix {
    let slopes = value.data.iter().zip(&gradient.data).map(|(&y, &g)| activation.slope(y) * g);
    Matrix::new(value.rows, value.cols, slopes.collect())
}

fn product_backward(a: Var, b: Var, gradient: &Matrix, flow: &mut Flow) {
    let (left, right) = (flow.value(a), flow.value(b));
    if let Some(out) = flow.gradient(a) {
        product((gradient, Side::Plain), (right, Side::Transposed), out, true);
    }
    if let Some(out) = flow.gradient(b) {
        product((left, Side::Transposed), (gradient, Side::Plain), out, true);
    }
}

fn addend_backward(addend: Var, gradient: &Matrix, flow: &mut Flow) {
    if let Some(out) = flow.gradient(addend) {
        match out.rows == gradient.rows {
            true => out.add(gradient),
            false => gradient.iter_rows().for_each(|row| add(&mut out.data, row)),
        }
    }
}

/// Adds values one by one.
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(x, y)| *x += y);
}
