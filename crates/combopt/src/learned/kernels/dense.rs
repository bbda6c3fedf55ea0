//! Products with matrices of a few columns: `c += a b` and `c += a^T b`, all row by row.

use super::{LANES, Vector, for_each_simd, vectors, vectors_mut};

for_each_simd!(add_product, product, (a: &[f32], b: &[f32], c: &mut [f32], inner: usize, columns: usize));
for_each_simd!(add_transposed_product, transposed, (a: &[f32], b: &[f32], c: &mut [f32], rows: usize, columns: usize));

/// `c += a b` for `a` of any number of rows and `inner` columns, and `b` of `inner` rows.
#[inline(always)]
fn product<const HEIGHT: usize, const FUSED: bool>(a: &[f32], b: &[f32], c: &mut [f32], inner: usize, columns: usize) {
    let rows = c.len() / columns;
    let (b, c, width) = (vectors(b), vectors_mut(c), columns / LANES);
    let mut row = 0;
    while row + HEIGHT <= rows {
        let left = Left { a: &a[row * inner..(row + HEIGHT) * inner], next: inner, step: 1 };
        strip::<HEIGHT, FUSED>(left, inner, b, &mut c[row * width..(row + HEIGHT) * width], width);
        row += HEIGHT;
    }
    while row < rows {
        let left = Left { a: &a[row * inner..(row + 1) * inner], next: inner, step: 1 };
        strip::<1, FUSED>(left, inner, b, &mut c[row * width..(row + 1) * width], width);
        row += 1;
    }
}

/// `c += a^T b` for `a` of `rows` columns, `b` of as many rows as `a`, and `c` of `rows` rows.
#[inline(always)]
fn transposed<const HEIGHT: usize, const FUSED: bool>(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    rows: usize,
    columns: usize,
) {
    let inner = b.len() / columns;
    let (b, c, width) = (vectors(b), vectors_mut(c), columns / LANES);
    let mut row = 0;
    while row + HEIGHT <= rows {
        let left = Left { a: &a[row.min(a.len())..], next: 1, step: rows };
        strip::<HEIGHT, FUSED>(left, inner, b, &mut c[row * width..(row + HEIGHT) * width], width);
        row += HEIGHT;
    }
    while row < rows {
        let left = Left { a: &a[row.min(a.len())..], next: 1, step: rows };
        strip::<1, FUSED>(left, inner, b, &mut c[row * width..(row + 1) * width], width);
        row += 1;
    }
}

/// Some rows of the left matrix of a product.
#[derive(Clone, Copy)]
struct Left<'a> {
    a: &'a [f32],
    /// From a row to the next.
    next: usize,
    /// From a column to the next.
    step: usize,
}

/// A strip of `HEIGHT` rows of `c`, tile by tile. Higher tiles are for processors with more registers, whose tiles are
/// twice as wide, too: the same factors then serve two vectors.
#[inline(always)]
fn strip<const HEIGHT: usize, const FUSED: bool>(
    left: Left<'_>,
    inner: usize,
    b: &[Vector],
    c: &mut [Vector],
    width: usize,
) {
    let mut column = 0;
    while HEIGHT == 8 && column + 2 <= width {
        tile::<HEIGHT, 2, FUSED>(left, inner, &b[column..], &mut c[column..], width);
        column += 2;
    }
    while column < width {
        tile::<HEIGHT, 1, FUSED>(left, inner, &b[column..], &mut c[column..], width);
        column += 1;
    }
}

/// `HEIGHT` rows and `WIDTH` vectors of `c`, kept in registers.
#[inline(always)]
fn tile<const HEIGHT: usize, const WIDTH: usize, const FUSED: bool>(
    left: Left<'_>,
    inner: usize,
    b: &[Vector],
    c: &mut [Vector],
    width: usize,
) {
    let mut sums = [[[0.0f32; LANES]; WIDTH]; HEIGHT];
    let mut row = 0;
    while row < HEIGHT {
        sums[row].copy_from_slice(&c[row * width..row * width + WIDTH]);
        row += 1;
    }
    let mut p = 0;
    while p < inner {
        let mut vectors = [[0.0f32; LANES]; WIDTH];
        vectors.copy_from_slice(&b[p * width..p * width + WIDTH]);
        let mut row = 0;
        while row < HEIGHT {
            let factor = left.a[row * left.next + p * left.step];
            let mut column = 0;
            while column < WIDTH {
                add_scaled::<FUSED>(&mut sums[row][column], factor, &vectors[column]);
                column += 1;
            }
            row += 1;
        }
        p += 1;
    }
    let mut row = 0;
    while row < HEIGHT {
        c[row * width..row * width + WIDTH].copy_from_slice(&sums[row]);
        row += 1;
    }
}

#[inline(always)]
fn add_scaled<const FUSED: bool>(sum: &mut Vector, factor: f32, vector: &Vector) {
    let mut lane = 0;
    while lane < LANES {
        let (x, y) = (sum[lane], vector[lane]);
        sum[lane] = if FUSED { factor.mul_add(y, x) } else { x + factor * y };
        lane += 1;
    }
}

/// The inner product of two rows: one sum a lane, then the lanes pair by pair.
#[inline]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, seed: usize) -> Vec<f32> {
        (0..rows * columns).map(|i| ((i * 37 + seed * 11) % 101) as f32 * 0.03 - 1.5).collect()
    }

    #[test]
    fn products_are_products() {
        for (rows, inner, columns) in [(1, 1, 16), (9, 5, 16), (8, 16, 32), (37, 32, 64), (0, 4, 16)] {
            let (a, b) = (matrix(rows, inner, 1), matrix(inner, columns, 2));
            let mut c = matrix(rows, columns, 3);
            let value = |i: usize, j: usize| -> f64 {
                (0..inner).map(|p| f64::from(a[i * inner + p]) * f64::from(b[p * columns + j])).sum()
            };
            let expected: Vec<f64> =
                (0..rows * columns).map(|at| f64::from(c[at]) + value(at / columns, at % columns)).collect();
            add_product(&a, &b, &mut c, inner, columns);
            assert!(c.iter().zip(&expected).all(|(x, y)| (f64::from(*x) - y).abs() < 1e-4));

            let (left, right) = (matrix(rows, inner, 4), matrix(rows, columns, 5));
            let mut c = vec![0.0; inner * columns];
            add_transposed_product(&left, &right, &mut c, inner, columns);
            for (at, &got) in c.iter().enumerate() {
                let (i, j) = (at / columns, at % columns);
                let sum: f64 =
                    (0..rows).map(|p| f64::from(left[p * inner + i]) * f64::from(right[p * columns + j])).sum();
                assert!((f64::from(got) - sum).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn tiles_do_not_change_bits() {
        let (a, b) = (matrix(19, 16, 1), matrix(16, 32, 2));
        let mut whole = vec![0.0; 19 * 32];
        add_product(&a, &b, &mut whole, 16, 32);
        for split in [1, 3, 8, 11] {
            let mut parts = vec![0.0; 19 * 32];
            let (first, second) = parts.split_at_mut(split * 32);
            add_product(&a[..split * 16], &b, first, 16, 32);
            add_product(&a[split * 16..], &b, second, 16, 32);
            assert_eq!(parts, whole);
        }
    }
}
