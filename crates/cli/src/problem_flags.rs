//! The flags that describe devices, links and the objective.

use crate::error::CliError;
use crate::load;
use clap::{Args, ValueEnum};
use labrys_dataflow::cost::DeviceProfile;
use labrys_placement::settings::{DeviceSetting, LinkSetting};
use labrys_placement::{Objective, Settings, Transfers, Weights};
use labrys_report::units;

#[derive(Args, Clone, Debug)]
pub(crate) struct ProblemFlags {
    /// Number of devices [default: 2, or as many as --device-profile names]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    devices: Option<u32>,
    /// What to minimise
    #[arg(long, value_enum, default_value_t = ObjectiveFlag::Makespan)]
    objective: ObjectiveFlag,
    /// Memory limit of every device, or a list with one for each: 16GiB, or 16GiB,8GiB
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = bytes)]
    memory: Vec<u64>,
    /// Profile of every device, or a list with one for each: cpu, a100, h100, mcu, or a TOML file
    #[arg(long, value_name = "PROFILE", value_delimiter = ',', default_value = "cpu")]
    device_profile: Vec<String>,
    /// Link between all devices, or between two: bandwidth=25GB/s,latency=5us or 0-1:bandwidth=1GB/s; may be repeated
    /// [default: free]
    #[arg(long, value_name = "LINK", value_parser = link)]
    link: Vec<LinkSetting>,
    /// Whether transfers block both devices or overlap with compute
    #[arg(long, value_enum, default_value_t = TransfersFlag::Sync)]
    transfers: TransfersFlag,
    /// Whether weights count in the memory of the devices that read them
    #[arg(long, value_enum, default_value_t = WeightsFlag::Resident)]
    weights: WeightsFlag,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ObjectiveFlag {
    /// The time at which the last op ends
    Makespan,
    /// The largest peak memory over the devices
    PeakMemory,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TransfersFlag {
    Sync,
    Async,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WeightsFlag {
    Resident,
    Ignored,
}

fn bytes(text: &str) -> Result<u64, String> {
    units::parse_bytes(text).map_err(|error| error.to_string())
}

/// `[A-B:][bandwidth=RATE][,][latency=TIME]`
fn link(text: &str) -> Result<LinkSetting, String> {
    let (between, rest) = match text.split_once(':') {
        Some((pair, rest)) => (Some(device_pair(pair)?), rest),
        None => (None, text),
    };
    let mut link = LinkSetting { between, bandwidth: None, latency_ns: 0 };
    for part in rest.split(',') {
        match part.split_once('=') {
            Some(("bandwidth", rate)) => {
                link.bandwidth = Some(units::parse_rate(rate).map_err(|error| error.to_string())?);
            }
            Some(("latency", time)) => {
                let latency = units::parse_duration(time).map_err(|error| error.to_string())?;
                link.latency_ns = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
            }
            _ => return Err(format!("expected bandwidth=RATE or latency=TIME, found '{part}'")),
        }
    }
    Ok(link)
}

fn device_pair(text: &str) -> Result<(usize, usize), String> {
    let pair = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    pair.ok_or_else(|| format!("expected two device numbers such as 0-1, found '{text}'"))
}

impl ProblemFlags {
    /// The settings that these flags describe.
    pub(crate) fn settings(&self) -> Result<Settings, CliError> {
        let listed = [self.device_profile.len(), self.memory.len()].into_iter().find(|&length| length > 1);
        let count = self.devices.map_or(listed.unwrap_or(2), |devices| devices as usize);
        let profiles = self.device_profile.iter().map(|name| profile(name)).collect::<Result<Vec<_>, _>>()?;
        let memory: Vec<Option<u64>> = self.memory.iter().copied().map(Some).collect();
        let mut settings = Settings::new(count, self.objective());
        settings.devices = (0..count)
            .map(|i| {
                Ok(DeviceSetting {
                    name: format!("device{i}"),
                    profile: for_device(&profiles, i, count, "--device-profile")?.name.clone(),
                    memory: if memory.is_empty() { None } else { *for_device(&memory, i, count, "--memory")? },
                })
            })
            .collect::<Result<_, CliError>>()?;
        settings.profiles = vec![];
        for profile in profiles {
            if !settings.profiles.iter().any(|known| known.name == profile.name) {
                settings.profiles.push(profile);
            }
        }
        settings.links.clone_from(&self.link);
        settings.transfers = match self.transfers {
            TransfersFlag::Sync => Transfers::Synchronous,
            TransfersFlag::Async => Transfers::Asynchronous,
        };
        settings.weights = match self.weights {
            WeightsFlag::Resident => Weights::Resident,
            WeightsFlag::Ignored => Weights::Ignored,
        };
        Ok(settings)
    }

    fn objective(&self) -> Objective {
        match self.objective {
            ObjectiveFlag::Makespan => Objective::Makespan,
            ObjectiveFlag::PeakMemory => Objective::PeakMemory,
        }
    }
}

/// Entry `i` of a list with one entry for all devices or one for each.
fn for_device<'a, T>(list: &'a [T], i: usize, devices: usize, flag: &str) -> Result<&'a T, CliError> {
    match list {
        [all] => Ok(all),
        _ if list.len() == devices => Ok(&list[i]),
        _ => Err(CliError::input(format!("{flag} has {} entries for {devices} devices", list.len()))
            .with_hint(Some("give one for all devices, or one for each"))),
    }
}

/// A built-in profile, or one from a TOML file.
pub(crate) fn profile(name: &str) -> Result<DeviceProfile, CliError> {
    if let Some(profile) = DeviceProfile::built_in(name) {
        return Ok(profile);
    }
    if !name.contains(['.', '/']) {
        let known: Vec<String> = DeviceProfile::all_built_in().map(|profile| profile.name).collect();
        let hint = format!("built in are {}; or give a TOML file", known.join(", "));
        return Err(CliError::input(format!("there is no device profile '{name}'")).with_hint(Some(hint)));
    }
    let text = String::from_utf8(load::bytes(name)?).map_err(|_| CliError::input(format!("{name}: not UTF-8 text")))?;
    DeviceProfile::from_toml(&text).map_err(|error| CliError::in_file(name, &error))
}
