//! Operations that move values.

use super::linear::add;
use super::{Flow, Tape, Var};
use crate::Matrix;

impl Tape<'_> {
    /// Matrices of the same number of rows, side by side.
    ///
    /// # Panics
    /// If there are none.
    pub fn concat(&mut self, parts: &[Var]) -> Var {
        let rows = self.value(parts[0]).rows;
        let cols = parts.iter().map(|&part| self.value(part).cols).sum();
        let mut data = Vec::with_capacity(rows * cols);
        for row in 0..rows {
            parts.iter().for_each(|&part| data.extend_from_slice(self.value(part).row(row)));
        }
        let inputs = parts.to_vec();
        self.record(Matrix::new(rows, cols, data), parts, move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let mut start = 0;
            for &part in &inputs {
                let end = start + flow.value(part).cols;
                if let Some(out) = flow.gradient(part) {
                    for row in 0..out.rows {
                        add(out.row_mut(row), &gradient.row(row)[start..end]);
                    }
                }
                start = end;
            }
        })
    }

    /// A range of columns.
    pub fn columns(&mut self, x: Var, range: std::ops::Range<usize>) -> Var {
        let source = self.value(x);
        let mut data = Vec::with_capacity(source.rows * range.len());
        source.iter_rows().for_each(|row| data.extend_from_slice(&row[range.clone()]));
        let value = Matrix::new(source.rows, range.len(), data);
        self.record(value, &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let Some(out) = flow.gradient(x) else { return };
            for row in 0..out.rows {
                add(&mut out.row_mut(row)[range.clone()], gradient.row(row));
            }
        })
    }

    /// A range of rows.
    pub fn rows(&mut self, x: Var, range: std::ops::Range<usize>) -> Var {
        let source = self.value(x);
        let values = range.start * source.cols..range.end * source.cols;
        let value = Matrix::new(range.len(), source.cols, source.data[values.clone()].to_vec());
        self.record(value, &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            if let Some(out) = flow.gradient(x) {
                add(&mut out.data[values.clone()], &gradient.data);
            }
        })
    }

    /// Matrices of the same number of columns, one above the other.
    ///
    /// # Panics
    /// If there are none.
    pub fn stack(&mut self, parts: &[Var]) -> Var {
        let cols = self.value(parts[0]).cols;
        let data: Vec<f32> = parts.iter().flat_map(|&part| &self.value(part).data).copied().collect();
        let rows = parts.iter().map(|&part| self.value(part).rows).sum();
        let inputs = parts.to_vec();
        self.record(Matrix::new(rows, cols, data), parts, move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let mut start = 0;
            for &part in &inputs {
                let end = start + flow.value(part).data.len();
                if let Some(out) = flow.gradient(part) {
                    add(&mut out.data, &gradient.data[start..end]);
                }
                start = end;
            }
        })
    }

    /// The same values, row by row, in another shape.
    pub fn reshape(&mut self, x: Var, rows: usize, cols: usize) -> Var {
        let value = Matrix::new(rows, cols, self.value(x).data.clone());
        self.record(value, &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            if let Some(out) = flow.gradient(x) {
                add(&mut out.data, &gradient.data);
            }
        })
    }

    /// The rows with the given indices; a row may be taken more than once.
    pub fn gather(&mut self, x: Var, rows: Vec<u32>) -> Var {
        let source = self.value(x);
        let mut data = Vec::with_capacity(rows.len() * source.cols);
        rows.iter().for_each(|&row| data.extend_from_slice(source.row(row as usize)));
        let value = Matrix::new(rows.len(), source.cols, data);
        self.record(value, &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let Some(out) = flow.gradient(x) else { return };
            for (row, from) in rows.iter().zip(gradient.iter_rows()) {
                add(out.row_mut(*row as usize), from);
            }
        })
    }

    /// One value of each row: column `columns[r]` of row `r`.
    ///
    /// # Panics
    /// If there is not one column for each row.
    pub fn pick(&mut self, x: Var, columns: Vec<u32>) -> Var {
        let source = self.value(x);
        assert_eq!(columns.len(), source.rows, "one column for each row");
        let picked = source.iter_rows().zip(&columns).map(|(row, &column)| row[column as usize]).collect();
        self.record(Matrix::column(picked), &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let Some(out) = flow.gradient(x) else { return };
            for (row, (&column, g)) in columns.iter().zip(&gradient.data).enumerate() {
                out.row_mut(row)[column as usize] += g;
            }
        })
    }
}
