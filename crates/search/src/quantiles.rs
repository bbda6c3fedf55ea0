//! Beta distributions to draw from quickly: a table of quantiles instead of rejection sampling.

use crate::seed::Rng;
use rand::Rng as _;

/// Steps of the table, a power of two.
const STEPS: usize = 256;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Points of the numerical integral over log-odds, which are the hyperbolic sine of `-REACH` to `REACH`: fine in the middle, and
/// far enough out for parameters of a few thousandths.
const POINTS: usize = 4096;
const REACH: f64 = 9.5;

/// A distribution on [0, 1] as its quantiles at equal steps of probability, linear in between.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantiles([f32; STEPS + 1]);

/// The parameters of a Beta distribution must be positive and finite.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error("there is no Beta distribution with alpha = {0} and beta = {1}: both must be positive and finite")]
pub struct BetaError(pub f32, pub f32);

impl Quantiles {
    /// Beta(alpha, beta), to a few parts in a thousand.
    ///
    /// # Errors
    /// A parameter that is not positive and finite.
    pub fn beta(alpha: f32, beta: f32) -> Result<Self, BetaError> {
        if !(alpha > 0.0 && beta > 0.0 && alpha.is_finite() && beta.is_finite()) {
            return Err(BetaError(alpha, beta));
        }
        // In the log-odds z the density is x^alpha (1-x)^beta, without the poles at 0 and 1 that it has in x.
        let (alpha, beta) = (f64::from(alpha), f64::from(beta));
        let z = |i: usize| (REACH * (2.0 * i as f64 / (POINTS - 1) as f64 - 1.0)).sinh();
        let log_density = |i: usize| -alpha * softplus(-z(i)) - beta * softplus(z(i));
        let most = (0..POINTS).map(log_density).fold(f64::NEG_INFINITY, f64::max);
        let mut cumulative = vec![0.0; POINTS];
        for i in 1..POINTS {
            let height = (log_density(i - 1) - most).exp() + (log_density(i) - most).exp();
            cumulative[i] = cumulative[i - 1] + height * (z(i) - z(i - 1));
        }
        let total = cumulative[POINTS - 1];
        let mut table = [0.0; STEPS + 1];
        let mut i = 1;
        for (step, quantile) in table.iter_mut().enumerate() {
            // Half a step inside at both ends: the extremes would be 0 and 1 whatever the parameters.
            let share = (step as f64).clamp(0.5, STEPS as f64 - 0.5) / STEPS as f64;
            while i + 1 < POINTS && cumulative[i] < share * total {
                i += 1;
            }
            let within =
                (share * total - cumulative[i - 1]) / (cumulative[i] - cumulative[i - 1]).max(f64::MIN_POSITIVE);
            let odds = z(i - 1) + within.clamp(0.0, 1.0) * (z(i) - z(i - 1));
            *quantile = (1.0 / (1.0 + (-odds).exp())) as f32;
        }
        Ok(Self(table))
    }

    /// One draw.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> f32 {
        let bits = rng.next_u32();
        let step = (bits >> (32 - STEP_BITS)) as usize;
        let within = (bits << STEP_BITS) as f32 / 4_294_967_296.0;
        self.0[step] + within * (self.0[step + 1] - self.0[step])
    }
}

/// `ln(1 + e^y)` without overflow.
fn softplus(y: f64) -> f64 {
    y.max(0.0) + (-y.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn draws_have_the_mean_and_variance_of_the_distribution() {
        for (alpha, beta) in
            [(1.0, 1.0), (2.0, 2.0), (0.03, 0.03), (0.0037, 0.0588), (0.5, 2.5), (15.0, 1.0), (9.4, 6.6), (1000.0, 1.0)]
        {
            let quantiles = Quantiles::beta(alpha, beta).unwrap();
            let mut rng = Seed(1).stream("draws", 0);
            let draws: Vec<f64> = (0..100_000).map(|_| f64::from(quantiles.draw(&mut rng))).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
            let (a, b) = (f64::from(alpha), f64::from(beta));
            assert!((mean - a / (a + b)).abs() < 0.005, "mean {mean} of Beta({a}, {b})");
            let expected = a * b / ((a + b).powi(2) * (a + b + 1.0));
            assert!((variance - expected).abs() < 0.005, "variance {variance} of Beta({a}, {b})");
            assert!(draws.iter().all(|x| (0.0..=1.0).contains(x)));
        }
    }

    #[test]
    fn parameters_that_make_no_distribution_are_refused() {
        for (alpha, beta) in [(0.0, 1.0), (1.0, -1.0), (f32::NAN, 1.0), (1.0, f32::INFINITY)] {
            assert!(Quantiles::beta(alpha, beta).is_err());
        }
    }
}
