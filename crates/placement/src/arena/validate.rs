//! Is a memory plan right? A sweep over time that shares nothing with the planner.

use super::{ArenaPlan, Buffer, DeviceArena};
use crate::problem::DeviceId;
use std::collections::{BTreeMap, BTreeSet};

/// Two buffers that share bytes while both are held, or one that sticks out of the arena.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("device {}: {first:?} and {second:?} overlap or exceed the arena", device.0)]
pub struct Overlap {
    /// The device.
    pub device: DeviceId,
    /// One buffer.
    pub first: Box<Buffer>,
    /// The other; the same one if it exceeds the arena.
    pub second: Box<Buffer>,
}

impl ArenaPlan {
    /// Checks that no two buffers meet in space and time and that all lie within their arenas.
    ///
    /// # Errors
    /// Two buffers that do.
    pub fn validate(&self) -> Result<(), Overlap> {
        self.devices.iter().try_for_each(validate)
    }
}

fn validate(arena: &DeviceArena) -> Result<(), Overlap> {
    let overlap = |first: Buffer, second: Buffer| {
        Err(Overlap { device: arena.device, first: Box::new(first), second: Box::new(second) })
    };
    let mut by_start: Vec<&Buffer> = arena.buffers.iter().filter(|buffer| buffer.bytes > 0).collect();
    by_start.sort_by_key(|buffer| buffer.first);
    let mut held: BTreeMap<u64, &Buffer> = BTreeMap::new();
    let mut ends: BTreeSet<(u32, u64)> = BTreeSet::new();
    for buffer in by_start {
        while let Some(&(last, offset)) = ends.first().filter(|(last, _)| *last < buffer.first) {
            ends.remove(&(last, offset));
            held.remove(&offset);
        }
        if buffer.last < buffer.first || buffer.offset.checked_add(buffer.bytes).is_none_or(|end| end > arena.height) {
            return overlap(*buffer, *buffer);
        }
        let below = held.range(..=buffer.offset).next_back().filter(|(_, b)| b.end() > buffer.offset);
        let above = held.range(buffer.offset..).next().filter(|(start, _)| **start < buffer.end());
        if let Some((_, other)) = below.or(above) {
            return overlap(**other, *buffer);
        }
        held.insert(buffer.offset, buffer);
        ends.insert((buffer.last, buffer.offset));
    }
    Ok(())
}
