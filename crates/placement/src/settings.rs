//! The assumptions of a placement problem as data: what the command line sets, what a plan file records.

use crate::problem::{Device, Link, Objective, Problem, Transfers, Weights};
use labrys_dataflow::cost::{self, DeviceProfile};
use labrys_dataflow::{Graph, OpId, TimeSource, Work};
use std::sync::Arc;

/// Everything but the model that makes a [`Problem`].
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// What to minimise.
    pub objective: Objective,
    /// Whether transfers block.
    pub transfers: Transfers,
    /// Whether weights count.
    pub weights: Weights,
    /// The devices, in order.
    pub devices: Vec<DeviceSetting>,
    /// What the device profiles say, each once; the first is the reference on which measured times were taken.
    pub profiles: Vec<DeviceProfile>,
    /// Links, later ones before earlier ones; a pair that none of them names is free.
    pub links: Vec<LinkSetting>,
}

/// One device.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct DeviceSetting {
    /// Unique name.
    pub name: String,
    /// Name of its profile among [`Settings::profiles`].
    pub profile: String,
    /// Memory limit in bytes; none is unlimited.
    pub memory: Option<u64>,
}

/// A link between two devices in both directions, or between all of them.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct LinkSetting {
    /// The two devices; `None` is every pair.
    pub between: Option<(usize, usize)>,
    /// Bytes per second; `None` is infinite.
    pub bandwidth: Option<f64>,
    /// Nanoseconds added to every transfer.
    pub latency_ns: u64,
}

/// Most devices of a problem: the table of links grows with the square.
pub const MOST_DEVICES: usize = 4096;

/// Settings that do not make a problem.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SettingsError {
    /// There is nothing to place on.
    #[error("there must be at least one device")]
    NoDevice,
    /// More devices than [`MOST_DEVICES`].
    #[error("there are {0} devices, more than {MOST_DEVICES}")]
    TooManyDevices(usize),
    /// The links are so slow that times might not fit.
    #[error("the links are too slow: all transfers together could take more than 2^61 ns (73 years)")]
    TooSlow,
    /// A device names a profile that is not there.
    #[error("device '{device}' has the profile '{profile}', which is not known")]
    UnknownProfile {
        /// Name of the device.
        device: String,
        /// Name of the profile.
        profile: String,
    },
    /// A link names a device that is not there.
    #[error("the link {from}-{to} names a device that does not exist: there are {devices}, counted from 0")]
    UnknownLink {
        /// One end.
        from: usize,
        /// The other end.
        to: usize,
        /// Number of devices.
        devices: usize,
    },
    /// A bandwidth is not a positive number.
    #[error("a link has the bandwidth {0} B/s, which is not positive")]
    Bandwidth(f64),
}

impl Settings {
    /// Equal devices with the default profile and free links.
    pub fn new(devices: usize, objective: Objective) -> Self {
        let profile = DeviceProfile::default();
        let device = |i| DeviceSetting { name: format!("device{i}"), profile: profile.name.clone(), memory: None };
        Self {
            objective,
            transfers: Transfers::default(),
            weights: Weights::default(),
            devices: (0..devices).map(device).collect(),
            profiles: vec![profile],
            links: vec![],
        }
    }

    /// The problem of placing `graph` under these settings. Ops without a measured time get one from the profiles.
    ///
    /// # Errors
    /// Devices, profiles or links that do not fit together.
    pub fn problem(&self, mut graph: Graph) -> Result<Problem, SettingsError> {
        let reference = self.profiles.first().ok_or(SettingsError::NoDevice)?;
        if self.devices.is_empty() {
            return Err(SettingsError::NoDevice);
        }
        if self.devices.len() > MOST_DEVICES {
            return Err(SettingsError::TooManyDevices(self.devices.len()));
        }
        cost::roofline(&mut graph, reference);
        let devices = self.devices.iter().map(|device| self.device(device)).collect::<Result<_, _>>()?;
        let times = self.profiles.iter().map(|profile| class_times(&graph, reference, profile)).collect();
        let links = self.link_matrix()?;
        if longest_transfers(&graph, &links, self.devices.len()) >= 1 << 61 {
            return Err(SettingsError::TooSlow);
        }
        Ok(Problem {
            graph: Arc::new(graph),
            devices,
            times,
            links,
            objective: self.objective,
            transfers: self.transfers,
            weights: self.weights,
        })
    }

