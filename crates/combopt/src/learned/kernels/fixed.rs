//! Sums over all nodes as integers, which depend neither on order nor on grouping; a running sum stays exact.

use super::for_each_simd;

/// A unit is 2^-20.
const UNITS: f32 = (1 << 20) as f32;
/// Most units of one addend: beyond it, a sum over 2^20 nodes might wrap around.
const MOST: f32 = (1u64 << 42) as f32;
/// 1.5 * 2^52: added to a number below 2^51, it leaves the nearest integer in the low bits. No processor before AVX-512
/// turns floats to 64-bit integers by vectors.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// An embedding's value, which is not negative, as an integer.
#[inline(always)]
pub(crate) fn fix(value: f32) -> i64 {
    let units = f64::from((value * UNITS).min(MOST));
    (units + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()) as i64
}

/// The number that a sum of integers stands for.
pub(crate) fn unfix(sum: i64) -> f32 {
    sum as f32 / UNITS
}

for_each_simd!(add_fixed, add, (rows: &[f32], sums: &mut [i64]));

/// Adds rows to sums, column by column.
#[inline(always)]
fn add<const HEIGHT: usize, const FUSED: bool>(rows: &[f32], sums: &mut [i64]) {
    let width = sums.len();
    let mut start = 0;
    while start + width <= rows.len() {
        let row = &rows[start..start + width];
        let mut column = 0;
        while column < width {
            sums[column] = sums[column].wrapping_add(fix(row[column]));
            column += 1;
        }
        start += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_to_the_nearest_unit() {
        for value in [0.0f32, 1e-7, 0.3, 1.0, 123.456, 4e6] {
            assert_eq!(fix(value), (f64::from(value) * f64::from(UNITS)).round_ties_even() as i64, "{value}");
        }
        for value in [1e30, f32::INFINITY, f32::NAN] {
            assert_eq!(fix(value), MOST as i64, "{value}");
        }
    }

    #[test]
    fn sums_of_rows_are_sums_of_values() {
        let rows: Vec<f32> = (0..7 * 16).map(|i| i as f32 * 0.37).collect();
        let mut sums = vec![5; 16];
        add_fixed(&rows, &mut sums);
        for (column, &sum) in sums.iter().enumerate() {
            assert_eq!(sum, 5 + (0..7).map(|row| fix(rows[row * 16 + column])).sum::<i64>());
        }
    }
}
