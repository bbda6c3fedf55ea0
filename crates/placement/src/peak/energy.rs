//! The energy that annealing lowers: a sum over all cells of a high power of memory, a smooth stand-in for the maximum.

/// The power, as how often a number is squared. A low power sees far and finds its way fast, a high one tells the peak from what
/// is close to it and ends lower in some graphs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sharpness {
    squarings: u32,
}

/// Highest power: 2^6 = 64.
const MOST_SQUARINGS: u32 = 6;

/// x^(2^SQUARINGS).
#[inline]
fn power<const SQUARINGS: u32>(mut x: f64) -> f64 {
    for _ in 0..SQUARINGS {
        x *= x;
    }
    x
}

const LANES: usize = 4;

/// Sum over some cells of `term`; several partial sums, so that the compiler may use vector instructions.
#[inline]
fn sum(cells: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let chunks = cells.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|&memory| term(memory)).sum();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += term(chunk[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

impl Sharpness {
    /// The power of two nearest to `power`, from 2 to 64.
    pub fn power(power: f64) -> Self {
        Self { squarings: (power.log2().round() as u32).clamp(1, MOST_SQUARINGS) }
    }

    /// Energy of one cell: a power of memory * scale.
    #[inline]
    pub fn of_cell(self, memory: f64, scale: f64) -> f64 {
        let mut x = memory * scale;
        for _ in 0..self.squarings {
            x *= x;
        }
        x
    }

    /// Energy of some cells.
    pub fn of_cells(self, cells: &[f64], scale: f64) -> f64 {
        sum(cells, |memory| self.of_cell(memory, scale))
    }

    /// By how much the energy of some cells changes if each holds `bytes` more.
    pub fn change(self, cells: &[f64], bytes: f64, scale: f64) -> f64 {
        // One loop for each power, so that the compiler can unroll it.
        match self.squarings {
            0 | 1 => change::<1>(cells, bytes, scale),
            2 => change::<2>(cells, bytes, scale),
            3 => change::<3>(cells, bytes, scale),
            4 => change::<4>(cells, bytes, scale),
            5 => change::<5>(cells, bytes, scale),
            _ => change::<MOST_SQUARINGS>(cells, bytes, scale),
        }
    }
}

fn change<const SQUARINGS: u32>(cells: &[f64], bytes: f64, scale: f64) -> f64 {
    let more = bytes * scale;
    sum(cells, |memory| {
        let before = memory * scale;
        power::<SQUARINGS>(before + more) - power::<SQUARINGS>(before)
    })
}

/// The largest of some non-negative numbers.
pub(super) fn largest(cells: &[f64]) -> f64 {
    let mut best = [0.0f64; LANES];
    let chunks = cells.chunks_exact(LANES);
    let rest = chunks.remainder().iter().fold(0.0, |a, &b| if a > b { a } else { b });
    for chunk in chunks {
        for lane in 0..LANES {
            best[lane] = if best[lane] > chunk[lane] { best[lane] } else { chunk[lane] };
        }
    }
    best.iter().fold(rest, |a, &b| if a > b { a } else { b })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_depend_on_where_the_lanes_end() {
        for n in 0..20 {
            let cells: Vec<f64> = (0..n).map(f64::from).collect();
            let power = |bytes: f64, exponent| cells.iter().map(|c| ((c + bytes) / 20.0).powi(exponent)).sum::<f64>();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            for exponent in [2, 4, 8, 16, 32, 64] {
                let sharpness = Sharpness::power(f64::from(exponent));
                assert!(close(sharpness.of_cells(&cells, 0.05), power(0.0, exponent)));
                assert!(close(sharpness.change(&cells, 3.0, 0.05), power(3.0, exponent) - power(0.0, exponent)));
            }
            assert_eq!(largest(&cells), f64::from((n - 1).max(0)));
        }
    }
}
