//! Sums and means.

use super::{Flow, Tape, Var};
use crate::{Matrix, Segments};

impl<'a> Tape<'a> {
    /// Sum over all values.
    pub fn sum(&mut self, x: Var) -> Var {
        let value = Matrix::column(vec![self.value(x).data.iter().sum()]);
        self.record(value, &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            if let Some(out) = flow.gradient(x) {
                out.data.iter_mut().for_each(|o| *o += gradient.data[0]);
            }
        })
    }

    /// Mean over all values; zero if there are none.
    pub fn mean(&mut self, x: Var) -> Var {
        let count = self.value(x).data.len().max(1) as f32;
        let sum = self.sum(x);
        self.scale(sum, 1.0 / count)
    }

    /// Sum of each row, as one column.
    pub fn row_sum(&mut self, x: Var) -> Var {
        let sums = self.value(x).iter_rows().map(|row| row.iter().sum()).collect();
        self.record(Matrix::column(sums), &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let Some(out) = flow.gradient(x) else { return };
            for (row, g) in gradient.data.iter().enumerate() {
                out.row_mut(row).iter_mut().for_each(|o| *o += g);
            }
        })
    }

    /// Sum over the rows of each segment: one row a segment.
    pub fn segment_sum(&mut self, x: Var, segments: &'a Segments) -> Var {
        self.segment_weighted(x, segments, |_| 1.0)
    }

    /// Mean over the rows of each segment; zero for an empty one.
    pub fn segment_mean(&mut self, x: Var, segments: &'a Segments) -> Var {
        self.segment_weighted(x, segments, |rows| 1.0 / rows.max(1) as f32)
    }

    /// Sum over the rows of each segment, times a weight that depends on their number.
    fn segment_weighted(&mut self, x: Var, segments: &'a Segments, weight: fn(usize) -> f32) -> Var {
        let source = self.value(x);
        assert_eq!(source.rows, segments.rows(), "segments cover all rows");
        let mut value = Matrix::zeros(segments.len(), source.cols);
        for (segment, range) in segments.iter().enumerate() {
            let factor = weight(range.len());
            let sums = value.row_mut(segment);
            for row in range {
                sums.iter_mut().zip(source.row(row)).for_each(|(sum, x)| *sum += x);
            }
            sums.iter_mut().for_each(|sum| *sum *= factor);
        }
        self.record(value, &[x], move |_: &Matrix, gradient: &Matrix, flow: &mut Flow| {
            let Some(out) = flow.gradient(x) else { return };
            for (segment, range) in segments.iter().enumerate() {
                let factor = weight(range.len());
                for row in range {
                    out.row_mut(row).iter_mut().zip(gradient.row(segment)).for_each(|(o, g)| *o += factor * g);
                }
            }
        })
    }
}
