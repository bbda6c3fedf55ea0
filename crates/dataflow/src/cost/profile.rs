//! What a device can do: the constants of the roofline, as TOML.

use crate::graph::DType;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Peak rates of one device.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceProfile {
    /// Name of the device.
    pub name: String,
    /// Time that any op takes at least, in nanoseconds.
    pub launch_latency_ns: f64,
    /// Memory bandwidth in bytes a second.
    pub bytes_per_second: f64,
    /// Memory of the device in bytes.
    pub memory_bytes: u64,
    /// Arithmetic operations a second by element type. `f32` must be there and stands in for a type that is not.
    pub flops: BTreeMap<DType, f64>,
}

/// The profiles that come with the library; the first is the default.
const BUILT_IN: [&str; 4] = [
    include_str!("../../devices/cpu.toml"),
    include_str!("../../devices/a100.toml"),
    include_str!("../../devices/h100.toml"),
    include_str!("../../devices/mcu.toml"),
];

impl DeviceProfile {
    /// Reads a profile.
    ///
    /// # Errors
    /// The line where the text is no TOML or no profile; rates that are not positive.
    pub fn from_toml(text: &str) -> Result<Self> {
        let profile: Self = toml::from_str(text).map_err(|e| {
            let before = e.span().map_or(0, |span| span.start).min(text.len());
            let line = 1 + text.as_bytes()[..before].iter().filter(|&&b| b == b'\n').count();
            Error::syntax(line, e.message())
        })?;
        profile.check()?;
        Ok(profile)
    }

    /// The built-in profile called `name`.
    pub fn built_in(name: &str) -> Option<Self> {
        Self::all_built_in().find(|profile| profile.name == name)
    }

    /// Every built-in profile; the first is the default.
    pub fn all_built_in() -> impl Iterator<Item = Self> {
        BUILT_IN.iter().filter_map(|text| Self::from_toml(text).ok())
    }

    /// Operations a second on elements of type `dtype`.
    pub fn flops(&self, dtype: DType) -> f64 {
        let known = |dtype| self.flops.get(&dtype).copied();
        known(dtype).or_else(|| known(DType::F32)).unwrap_or(f64::INFINITY)
    }

    fn check(&self) -> Result<()> {
        let rates = self.flops.values().chain([&self.bytes_per_second]);
        if let Some(rate) = rates.into_iter().find(|rate| !rate.is_finite() || **rate <= 0.0) {
            return Err(Error::file(format!("device '{}': a rate of {rate} is not positive", self.name)));
        }
        if !self.launch_latency_ns.is_finite() || self.launch_latency_ns < 0.0 {
            return Err(Error::file(format!(
                "device '{}': launch_latency_ns is {}",
                self.name, self.launch_latency_ns
            )));
        }
        if !self.flops.contains_key(&DType::F32) {
            let hint = "under [flops], for example: f32 = 100e9";
            return Err(Error::file(format!("device '{}' has no rate for f32", self.name)).with_hint(hint));
        }
        Ok(())
    }
}

impl Default for DeviceProfile {
    /// The profile `cpu`.
    fn default() -> Self {
        Self::all_built_in().next().expect("the first built-in profile is valid; a test reads them all")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_is_valid_and_found_by_name() {
        assert_eq!(DeviceProfile::all_built_in().count(), BUILT_IN.len());
        for text in BUILT_IN {
            let profile = DeviceProfile::from_toml(text).unwrap();
            assert_eq!(DeviceProfile::built_in(&profile.name), Some(profile));
        }
        assert_eq!(DeviceProfile::default().name, "cpu");
        assert_eq!(DeviceProfile::built_in("abacus"), None);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let text = "name = \"x\"\nlaunch_latency_ns = 1\nbytes_per_second = 1\nmemory = 1\n";
        assert!(DeviceProfile::from_toml(text).unwrap_err().to_string().starts_with("line 4: "), "unknown field");
        let full = |flops: &str| {
            format!("name='x'\nlaunch_latency_ns=1\nbytes_per_second=1\nmemory_bytes=1\n[flops]\n{flops}")
        };
        for (flops, expected) in
            [("f16 = 1", "no rate for f32"), ("f32 = 0", "not positive"), ("f32 = nan", "not positive")]
        {
            let error = DeviceProfile::from_toml(&full(flops)).unwrap_err().to_string();
            assert!(error.contains(expected), "{flops}: {error}");
        }
    }

    #[test]
    fn an_absent_type_runs_at_the_rate_of_f32() {
        let profile = DeviceProfile::default();
        assert_eq!(profile.flops(DType::I64), profile.flops(DType::F32));
        assert!(profile.flops(DType::I8) > profile.flops(DType::F32));
    }
}
