//! Dense matrices of `f32`, row by row.

/// A dense matrix, stored row by row. A vector of n values is n x 1 or 1 x n; a scalar is 1 x 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows * cols` values, row by row.
    pub data: Vec<f32>,
}

impl Matrix {
    /// All zero.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// From values stored row by row.
    ///
    /// # Panics
    /// If the number of values is not `rows * cols`.
    pub fn new(rows: usize, cols: usize, data: Vec<f32>) -> Self {
        assert_eq!(data.len(), rows * cols, "a {rows} x {cols} matrix has another number of values");
        Self { rows, cols, data }
    }

    /// From rows of equal length.
    ///
    /// # Panics
    /// If the rows have different lengths.
    pub fn from_rows<R: AsRef<[f32]>>(rows: &[R]) -> Self {
        let cols = rows.first().map_or(0, |row| row.as_ref().len());
        Self::new(rows.len(), cols, rows.iter().flat_map(|row| row.as_ref()).copied().collect())
    }

    /// One column.
    pub fn column(values: Vec<f32>) -> Self {
        Self { rows: values.len(), cols: 1, data: values }
    }

    /// Row `index`.
    #[inline]
    pub fn row(&self, index: usize) -> &[f32] {
        &self.data[index * self.cols..(index + 1) * self.cols]
    }

    /// Row `index`, to write.
    #[inline]
    pub fn row_mut(&mut self, index: usize) -> &mut [f32] {
        &mut self.data[index * self.cols..(index + 1) * self.cols]
    }

    /// All rows in order.
    pub fn iter_rows(&self) -> impl Iterator<Item = &[f32]> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// The only value of a 1 x 1 matrix.
    ///
    /// # Panics
    /// If there is not exactly one value.
    pub fn scalar(&self) -> f32 {
        assert_eq!(self.data.len(), 1, "not a scalar: {} x {}", self.rows, self.cols);
        self.data[0]
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Adds another matrix of the same shape.
    pub fn add(&mut self, other: &Self) {
        debug_assert_eq!(self.shape(), other.shape());
        for (x, y) in self.data.iter_mut().zip(&other.data) {
            *x += y;
        }
    }
}

/// How a product reads one of its factors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// As it is.
    Plain,
    /// Rows as columns.
    Transposed,
}

impl Side {
    /// Shape as the product sees it, with the strides between its rows and between its columns.
    fn view(self, m: &Matrix) -> (usize, usize, isize, isize) {
        match self {
            Self::Plain => (m.rows, m.cols, m.cols as isize, 1),
            Self::Transposed => (m.cols, m.rows, 1, m.cols as isize),
        }
    }
}

/// `out = a b`, or `out += a b` if `accumulate`, where each factor may be read transposed.
///
/// Each value is one sum in the order of the inner index, whatever the number of rows: batches do not change bits.
///
/// # Panics
/// If the shapes do not fit.
pub(crate) fn product(a: (&Matrix, Side), b: (&Matrix, Side), out: &mut Matrix, accumulate: bool) {
    let (m, inner, row_a, col_a) = a.1.view(a.0);
    let (inner_b, n, row_b, col_b) = b.1.view(b.0);
    assert_eq!(inner, inner_b, "product of {m} x {inner} by {inner_b} x {n}");
    assert_eq!(out.shape(), (m, n), "place for a product of {m} x {n}");
    assert!(a.0.data.len() == m * inner && b.0.data.len() == inner * n && out.data.len() == m * n);
    let beta = if accumulate { 1.0 } else { 0.0 };
    // SAFETY: the strides of `view` reach every value of the factors and none beyond, as the lengths were checked above,
    // and `out` is borrowed alone.
    #[allow(unsafe_code)]
    unsafe {
        let (pa, pb, pc) = (a.0.data.as_ptr(), b.0.data.as_ptr(), out.data.as_mut_ptr());
        matrixmultiply::sgemm(m, inner, n, 1.0, pa, row_a, col_a, pb, row_b, col_b, beta, pc, n as isize, 1);
    }
}

/// The product of two matrices.
pub fn matmul(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(a.rows, b.cols);
    product((a, Side::Plain), (b, Side::Plain), &mut out, false);
    out
}
