//! What a search minimises.

/// Value of a solution, lower is better: first how far it is from feasible, then its objective.
///
/// The order is lexicographic, so every feasible solution beats every infeasible one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Score {
    /// By how much the constraints are broken; 0 is feasible. For placement: bytes above the memory limits.
    pub excess: u64,
    /// The objective. For placement: nanoseconds or bytes.
    pub value: u64,
}

impl Score {
    /// Worse than everything.
    pub const WORST: Self = Self { excess: u64::MAX, value: u64::MAX };

    /// A feasible score.
    #[inline]
    pub fn feasible(value: u64) -> Self {
        Self { excess: 0, value }
    }

    /// A feasible score for a cost that is no whole number: millionths of it. What is negative or not a number counts as 0.
    #[inline]
    pub fn of_cost(cost: f64) -> Self {
        Self::feasible((cost * 1e6).round() as u64)
    }

    /// Whether all constraints hold.
    #[inline]
    pub fn is_feasible(self) -> bool {
        self.excess == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Score;

    #[test]
    fn feasible_beats_infeasible_whatever_the_value() {
        assert!(Score::feasible(u64::MAX) < Score { excess: 1, value: 0 });
        assert!(Score { excess: 2, value: 9 } < Score { excess: 3, value: 0 });
    }
}
