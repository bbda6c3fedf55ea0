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
    /// Memory limit of every device, or a list with one for each: 16GiB, or 16GiB,8GiB; "profile" is what the device's profile
    /// says [default: unlimited]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = memory)]
    memory: Vec<MemoryFlag>,
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

#[derive(Clone, Copy, Debug)]
enum MemoryFlag {
    Bytes(u64),
    OfProfile,
}

fn memory(text: &str) -> Result<MemoryFlag, String> {
    match text {
        "profile" => Ok(MemoryFlag::OfProfile),
        size => units::parse_bytes(size).map(MemoryFlag::Bytes).map_err(|error| error.to_string()),
    }
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
        let mut settings = Settings::new(count, self.objective());
        settings.devices = (0..count)
            .map(|i| {
                let profile = for_device(&profiles, i, count, "--device-profile")?;
                let memory = match self.memory.as_slice() {
                    [] => None,
                    list => Some(match for_device(list, i, count, "--memory")? {
                        MemoryFlag::Bytes(bytes) => *bytes,
                        MemoryFlag::OfProfile => profile.memory_bytes,
                    }),
                };
                Ok(DeviceSetting { name: format!("device{i}"), profile: profile.name.clone(), memory })
            })
            .collect::<Result<_, CliError>>()?;
        settings.profiles = distinct(profiles)?;
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

/// Each profile once. Two different ones must not share a name, which is how devices refer to them.
fn distinct(profiles: Vec<DeviceProfile>) -> Result<Vec<DeviceProfile>, CliError> {
    let mut known: Vec<DeviceProfile> = vec![];
    for profile in profiles {
        match known.iter().find(|other| other.name == profile.name) {
            None => known.push(profile),
            Some(other) if *other == profile => {}
            Some(_) => {
                let message = format!("two different device profiles are called '{}'", profile.name);
                return Err(CliError::input(message).with_hint(Some("change the name in one of the files")));
            }
        }
    }
    Ok(known)
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
