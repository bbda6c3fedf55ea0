//! Whether a run will fit into memory, before it begins.

use crate::error::CliError;
use labrys_report::units;

/// Bytes that this process may still take; none where the system does not say.
fn available() -> Option<u64> {
    let free = field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let limit = |file: &str| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let group = limit("/sys/fs/cgroup/memory.max").zip(limit("/sys/fs/cgroup/memory.current"));
    Some(group.map_or(free, |(most, used)| free.min(most.saturating_sub(used))))
}

/// Bytes of a line of /proc/meminfo.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// Refuses what needs more than there is.
pub(crate) fn must_fit(what: &str, bytes: u64, hint: &str) -> Result<(), CliError> {
    match available() {
        Some(available) if bytes > available => Err(CliError::input(format!(
            "{what} would take {}, but only {} are free",
            units::bytes(bytes as f64),
            units::bytes(available as f64)
        ))
        .with_hint(Some(hint))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_figures() {
        assert_eq!(field("MemTotal: 12 kB\nMemAvailable:   4096 kB\n", "MemAvailable:"), Some(4 << 20));
        assert_eq!(field("nonsense", "MemAvailable:"), None);
        assert!(must_fit("a bit", 1, "").is_ok());
        if let Some(available) = available() {
            let refused = must_fit("a run", available.saturating_mul(1000), "take less");
            assert!(matches!(refused, Err(CliError::Input(_))));
        }
    }
}
