//! The vocabulary: devices, links, the problem, a plan, and what it costs. Read this first.
//!
//! # The performance model (REGAL A.4)
//! A plan gives every op a device and all steps, ops and transfers, one total order.
//!
//! **Time.** A device runs one op at a time, in that order. An op starts when its device is free, its input tensors are there
//! and the ops before its control edges have finished, wherever they ran. A tensor is transferred at most once to each
//! device, always from the device that produced it.
//! - *Synchronous* (the default): a transfer starts when both devices have finished what stands before it, and blocks both.
//! - *Asynchronous*: a transfer is issued at that same moment, or later when its link is still busy (a link carries one
//!   transfer at a time in each direction), and blocks neither; consumers wait for its arrival.
//!
//! **Memory.** A tensor is held where it was produced or received until its last local user, transfers included, has run; graph
//! outputs stay on their producer's device to the end. While an op runs, its inputs, outputs and scratch memory count
//! together. An asynchronous transfer holds its source until it has finished. Resident weights are held, from start to end,
//! by every device with an op that reads them. The peak is the largest sum over all steps of a device.

use labrys_dataflow::{Graph, OpId, TensorId};
use labrys_graph::define_id;
use labrys_search::Score;
use std::sync::Arc;

define_id!(
    /// One device.
    DeviceId
);

/// What to minimise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The time at which the last step ends, in nanoseconds.
    Makespan,
    /// The largest peak memory over the devices, in bytes.
    PeakMemory,
}

/// Whether transfers block their devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transfers {
    /// They block both ends.
    #[default]
    Synchronous,
    /// They overlap with compute.
    Asynchronous,
}

/// Whether weights count in the memory of the devices that read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// They do.
    #[default]
    Resident,
    /// They do not, as in the paper.
    Ignored,
}

/// One device.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// Unique name.
    pub name: String,
    /// Memory limit in bytes, a hard constraint; `None` is unlimited.
    pub memory: Option<u64>,
    /// Which row of [`Problem::times`] gives the run times on this device.
    pub class: usize,
}

/// The connection from one device to another.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Link {
    /// Bytes per second; `None` is infinite, as in the paper.
    pub bandwidth: Option<f64>,
    /// Nanoseconds added to every transfer.
    pub latency: u64,
}

impl Link {
    /// The paper's link: no latency, infinite bandwidth.
    pub const FREE: Self = Self { bandwidth: None, latency: 0 };

    /// Nanoseconds that `bytes` take.
    pub fn time(&self, bytes: u64) -> u64 {
        let transmission = self.bandwidth.map_or(0, |rate| (bytes as f64 * 1e9 / rate).ceil() as u64);
        self.latency.saturating_add(transmission)
    }
}

/// A placement and scheduling problem.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What to run.
    pub graph: Arc<Graph>,
    /// Where to run it.
    pub devices: Vec<Device>,
    /// Run time of every op in nanoseconds, one row per device class.
    pub times: Vec<Vec<u64>>,
    /// Link from device `i` to device `j` at `i * devices + j`; the diagonal is not used.
    pub links: Vec<Link>,
    /// What to minimise.
    pub objective: Objective,
    /// Whether transfers block.
    pub transfers: Transfers,
    /// Whether weights count.
    pub weights: Weights,
}

impl Problem {
    /// The paper's setting: `devices` equal devices without memory limit, free synchronous links.
    pub fn new(graph: Arc<Graph>, devices: usize, objective: Objective) -> Self {
        let times = graph.ops().map(|op| graph.time(op)).collect();
        Self {
            graph,
            devices: (0..devices).map(|i| Device { name: format!("device{i}"), memory: None, class: 0 }).collect(),
            times: vec![times],
            links: vec![Link::FREE; devices * devices],
            objective,
            transfers: Transfers::Synchronous,
            weights: Weights::default(),
        }
    }

