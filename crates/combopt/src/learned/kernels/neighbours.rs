//! Sums of neighbours' rows: `A E` for a block of rows of a sparse `A`.

use super::{LANES, Vector, for_each_simd, vectors, vectors_mut};

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
    let (buffer, out) = (vectors(buffer), vectors_mut(out));
    // The usual widths as constants: whole rows in registers, no multiplication for each arc.
    match width / LANES {
        1 => panel::<1>(rows, Panel { buffer, width: 1, first: 0 }, out),
        2 => panel::<2>(rows, Panel { buffer, width: 2, first: 0 }, out),
        4 => panel::<4>(rows, Panel { buffer, width: 4, first: 0 }, out),
        width => {
            let mut first = 0;
            while first + 4 <= width {
                panel::<4>(rows, Panel { buffer, width, first }, out);
                first += 4;
            }
            while first < width {
                panel::<1>(rows, Panel { buffer, width, first }, out);
                first += 1;
            }
        }
    }
}

/// Some columns of the buffer.
#[derive(Clone, Copy)]
struct Panel<'b> {
    buffer: &'b [Vector],
    /// Vectors of a row.
    width: usize,
    /// The first one that is looked at.
    first: usize,
}

/// `PARTS` vectors of each row.
#[inline(always)]
fn panel<const PARTS: usize>(rows: Neighbours<'_>, panel: Panel<'_>, out: &mut [Vector]) {
    let mut row = 0;
    while row + 1 < rows.offsets.len() {
        let columns = &rows.columns[rows.offsets[row] as usize..rows.offsets[row + 1] as usize];
        let mut total = [[0.0; LANES]; PARTS];
        match rows.alive {
            None => add_rows(&mut total, panel, columns),
            Some(alive) if alive[rows.own + row] => add_alive(&mut total, panel, columns, alive),
            Some(_) => {}
        }
        let start = row * panel.width + panel.first;
        out[start..start + PARTS].copy_from_slice(&total);
        row += 1;
    }
}

/// Adds the rows of the columns that are there: their numbers first, without a branch, so that reads run ahead.
#[inline(always)]
fn add_alive<const PARTS: usize>(total: &mut [Vector; PARTS], panel: Panel<'_>, columns: &[u32], alive: &[bool]) {
    let mut there = [0; 64];
    let mut next = 0;
    while next < columns.len() {
        let (end, mut count) = (columns.len().min(next + there.len()), 0);
        while next < end {
            there[count] = columns[next];
            count += alive[columns[next] as usize] as usize;
            next += 1;
        }
        add_rows(total, panel, &there[..count]);
    }
}

#[inline(always)]
fn add_rows<const PARTS: usize>(total: &mut [Vector; PARTS], panel: Panel<'_>, columns: &[u32]) {
    let mut sums = *total;
    let mut next = 0;
    while next < columns.len() {
        let start = columns[next] as usize * panel.width + panel.first;
        let row = &panel.buffer[start..start + PARTS];
        let mut part = 0;
        while part < PARTS {
            add(&mut sums[part], &row[part]);
            part += 1;
        }
        next += 1;
    }
    *total = sums;
}

#[inline(always)]
fn add(sum: &mut Vector, row: &Vector) {
    let mut lane = 0;
    while lane < LANES {
        sum[lane] += row[lane];
        lane += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_sums_the_neighbours_that_are_there() {
        let (offsets, columns) = ([0u64, 3, 3, 5], [1u32, 2, 3, 0, 3]);
        let alive = [true, true, false, true];
        for width in [16, 32, 48, 64, 80, 144] {
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

    #[test]
    fn rows_longer_than_a_block_keep_their_order() {
        let columns: Vec<u32> = (0..500u32).map(|i| i * 7 % 500).collect();
        let alive: Vec<bool> = (0..500).map(|i| i % 3 != 1).collect();
        let buffer: Vec<f32> = (0..500 * LANES).map(|i| 1.0 / (i + 1) as f32).collect();
        let mut out = [0.0; LANES];
        let rows = Neighbours { offsets: &[0, 500], columns: &columns, alive: Some(&alive), own: 0 };
        sum_neighbours(rows, &buffer, LANES, &mut out);
        for (lane, &got) in out.iter().enumerate() {
            let there = columns.iter().filter(|&&c| alive[c as usize]);
            let expected = there.fold(0.0f32, |sum, &c| sum + buffer[c as usize * LANES + lane]);
            assert_eq!(got.to_bits(), expected.to_bits());
        }
    }
}
