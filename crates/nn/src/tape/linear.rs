//! Matrix products.

use super::{Flow, Tape, Var};
use crate::Matrix;
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
        let rows = self.value(x).rows;
        let row = self.value(bias);
        let mut value = Matrix::new(rows, row.cols, row.data.repeat(rows));
        product((self.value(x), Side::Plain), (self.value(weights), Side::Plain), &mut value, true);
        self.record(value, &[x, weights, bias], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            product_backward(x, weights, gradient, flow);
            if let Some(out) = flow.gradient(bias) {
                add_rows(gradient, &mut out.data);
            }
        })
    }
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

/// Adds every row of a matrix to one row.
pub(super) fn add_rows(m: &Matrix, sums: &mut [f32]) {
    for row in m.iter_rows() {
        for (sum, x) in sums.iter_mut().zip(row) {
            *sum += x;
        }
    }
}