    /// The same problem with this memory limit, in bytes, on every device.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.devices.iter_mut().for_each(|device| device.memory = Some(bytes));
        self
    }

    /// The same problem with this link between every two devices.
    #[must_use]
    pub fn with_link(mut self, link: Link) -> Self {
        self.links.fill(link);
        self
    }

    /// The same problem with these transfers.
    #[must_use]
    pub fn with_transfers(mut self, transfers: Transfers) -> Self {
        self.transfers = transfers;
        self
    }

    /// The same problem with weights counted or not.
    #[must_use]
    pub fn with_weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// Number of devices.
    #[inline]
    pub fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// All devices.
    pub fn device_ids(&self) -> impl ExactSizeIterator<Item = DeviceId> + use<> {
        (0..self.devices.len() as u32).map(DeviceId)
    }

    /// Run time of an op on a device, in nanoseconds.
    #[inline]
    pub fn time(&self, op: OpId, device: DeviceId) -> u64 {
        self.times[self.devices[device.0 as usize].class][op.0 as usize]
    }

    /// The link from one device to another.
    #[inline]
    pub fn link(&self, from: DeviceId, to: DeviceId) -> &Link {
        &self.links[from.0 as usize * self.devices.len() + to.0 as usize]
    }

    /// Nanoseconds that a transfer of `tensor` takes.
    #[inline]
    pub fn transfer_time(&self, tensor: TensorId, from: DeviceId, to: DeviceId) -> u64 {
        self.link(from, to).time(self.graph.bytes(tensor))
    }

    /// Whether any device has a memory limit.
    pub fn is_memory_limited(&self) -> bool {
        self.devices.iter().any(|device| device.memory.is_some())
    }

    /// Whether all links cost nothing.
    pub fn has_free_links(&self) -> bool {
        self.device_count() == 1 || self.links.iter().all(|link| *link == Link::FREE)
    }

    /// Bytes of the distinct weights that the ops on a device read; 0 if weights are ignored.
    pub fn resident_weights(&self, placement: &[DeviceId], device: DeviceId) -> u64 {
        if self.weights == Weights::Ignored {
            return 0;
        }
        let mut read = vec![false; self.graph.weight_count()];
        for op in self.graph.ops().filter(|op| placement[op.0 as usize] == device) {
            self.graph.reads(op).iter().for_each(|weight| read[weight.0 as usize] = true);
        }
        self.graph.weights().filter(|w| read[w.0 as usize]).map(|w| self.graph.weight_bytes(w)).sum()
    }

    /// Bytes above the memory limits that per-device peaks amount to.
    pub fn excess(&self, peaks: &[u64]) -> u64 {
        let over = |(device, peak): (&Device, &u64)| device.memory.map_or(0, |limit| peak.saturating_sub(limit));
        self.devices.iter().zip(peaks).map(over).sum()
    }

    /// What a search minimises: feasibility first, then the objective.
    pub fn score(&self, cost: &Cost) -> Score {
        let value = match self.objective {
            Objective::Makespan => cost.makespan,
            Objective::PeakMemory => cost.peak(),
        };
        Score { excess: self.excess(&cost.peaks), value }
    }
}

/// One step of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Step {
    /// Run an op on the device that the plan gives it.
    Run(OpId),
    /// Copy a tensor from the device that produced it.
    Transfer {
        /// What is copied.
        tensor: TensorId,
        /// Where to.
        to: DeviceId,
    },
}

/// A solution: where every op runs, and one total order of all steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Device of each op.
    pub device: Vec<DeviceId>,
    /// Every op exactly once, every needed transfer exactly once.
    pub steps: Vec<Step>,
}

impl Plan {
    /// The plan that runs `order` with this placement and transfers each tensor just before its first consumer on another device.
    pub fn with_lazy_transfers(graph: &Graph, device: Vec<DeviceId>, order: &[OpId], devices: usize) -> Self {
        let mut steps = Vec::with_capacity(order.len());
        let mut sent = vec![false; if devices > 1 { graph.tensor_count() * devices } else { 0 }];
        for &op in order {
            let to = device[op.0 as usize];
            for &tensor in graph.inputs(op) {
                if device[graph.producer(tensor).0 as usize] != to {
                    let already = &mut sent[tensor.0 as usize * devices + to.0 as usize];
                    if !std::mem::replace(already, true) {
                        steps.push(Step::Transfer { tensor, to });
                    }
                }
            }
            steps.push(Step::Run(op));
        }
        Self { device, steps }
    }

    /// The ops in the order in which they run.
    pub fn order(&self) -> impl Iterator<Item = OpId> {
        self.steps.iter().filter_map(|step| match step {
            Step::Run(op) => Some(*op),
            Step::Transfer { .. } => None,
        })
    }

    /// Number of transfers.
    pub fn transfer_count(&self) -> usize {
        self.steps.len() - self.device.len()
    }
}

/// What a plan costs under the performance model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// End of the last step, in nanoseconds.
    pub makespan: u64,
    /// Peak memory of each device, in bytes.
    pub peaks: Vec<u64>,
}

impl Cost {
    /// The largest peak memory over the devices.
    pub fn peak(&self) -> u64 {
        self.peaks.iter().copied().max().unwrap_or(0)
    }
}
