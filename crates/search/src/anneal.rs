//! Simulated annealing: the temperature schedule and the acceptance rule (Kirkpatrick et al. 1983).

use rand::RngExt as _;

/// A geometric schedule from `start` to `end` as progress goes from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Schedule {
    /// Temperature at progress 0, in units of the energy.
    pub start: f64,
    /// Temperature at progress 1.
    pub end: f64,
}

impl Schedule {
    /// Temperature at `progress` in [0, 1].
    pub fn temperature(&self, progress: f64) -> f64 {
        self.start * (self.end / self.start).powf(progress.clamp(0.0, 1.0))
    }

    /// The progress at which it is as hot as `temperature`: 0 if it never is so hot, 1 if it never is so cold.
    pub fn progress_at(&self, temperature: f64) -> f64 {
        ((temperature / self.start).ln() / (self.end / self.start).ln()).clamp(0.0, 1.0)
    }
}

/// The Metropolis rule: takes every improvement, and a change for the worse by `delta` with probability exp(-delta / temperature).
#[inline]
pub fn accept(delta: f64, temperature: f64, rng: &mut crate::seed::Rng) -> bool {
    delta <= 0.0 || rng.random::<f64>() < (-delta / temperature).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_meets_both_ends() {
        let schedule = Schedule { start: 4.0, end: 0.25 };
        assert_eq!([0.0, 0.5, 1.0, 2.0].map(|p| schedule.temperature(p)), [4.0, 1.0, 0.25, 0.25]);
    }

    #[test]
    fn progress_is_the_inverse_of_temperature() {
        let schedule = Schedule { start: 4.0, end: 0.25 };
        assert_eq!([9.0, 4.0, 1.0, 0.25, 0.01].map(|t| schedule.progress_at(t)), [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn acceptance_follows_the_exponential() {
        let mut rng = crate::Seed(1).stream("test", 0);
        let taken = (0..10_000).filter(|_| accept(1.0, 1.0, &mut rng)).count();
        assert!((3_500..3_860).contains(&taken), "{taken} of 10000, expected about 3679");
        assert!(accept(-1.0, 1e-9, &mut rng));
    }
}
