//! Sums whose bits depend on the addends alone, not on their order or grouping.

/// A coarse unit is 2^-10.
const COARSE: f64 = 1024.0;
/// A fine unit is 2^-56.
const FINE: f64 = (1u64 << 56) as f64;
/// Addends are taken to this range: 2^40.
const RANGE: f64 = (1u64 << 40) as f64;

/// 1.5 * 2^52: added to a number below 2^51, it leaves the nearest integer in the low bits. Unlike a conversion, vectors
/// of every processor have that.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// Sums of many numbers as integers: each addend is rounded to multiples of 2^-56 and kept in two words, whose sums wrap.
///
/// Exact for up to 2^13 addends of the full range of 2^40, or 2^17 addends below 2^36. Addends that are not finite are
/// counted, and make the value NaN.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactSum {
    /// Coarse words, fine words, and how many addends were not finite.
    limbs: Vec<i64>,
    len: usize,
}

impl ExactSum {
    /// Sums of nothing, for `len` values side by side.
    pub fn zeros(len: usize) -> Self {
        Self { limbs: vec![0; 2 * len + 1], len }
    }

    /// Number of sums.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no sums.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds one value to each sum from `start` on.
    ///
    /// # Panics
    /// If the values reach beyond the last sum.
    pub fn add(&mut self, start: usize, values: &[f32]) {
        let (coarse, rest) = self.limbs.split_at_mut(self.len);
        let (fine, odd) = rest.split_at_mut(self.len);
        let coarse = &mut coarse[start..start + values.len()];
        let fine = &mut fine[start..start + values.len()];
        let mut finite = true;
        for ((coarse, fine), &value) in coarse.iter_mut().zip(fine).zip(values) {
            finite &= value.is_finite();
            let (high, low) = split(f64::from(value));
            *coarse = coarse.wrapping_add(high);
            *fine = fine.wrapping_add(low);
        }
        odd[0] += i64::from(!finite);
    }

    /// Adds another set of sums.
    pub fn merge(&mut self, other: &Self) {
        for (limb, &more) in self.limbs.iter_mut().zip(&other.limbs) {
            *limb = limb.wrapping_add(more);
        }
    }

    /// The sums from `start` on, rounded once.
    pub fn read(&self, start: usize, values: &mut [f32]) {
        let finite = self.limbs[2 * self.len] == 0;
        for (value, index) in values.iter_mut().zip(start..) {
            let (high, low) = (self.limbs[index] as f64, self.limbs[self.len + index] as f64);
            *value = if finite { (high / COARSE + low / FINE) as f32 } else { f32::NAN };
        }
    }

    /// The words, to be added up over ranks.
    pub(crate) fn limbs_mut(&mut self) -> &mut [i64] {
        &mut self.limbs
    }
}

#[inline]
fn split(value: f64) -> (i64, i64) {
    let value = value.clamp(-RANGE, RANGE);
    let coarse = value * COARSE + SHIFT;
    // Exact: both are multiples of the last place of `value`.
    let rest = value - (coarse - SHIFT) / COARSE;
    (shifted(coarse), shifted(rest * FINE + SHIFT))
}

/// The integer in the low bits.
#[inline]
fn shifted(value: f64) -> i64 {
    value.to_bits().wrapping_sub(SHIFT.to_bits()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_grouping_do_not_matter() {
        let values: Vec<f32> = (0..1000).map(|i| ((i * 7919 % 1000) as f32 - 500.0).powi(3) * 1.234e-4).collect();
        let sum = |order: &[f32], groups: usize| {
            let mut total = ExactSum::zeros(1);
            for group in order.chunks(order.len().div_ceil(groups)) {
                let mut part = ExactSum::zeros(1);
                group.iter().for_each(|&value| part.add(0, &[value]));
                total.merge(&part);
            }
            total
        };
        let mut reversed = values.clone();
        reversed.reverse();
        assert_eq!(sum(&values, 1), sum(&reversed, 7));
        let mut value = [0.0];
        sum(&values, 3).read(0, &mut value);
        let exact: f64 = values.iter().map(|&x| f64::from(x)).sum();
        assert!((f64::from(value[0]) - exact).abs() <= exact.abs() * 1e-7, "{} is not {exact}", value[0]);
    }

    #[test]
    fn small_and_large_values_keep_their_digits() {
        for value in [1e-9f32, -3.7e-6, 0.1, 12345.678, -9.9e8] {
            let mut sum = ExactSum::zeros(2);
            sum.add(1, &[value]);
            let mut read = [0.0; 2];
            sum.read(0, &mut read);
            assert!(read[0] == 0.0 && (read[1] - value).abs() <= value.abs() * 1e-7, "{} is not {value}", read[1]);
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        for value in [f32::NAN, f32::INFINITY] {
            let mut sum = ExactSum::zeros(1);
            sum.add(0, &[value]);
            sum.add(0, &[1.0]);
            let mut read = [0.0];
            sum.read(0, &mut read);
            assert!(read[0].is_nan());
        }
    }
}
