//! Sums of neighbours' rows: `A E` for a block of rows of a sparse `A`.

use super::{LANES, for_each_simd};

/// The rows of `A` to sum up, and which nodes are there at all.
#[derive(Clone, Copy)]
pub(crate) struct Neighbours<'a> {
    /// Where each row's arcs begin in `columns`; one more than there are rows.
    pub offsets: &'a [u64],
    /// Positions of neighbours in the buffer.
    pub columns: &'a [u32],
    /// Whether the node at a position still has edges; without it, all have.
    pub alive: Option<&'a [bool]>,
    /// Position of the first row's own node.
    pub own: usize,
}

for_each_simd!(sum_neighbours, sums, (rows: Neighbours<'_>, buffer: &[f32], width: usize, out: &mut [f32]));

/// For each row, the sum of its neighbours' rows of `buffer`, in the order of the columns.
#[inline(always)]
fn sums<const HEIGHT: usize, const FUSED: bool>(rows: Neighbours<'_>, buffer: &[f32], width: usize, out: &mut [f32]) {
    match width {
        16 => each_row::<16>(rows, buffer, out),
        32 => each_row::<32>(rows, buffer, out),
        64 => each_row::<64>(rows, buffer, out),
        _ => {
            for panel in (0..width).step_by(LANES) {
                panels(rows, buffer, width, panel, out);
            }
        }
    }
}

#[inline(always)]
fn each_row<const WIDTH: usize>(rows: Neighbours<'_>, buffer: &[f32], out: &mut [f32]) {
    let buffer = buffer.as_chunks::<WIDTH>().0;
    let out = out.as_chunks_mut::<WIDTH>().0;
    for (row, (sum, range)) in out.iter_mut().zip(rows.offsets.windows(2)).enumerate() {
        let columns = &rows.columns[range[0] as usize..range[1] as usize];
        let mut total = [0.0f32; WIDTH];
        match rows.alive {
            None => columns.iter().for_each(|&column| add(&mut total, &buffer[column as usize])),
            Some(alive) if alive[rows.own + row] => {
                let there = columns.iter().filter(|&&column| alive[column as usize]);
                there.for_each(|&column| add(&mut total, &buffer[column as usize]));
            }
            Some(_) => {}
        }
        *sum = total;
    }
}

/// Any other width, [`LANES`] columns at a time.
#[inline(always)]
fn panels(rows: Neighbours<'_>, buffer: &[f32], width: usize, panel: usize, out: &mut [f32]) {
    for (row, range) in rows.offsets.windows(2).enumerate() {
        let mut total = [0.0f32; LANES];
        if rows.alive.is_none_or(|alive| alive[rows.own + row]) {
            for &column in &rows.columns[range[0] as usize..range[1] as usize] {
                if rows.alive.is_none_or(|alive| alive[column as usize]) {
                    let start = column as usize * width + panel;
                    total.iter_mut().zip(&buffer[start..start + LANES]).for_each(|(sum, x)| *sum += x);
                }
            }
        }
        out[row * width + panel..row * width + panel + LANES].copy_from_slice(&total);
    }
}

#[inline(always)]
fn add<const WIDTH: usize>(total: &mut [f32; WIDTH], row: &[f32; WIDTH]) {
    for (sum, x) in total.iter_mut().zip(row) {
        *sum += x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_sums_the_neighbours_that_are_there() {
        let (offsets, columns) = ([0u64, 3, 3, 5], [1u32, 2, 3, 0, 3]);
        let alive = [true, true, false, true];
        for width in [16, 32, 48, 64, 80] {
            let buffer: Vec<f32> = (0..4 * width).map(|i| i as f32).collect();
            for mask in [None, Some(&alive[..])] {
                let mut out = vec![f32::NAN; 3 * width];
                let rows = Neighbours { offsets: &offsets, columns: &columns, alive: mask, own: 0 };
                sum_neighbours(rows, &buffer, width, &mut out);
                let there = |node: usize| mask.is_none_or(|mask| mask[node]);
                for row in 0..3 {
                    for x in 0..width {
                        let range = offsets[row] as usize..offsets[row + 1] as usize;
                        let kept = columns[range].iter().filter(|&&c| there(row) && there(c as usize));
                        let expected: f32 = kept.map(|&c| buffer[c as usize * width + x]).sum();
                        assert_eq!(out[row * width + x], expected);
                    }
                }
            }
        }
    }
}
