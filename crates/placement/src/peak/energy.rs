//! The energy that annealing lowers: the sum of (memory / reference)^16 over all cells, a smooth stand-in for the maximum.

/// (memory * scale)^16.
#[inline]
pub(super) fn of_cell(memory: f64, scale: f64) -> f64 {
    let x = memory * scale;
    let x2 = x * x;
    let x4 = x2 * x2;
    let x8 = x4 * x4;
    x8 * x8
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

/// Energy of some cells.
pub(super) fn of_cells(cells: &[f64], scale: f64) -> f64 {
    sum(cells, |memory| of_cell(memory, scale))
}

/// By how much the energy of some cells changes if each holds `bytes` more.
pub(super) fn change(cells: &[f64], bytes: f64, scale: f64) -> f64 {
    sum(cells, |memory| of_cell(memory + bytes, scale) - of_cell(memory, scale))
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
            let power = |bytes: f64| cells.iter().map(|c| ((c + bytes) / 20.0).powi(16)).sum::<f64>();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            assert!(close(of_cells(&cells, 0.05), power(0.0)));
            assert!(close(change(&cells, 3.0, 0.05), power(3.0) - power(0.0)));
            assert_eq!(largest(&cells), f64::from((n - 1).max(0)));
        }
    }
}
