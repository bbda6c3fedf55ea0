//! Three significant digits and the prefix that keeps them short.

/// A duration given in nanoseconds: `1.23 ms`, `2 min 5 s`.
pub fn duration(nanoseconds: f64) -> String {
    let seconds = nanoseconds / 1e9;
    if seconds.abs() < 60.0 {
        return scaled(nanoseconds, DURATION);
    }
    if !seconds.is_finite() {
        return number(seconds);
    }
    let (whole, sign) = (seconds.abs().round(), if seconds < 0.0 { "-" } else { "" });
    let (minutes, hours) = ((whole / 60.0).floor(), (whole / 3600.0).floor());
    match hours > 0.0 {
        true => format!("{sign}{hours} h {} min", minutes - hours * 60.0),
        false => format!("{sign}{minutes} min {} s", whole - minutes * 60.0),
    }
}

/// An amount of memory: `512 B`, `4.5 MiB`.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, BYTES)
}

/// A rate given in bytes per second, in the decimal prefixes of link data sheets: `25 GB/s`.
pub fn rate(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, &[(1.0, " B/s"), (1e3, " kB/s"), (1e6, " MB/s"), (1e9, " GB/s"), (1e12, " TB/s")])
}

/// How many: `950`, `3.2M`.
pub fn count(count: f64) -> String {
    scaled(count, COUNT)
}

/// A fraction, 1 being 100 %: `0.8 %`, `12.3 %`.
pub fn percent(fraction: f64) -> String {
    let shown = number(fraction * 100.0);
    if fraction.is_nan() { shown } else { format!("{shown} %") }
}

/// A bare number with three significant digits, in scientific notation when it is far from 1.
pub fn number(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => (if value.is_nan() { "n/a" } else { ["-∞", "∞"][usize::from(value > 0.0)] }).into(),
        size if size != 0.0 && !(1e-4..1e7).contains(&size) => format!("{value:.2e}"),
        _ => digits(value),
    }
}

/// Sizes and suffixes of the units of one kind, ascending.
type Prefixes = &'static [(f64, &'static str)];

pub(super) const DURATION: Prefixes = &[(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")];
pub(super) const BYTES: Prefixes =
    &[(1.0, " B"), (KIB, " KiB"), (KIB * KIB, " MiB"), (KIB * KIB * KIB, " GiB"), (KIB * KIB * KIB * KIB, " TiB")];
pub(super) const COUNT: Prefixes = &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];
const KIB: f64 = 1024.0;

/// The value in the largest unit that does not exceed it.
fn scaled(value: f64, units: Prefixes) -> String {
    let (size, suffix) = largest(value, units);
    if value.is_finite() { format!("{}{suffix}", digits(value / size)) } else { number(value) }
}

/// The largest unit that the value reaches as rounded: 999.6 ns is 1 µs.
pub(super) fn largest(value: f64, units: Prefixes) -> (f64, &'static str) {
    let (mut best, mut suffix) = (1.0, "");
    for (index, &(size, name)) in units.iter().enumerate() {
        if index > 0 && value.abs() / best < size / best - 0.5 {
            break;
        }
        (best, suffix) = (size, name);
    }
    (best, suffix)
}

/// Three significant digits without trailing zeros; integers below 10,000,000 in full.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size == 0.0 || size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size if size >= 0.09995 => 3,
        size if size >= 0.009995 => 4,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    (if text == "-0" { "0" } else { text }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let cases = [
            (0.0, "0 ns"),
            (7.0, "7 ns"),
            (999.4, "999 ns"),
            (999.6, "1 µs"),
            (1_234_567.0, "1.23 ms"),
            (59.9e9, "59.9 s"),
            (125e9, "2 min 5 s"),
            (3_600e9 * 26.5, "26 h 30 min"),
            (-1500.0, "-1.5 µs"),
            (f64::NAN, "n/a"),
            (f64::INFINITY, "∞"),
        ];
        for (value, shown) in cases {
            assert_eq!(duration(value), shown, "{value}");
        }
    }

    #[test]
    fn amounts() {
        assert_eq!(bytes(1023.0), "1023 B");
        assert_eq!(bytes(1024.0), "1 KiB");
        assert_eq!(bytes(4.5 * 1024.0 * 1024.0), "4.5 MiB");
        assert_eq!(bytes(17_179_869_184.0), "16 GiB");
        assert_eq!(rate(25e9), "25 GB/s");
        assert_eq!(count(950.0), "950");
        assert_eq!(count(3_200_000.0), "3.2M");
        assert_eq!(count(999_999.0), "1M");
    }

    #[test]
    fn numbers() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (0.123_456, "0.123"),
            (12.345, "12.3"),
            (1234.5, "1234"),
            (1e12, "1.00e12"),
            (3e-7, "3.00e-7"),
        ];
        for (value, shown) in cases {
            assert_eq!(number(value), shown, "{value}");
        }
        assert_eq!(percent(0.008), "0.8 %");
        assert_eq!(percent(0.1234), "12.3 %");
        assert_eq!(percent(f64::NAN), "n/a");
    }
}
