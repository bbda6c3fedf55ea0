//! `16GiB`, `30s`, `25GB/s` as typed on a command line.

use std::time::Duration;

/// What was typed is not an amount of the kind that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{input}' is not {what}: {problem}; expected {expected}")]
pub struct ParseError {
    input: String,
    what: &'static str,
    problem: String,
    expected: &'static str,
}

/// A kind of amount: how it is called in messages, and its units with their sizes.
struct Kind {
    what: &'static str,
    expected: &'static str,
    units: &'static [(&'static str, f64)],
    /// Size of the unit when none is written; none if there must be one.
    bare: Option<f64>,
}

const BYTES: Kind = Kind {
    what: "an amount of memory",
    expected: "a number and a unit, such as 16GiB, 512MB or 4096B",
    units: BYTE_UNITS,
    bare: Some(1.0),
};

const DURATION: Kind = Kind {
    what: "a duration",
    expected: "a number and a unit (ns, us, ms, s, min or h), such as 30s or 250ms",
    units: &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10), ("h", 3.6e12)],
    bare: None,
};

const RATE: Kind = Kind {
    what: "a bandwidth",
    expected: "a number of bytes or bits per second, such as 25GB/s or 100Gbit/s",
    units: BYTE_UNITS,
    bare: None,
};

const BYTE_UNITS: &[(&str, f64)] = &[
    ("b", 1.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
    ("bit", 0.125),
    ("kbit", 125.0),
    ("mbit", 125e3),
    ("gbit", 125e6),
    ("tbit", 125e9),
];

/// Bytes from `16GiB` (binary), `512MB` (decimal) or `4096`. Case does not matter; a fraction of a byte is cut off.
///
/// # Errors
/// If it is no such amount, is negative, or does not fit 63 bits.
pub fn parse_bytes(text: &str) -> Result<u64, ParseError> {
    if text.to_ascii_lowercase().ends_with("bit") {
        return Err(BYTES.error(text, "memory is not counted in bits"));
    }
    Ok(BYTES.parse(text, text)? as u64)
}

/// A duration from `30s`, `250ms`, `1.5h`. A bare number has no meaning: `--time-limit 30` could be anything.
///
/// # Errors
/// If it is no such amount, is negative, or is longer than 292 years.
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    Ok(Duration::from_nanos(DURATION.parse(text, text)? as u64))
}

/// Bytes per second from `25GB/s`, `3GiB/s` or `100Gbit/s`.
///
/// # Errors
/// If it is no such amount, or not above zero.
pub fn parse_rate(text: &str) -> Result<f64, ParseError> {
    let trimmed = text.trim_end();
    let Some(amount) = trimmed.strip_suffix("/s") else {
        return Err(RATE.error(text, "it does not end in '/s'"));
    };
    match RATE.parse(text, amount)? {
        rate if rate > 0.0 => Ok(rate),
        _ => Err(RATE.error(text, "it is zero")),
    }
}

impl Kind {
    /// The amount in base units; `text` is what is quoted in an error, `amount` the part of it that is read.
    fn parse(&self, text: &str, amount: &str) -> Result<f64, ParseError> {
        let amount = amount.trim();
        let split = amount.find(|c: char| !c.is_ascii_digit() && !"+-._".contains(c)).unwrap_or(amount.len());
        let (digits, unit) = amount.split_at(split);
        let number: f64 =
            digits.replace('_', "").parse().map_err(|_| self.error(text, "it does not start with a number"))?;
        let size = self.size_of(unit.trim()).ok_or_else(|| self.unit_error(text, unit.trim()))?;
        match number * size {
            value if value < 0.0 => Err(self.error(text, "it is negative")),
            value if value >= 9.2e18 => Err(self.error(text, "it is too large")),
            value => Ok(value),
        }
    }

    fn size_of(&self, unit: &str) -> Option<f64> {
        if unit.is_empty() {
            return self.bare;
        }
        let unit = unit.to_ascii_lowercase();
        self.units.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
    }

    fn unit_error(&self, text: &str, unit: &str) -> ParseError {
        match unit {
            "" => self.error(text, "the unit is missing"),
            _ => self.error(text, format!("there is no unit '{unit}'")),
        }
    }

    fn error(&self, text: &str, problem: impl Into<String>) -> ParseError {
        ParseError { input: text.to_string(), what: self.what, problem: problem.into(), expected: self.expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes() {
        let cases = [
            ("16GiB", 16 << 30),
            ("512MB", 512_000_000),
            ("4096", 4096),
            ("1.5 KiB", 1536),
            ("10_000b", 10_000),
            (" 2 tib ", 2 << 40),
            ("0", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_bytes(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn durations_and_rates() {
        assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("3µs"), Ok(Duration::from_micros(3)));
        assert_eq!(parse_rate("25GB/s"), Ok(25e9));
        assert_eq!(parse_rate("100 Gbit/s"), Ok(12.5e9));
    }

    #[test]
    fn errors_say_what_was_expected() {
        let messages = [
            parse_bytes("lots").map(|_| ()),
            parse_bytes("16 gigs").map(|_| ()),
            parse_bytes("-1GB").map(|_| ()),
            parse_bytes("8Gbit").map(|_| ()),
            parse_bytes("9999999999TiB").map(|_| ()),
            parse_duration("30").map(|_| ()),
            parse_duration("").map(|_| ()),
            parse_rate("25GB").map(|_| ()),
            parse_rate("0GB/s").map(|_| ()),
        ]
        .map(|result| result.map_or_else(|error| error.to_string(), |()| "accepted".into()));
        insta::assert_snapshot!(messages.join("\n"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_accepted_or_refused(text in "\\PC{0,12}") {
            let _ = (parse_bytes(&text), parse_duration(&text), parse_rate(&text));
        }
    }
}
