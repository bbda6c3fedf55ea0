//! Messages along edges of several types, each with a matrix of its own.

use super::linear::add;
use super::{Flow, Tape, Var};
use crate::matrix::{Side, product};
use crate::{EdgeArrays, Matrix};

impl<'a> Tape<'a> {
    /// For each of so many targets the sum over its incoming edges of `h_source W_type`. `weights` holds the matrices of all
    /// types, one above the other; `edges` has the edges of each type, from rows of `h` to targets. Rows are gathered by
    /// type, so that there is one product for each type and one row for each edge.
    ///
    /// # Panics
    /// If the shapes do not fit, or an edge has an end that is not there.
    pub fn typed_messages(&mut self, h: Var, weights: Var, edges: &'a [EdgeArrays], targets: usize) -> Var {
        let (states, matrices) = (self.value(h), self.value(weights));
        assert_eq!(matrices.rows, edges.len() * states.cols, "a matrix for each type");
        let mut value = Matrix::zeros(targets, matrices.cols);
        for (number, edges) in edges.iter().enumerate().filter(|(_, edges)| !edges.sources.is_empty()) {
            let sent = gather(states, &edges.sources);
            let mut messages = Matrix::zeros(sent.rows, matrices.cols);
            let matrix = block(matrices, number, states.cols);
            product((&sent, Side::Plain), (&matrix, Side::Plain), &mut messages, false);
            scatter(&messages, &edges.targets, &mut value);
        }
        self.record(value, &[h, weights], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            backward(h, weights, edges, gradient, flow);
        })
    }
}

fn backward(h: Var, weights: Var, edges: &[EdgeArrays], gradient: &Matrix, flow: &mut Flow) {
    let (states, matrices) = (flow.value(h), flow.value(weights));
    let width = states.cols;
    for (number, edges) in edges.iter().enumerate().filter(|(_, edges)| !edges.sources.is_empty()) {
        let arriving = gather(gradient, &edges.targets);
        if let Some(out) = flow.gradient(h) {
            let mut passed = Matrix::zeros(arriving.rows, width);
            let matrix = block(matrices, number, width);
            product((&arriving, Side::Plain), (&matrix, Side::Transposed), &mut passed, false);
            scatter(&passed, &edges.sources, out);
        }
        if let Some(out) = flow.gradient(weights) {
            let sent = gather(states, &edges.sources);
            let mut by_matrix = Matrix::zeros(width, gradient.cols);
            product((&sent, Side::Transposed), (&arriving, Side::Plain), &mut by_matrix, false);
            add(&mut out.data[number * width * gradient.cols..][..by_matrix.data.len()], &by_matrix.data);
        }
    }
}

/// The matrix of a type.
fn block(matrices: &Matrix, number: usize, width: usize) -> Matrix {
    let values = number * width * matrices.cols..(number + 1) * width * matrices.cols;
    Matrix::new(width, matrices.cols, matrices.data[values].to_vec())
}

fn gather(from: &Matrix, rows: &[u32]) -> Matrix {
    let mut data = Vec::with_capacity(rows.len() * from.cols);
    rows.iter().for_each(|&row| data.extend_from_slice(from.row(row as usize)));
    Matrix::new(rows.len(), from.cols, data)
}

fn scatter(values: &Matrix, rows: &[u32], to: &mut Matrix) {
    for (value, &row) in values.iter_rows().zip(rows) {
        add(to.row_mut(row as usize), value);
    }
}
