//! A memory plan: an offset for everything that a device holds, so that its peak is reached by one arena.
//!
//! This is dynamic storage allocation, NP-hard: buffers are rectangles, time across and addresses up, of which only the height
//! above 0 may be chosen. Weights stay for ever and lie at the bottom. Suggested reading order: `lifetimes`, `fit`, `improve`.

mod fit;
mod improve;
mod lifetimes;
mod validate;

pub use validate::Overlap;

use crate::problem::{DeviceId, Plan, Problem};
use labrys_dataflow::{OpId, TensorId, WeightId};
use rayon::prelude::*;

/// Work that is worth spending on one device by default: well under a second.
pub const DEFAULT_BUDGET: u64 = 20_000_000;

/// What a buffer holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Content {
    /// A copy of a tensor.
    Tensor(TensorId),
    /// The scratch memory of an op.
    Scratch(OpId),
    /// A resident weight.
    Weight(WeightId),
}

/// A piece of memory with its lifetime and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// What it holds.
    pub content: Content,
    /// Size in bytes.
    pub bytes: u64,
    /// First step that needs it, in steps of its own device: runs, and transfers from and to it.
    pub first: u32,
    /// Last step that needs it.
    pub last: u32,
    /// Address in the arena.
    pub offset: u64,
}

impl Buffer {
    /// The address after the last byte.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

/// The arena of one device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceArena {
    /// The device.
    pub device: DeviceId,
    /// Weights first, then by first step.
    pub buffers: Vec<Buffer>,
    /// Bytes that the arena takes.
    pub height: u64,
    /// Bytes held at the worst step: no arena is smaller.
    pub peak: u64,
}

impl DeviceArena {
    /// How much larger than needed the arena is: height over peak, 1 is perfect.
    pub fn fragmentation(&self) -> f64 {
        if self.peak == 0 { 1.0 } else { self.height as f64 / self.peak as f64 }
    }
}

/// Memory plans of all devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArenaPlan {
    /// One per device.
    pub devices: Vec<DeviceArena>,
}

impl ArenaPlan {
    /// Height of the largest arena, in bytes.
    pub fn height(&self) -> u64 {
        self.devices.iter().map(|arena| arena.height).max().unwrap_or(0)
    }

    /// How much larger than needed the worst arena is: height over peak, 1 is perfect.
    pub fn fragmentation(&self) -> f64 {
        self.devices.iter().map(DeviceArena::fragmentation).fold(1.0, f64::max)
    }
}

/// Offsets for a valid plan. Spends about `budget` looks at pairs of buffers per device; deterministic.
pub fn plan(problem: &Problem, plan: &Plan, budget: u64) -> ArenaPlan {
    let buffers = lifetimes::buffers(problem, plan);
    let devices: Vec<_> = problem.device_ids().zip(buffers).collect();
    ArenaPlan { devices: devices.into_par_iter().map(|(device, buffers)| lay_out(device, buffers, budget)).collect() }
}

/// What each device holds when, without offsets: what every memory plan for `plan` must find a place for.
pub fn without_offsets(problem: &Problem, plan: &Plan) -> ArenaPlan {
    let buffers = lifetimes::buffers(problem, plan);
    let arena = |(device, buffers)| DeviceArena { device, buffers, height: 0, peak: 0 };
    ArenaPlan { devices: problem.device_ids().zip(buffers).map(arena).collect() }
}

/// Weights at the bottom, everything else above them.
fn lay_out(device: DeviceId, mut buffers: Vec<Buffer>, budget: u64) -> DeviceArena {
    let weights = buffers.partition_point(|buffer| matches!(buffer.content, Content::Weight(_)));
    let mut floor = 0;
    for buffer in &mut buffers[..weights] {
        buffer.offset = floor;
        floor += buffer.bytes;
    }
    let moving = &mut buffers[weights..];
    let peak = fit::peak(moving);
    fit::in_order_of_time(moving);
    improve::improve(moving, peak, budget);
    moving.iter_mut().for_each(|buffer| buffer.offset += floor);
    let height = buffers.iter().map(Buffer::end).max().unwrap_or(0);
    DeviceArena { device, buffers, height, peak: floor + peak }
}

#[cfg(test)]
mod tests;
