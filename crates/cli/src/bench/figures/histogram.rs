//! How often values fall between equally distant marks.

/// Counts of values by interval; zeros stand for themselves.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub(super) struct Histogram {
    /// Intervals from the lowest to the highest value, empty ones between included.
    pub(super) bars: Vec<Bar>,
    /// Values that are exactly zero: ties.
    pub(super) zeros: usize,
    pub(super) below_zero: usize,
    pub(super) above_zero: usize,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
}

/// How many values lie in `from..to`. Zero is a mark, so that no bar holds both signs.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub(super) struct Bar {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) count: usize,
}

impl Histogram {
    pub(super) fn of(values: &[f64], width: f64) -> Self {
        let index = |value: f64| (value / width).floor() as i64;
        let marks: Vec<i64> = values.iter().filter(|&&value| value != 0.0).map(|&value| index(value)).collect();
        let (first, last) = (marks.iter().min().copied().unwrap_or(0), marks.iter().max().copied().unwrap_or(-1));
        let bar = |i: i64| Bar {
            from: i as f64 * width,
            to: (i + 1) as f64 * width,
            count: marks.iter().filter(|&&mark| mark == i).count(),
        };
        Self {
            bars: (first..=last).map(bar).collect(),
            zeros: values.iter().filter(|&&value| value == 0.0).count(),
            below_zero: values.iter().filter(|&&value| value < 0.0).count(),
            above_zero: values.iter().filter(|&&value| value > 0.0).count(),
            least: values.iter().copied().reduce(f64::min),
            most: values.iter().copied().reduce(f64::max),
        }
    }

    /// Number of values.
    pub(super) fn count(&self) -> usize {
        self.zeros + self.below_zero + self.above_zero
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_bar_and_ties_in_none() {
        let histogram = Histogram::of(&[-3.0, -0.5, 0.0, 0.5, 1.9, 2.0, 7.0], 2.0);
        let counts: Vec<(f64, usize)> = histogram.bars.iter().map(|bar| (bar.from, bar.count)).collect();
        assert_eq!(counts, [(-4.0, 1), (-2.0, 1), (0.0, 2), (2.0, 1), (4.0, 0), (6.0, 1)]);
        assert_eq!((histogram.below_zero, histogram.zeros, histogram.above_zero), (2, 1, 4));
        assert_eq!((histogram.least, histogram.most, histogram.count()), (Some(-3.0), Some(7.0), 7));
    }

    #[test]
    fn nothing_has_no_bars() {
        assert_eq!(Histogram::of(&[], 1.0).bars, []);
        assert_eq!(Histogram::of(&[0.0], 1.0).bars, []);
    }
}