    fn device(&self, device: &DeviceSetting) -> Result<Device, SettingsError> {
        let class = self.profiles.iter().position(|profile| profile.name == device.profile);
        let unknown = || SettingsError::UnknownProfile { device: device.name.clone(), profile: device.profile.clone() };
        Ok(Device { name: device.name.clone(), memory: device.memory, class: class.ok_or_else(unknown)? })
    }

    fn link_matrix(&self) -> Result<Vec<Link>, SettingsError> {
        let n = self.devices.len();
        let mut links = vec![Link::FREE; n * n];
        for setting in &self.links {
            if let Some(rate) = setting.bandwidth.filter(|rate| rate.is_nan() || *rate <= 0.0) {
                return Err(SettingsError::Bandwidth(rate));
            }
            let link = Link { bandwidth: setting.bandwidth, latency: setting.latency_ns };
            match setting.between {
                None => links.fill(link),
                Some((from, to)) if from < n && to < n => {
                    links[from * n + to] = link;
                    links[to * n + from] = link;
                }
                Some((from, to)) => return Err(SettingsError::UnknownLink { from, to, devices: n }),
            }
        }
        Ok(links)
    }
}

/// Time of all transfers that could ever be needed, each over its slowest link: a bound on what sums of times may reach.
fn longest_transfers(graph: &Graph, links: &[Link], devices: usize) -> u128 {
    let mut distinct: Vec<Link> = vec![];
    for link in links {
        if !distinct.contains(link) {
            distinct.push(*link);
        }
    }
    let slowest = |tensor| distinct.iter().map(|link| u128::from(link.time(graph.bytes(tensor)))).max().unwrap_or(0);
    let destinations = |tensor| graph.consumers(tensor).len().min(devices.saturating_sub(1)) as u128;
    graph.tensors().map(|tensor| slowest(tensor) * destinations(tensor)).sum()
}

/// Run times on devices of one profile. A time measured on the reference device scales by what the two profiles estimate.
fn class_times(graph: &Graph, reference: &DeviceProfile, profile: &DeviceProfile) -> Vec<u64> {
    let largest = (1u64 << 60) / graph.op_count() as u64;
    let time = |op: OpId| {
        let work = graph.work(op);
        if profile == reference || *work == Work::default() {
            graph.time(op)
        } else if graph.time_source(op) == TimeSource::Measured {
            let (here, there) = (cost::time_ns(work, profile), cost::time_ns(work, reference).max(1));
            (u128::from(graph.time(op)) * u128::from(here) / u128::from(there)).min(largest.into()) as u64
        } else {
            cost::time_ns(work, profile).min(largest)
        }
    };
    graph.ops().map(time).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::DeviceId;
    use labrys_dataflow::GraphBuilder;

    fn graph() -> Graph {
        let mut b = GraphBuilder::new("g");
        let op = b.op("x", "op");
        b.set_work(op, Work { flops: 1_000_000, bytes: 1000, ..Work::default() });
        b.output(op, "t", 8);
        b.build().unwrap()
    }

    #[test]
    fn faster_profiles_run_faster() {
        let mut settings = Settings::new(2, Objective::Makespan);
        settings.profiles.push(DeviceProfile::built_in("mcu").unwrap());
        settings.devices[1].profile = "mcu".into();
        let problem = settings.problem(graph()).unwrap();
        let op = OpId(0);
        assert!(problem.time(op, DeviceId(0)) < problem.time(op, DeviceId(1)));
        let mut measured = graph();
        measured.set_time(op, 10_000, TimeSource::Measured);
        let problem = settings.problem(measured).unwrap();
        assert_eq!(problem.time(op, DeviceId(0)), 10_000);
        assert!(problem.time(op, DeviceId(1)) > 10_000);
    }

    #[test]
    fn what_does_not_fit_together_is_named() {
        let broken = |edit: fn(&mut Settings)| {
            let mut settings = Settings::new(2, Objective::Makespan);
            edit(&mut settings);
            settings.problem(graph()).unwrap_err().to_string()
        };
        assert_eq!(broken(|s| s.devices.clear()), "there must be at least one device");
        assert!(broken(|s| s.devices[1].profile = "abacus".into()).contains("'abacus', which is not known"));
        assert!(
            broken(|s| s.links = vec![LinkSetting { between: Some((0, 2)), bandwidth: None, latency_ns: 0 }])
                .contains("0-2")
        );
        assert!(
            broken(|s| s.links = vec![LinkSetting { between: None, bandwidth: Some(-1.0), latency_ns: 0 }])
                .contains("-1 B/s")
        );
    }
}
