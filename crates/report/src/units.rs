//! Amounts for people: `1.23 ms`, `4.5 MiB`, `3.2M`, `0.8 %`; and back from what they type.

mod format;
mod parse;

pub use format::{bytes, count, duration, number, percent, rate};
pub use parse::{ParseError, parse_bytes, parse_duration, parse_rate};

/// Unit of a value, which decides how it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A bare number with three significant digits.
    #[default]
    Number,
    /// How many, such as evaluations: `3.2M`.
    Count,
    /// A time in nanoseconds: `1.23 ms`.
    Nanoseconds,
    /// An amount of memory in bytes: `4.5 MiB`.
    Bytes,
    /// A fraction, 1 being 100 %.
    Percent,
}

impl Unit {
    /// The value with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Number => number(value),
            Self::Count => count(value),
            Self::Nanoseconds => duration(value),
            Self::Bytes => bytes(value),
            Self::Percent => percent(value),
        }
    }

    /// Size and suffix of the unit in which values up to `largest` are read best, the same for all ticks of an axis.
    pub(crate) fn scale_for(self, largest: f64) -> (f64, &'static str) {
        match self {
            Self::Number => (1.0, ""),
            Self::Count => format::largest(largest, format::COUNT),
            Self::Nanoseconds => format::largest(largest, format::DURATION),
            Self::Bytes => format::largest(largest, format::BYTES),
            Self::Percent => (0.01, " %"),
        }
    }
}
