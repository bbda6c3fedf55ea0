//! Work of each instruction and of each computation, callees before callers.

use super::flops;
use super::forward::{Source, is_op, sources};
use super::liveness;
use super::module::{Computation, Instruction, Module, Role};
use super::trip_count::trip_count;
use crate::Result;
use crate::graph::{DType, Work};

/// What one run of an instruction or of a computation costs.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Cost {
    pub(super) flops: u64,
    pub(super) bytes: u64,
    /// Memory held only meanwhile.
    pub(super) scratch: u64,
    dtype: DType,
    /// Flops of the part that `dtype` is taken from.
    heaviest: u64,
}

impl Cost {
    pub(super) fn work(&self) -> Work {
        Work { flops: self.flops, bytes: self.bytes, dtype: self.dtype, free: false }
    }

    /// This, then `next`; scratch is left to the liveness analysis.
    fn then(self, next: Self) -> Self {
        let heavier = if next.heaviest > self.heaviest || self.flops == 0 && self.bytes == 0 { next } else { self };
        Self {
            flops: self.flops.saturating_add(next.flops),
            bytes: self.bytes.saturating_add(next.bytes),
            scratch: self.scratch.max(next.scratch),
            dtype: heavier.dtype,
            heaviest: heavier.heaviest,
        }
    }

    fn times(self, count: u64) -> Self {
        Self { flops: self.flops.saturating_mul(count), bytes: self.bytes.saturating_mul(count), ..self }
    }

    fn costlier(self, other: Self) -> Self {
        let scratch = self.scratch.max(other.scratch);
        let costlier = if (other.flops, other.bytes) > (self.flops, self.bytes) { other } else { self };
        Self { scratch, ..costlier }
    }
}

/// A computation seen from outside.
#[derive(Default)]
struct Summary {
    /// Of one run as a body, branch or callee.
    cost: Cost,
    /// As a fusion's body: bytes read of each parameter, and bytes written.
    read: Vec<u64>,
    written: u64,
}

/// Costs of all computations of a module.
pub(super) struct Costs {
    summaries: Vec<Summary>,
}

impl Costs {
    /// # Errors
    /// Plumbing that does not fit its operands.
    pub(super) fn of(module: &Module<'_>) -> Result<Self> {
        let mut costs = Self { summaries: vec![] };
        costs.summaries.resize_with(module.computations.len(), Summary::default);
        for &c in &module.callees_first {
            costs.summaries[c] = costs.summarize(module, &module.computations[c])?;
        }
        Ok(costs)
    }

    fn summarize(&self, module: &Module<'_>, computation: &Computation<'_>) -> Result<Summary> {
        let mut cost = Cost::default();
        let mut scratch = Vec::with_capacity(computation.instructions.len());
        for instruction in &computation.instructions {
            let part = self.instruction(module, computation, instruction)?;
            scratch.push(part.scratch);
            cost = cost.then(part);
        }
        cost.scratch = liveness::peak(module, computation, &scratch)?;
        Ok(Summary { cost, read: bytes_read(computation), written: bytes_written(computation) })
    }

    /// Cost of one instruction, with all that it calls.
    pub(super) fn instruction(
        &self,
        module: &Module<'_>,
        computation: &Computation<'_>,
        instruction: &Instruction<'_>,
    ) -> Result<Cost> {
        if !is_op(instruction) {
            return Ok(Cost::default());
        }
        let called = |role| instruction.called_as(role).map(|c| &self.summaries[c]);
        Ok(match (instruction.opcode, called(Role::Apply)) {
            ("while", _) => self.while_loop(module, computation, instruction),
            ("conditional", _) => self.conditional(instruction),
            ("call", Some(callee)) => callee.cost,
            ("fusion", Some(body)) => {
                Cost { bytes: fusion_bytes(computation, instruction, body), scratch: 0, ..body.cost }
            }
            (opcode, Some(wrapped)) if is_generic_start(opcode) => {
                Cost { bytes: own_bytes(module, computation, instruction)?, ..wrapped.cost }
            }
            (_, applied) => {
                let flops = flops::flops(computation, instruction, applied.map_or(0, |a| a.cost.flops));
                let bytes = own_bytes(module, computation, instruction)?;
                let dtype = flops::dtype(computation, instruction);
                Cost { flops, bytes, scratch: 0, dtype, heaviest: flops }
            }
        })
    }

    fn while_loop(&self, module: &Module<'_>, computation: &Computation<'_>, instruction: &Instruction<'_>) -> Cost {
        let part = |role| instruction.called_as(role).map(|c| self.summaries[c].cost).unwrap_or_default();
        let iteration = part(Role::Body).then(part(Role::Condition));
        iteration.times(trip_count(module, computation, instruction))
    }

    fn conditional(&self, instruction: &Instruction<'_>) -> Cost {
        let branches = instruction.called.iter().filter(|call| call.role == Role::Branch);
        branches.map(|call| self.summaries[call.computation].cost).reduce(Cost::costlier).unwrap_or_default()
    }
}

/// The start of an asynchronous call of a computation, not of a reduction with a combiner.
fn is_generic_start(opcode: &str) -> bool {
    opcode.ends_with("-start") && !matches!(opcode, "all-reduce-start" | "reduce-scatter-start")
}

/// Bytes that an instruction outside of fusions reads and writes. Slices read and write only what they take.
fn own_bytes(module: &Module<'_>, computation: &Computation<'_>, instruction: &Instruction<'_>) -> Result<u64> {
    let operand = |position| computation.operand(instruction, position).map_or(0, |o| o.shape.bytes());
    let from = |first: usize| {
        let mut operands = instruction.operands.get(first..).unwrap_or_default().to_vec();
        operands.sort_unstable();
        operands.dedup();
        operands.iter().fold(0u64, |sum, &o| sum.saturating_add(computation.instructions[o].shape.bytes()))
    };
    let result = instruction.shape.bytes();
    Ok(match instruction.opcode {
        "slice" | "dynamic-slice" | "gather" => from(1).saturating_add(result.saturating_mul(2)),
        "dynamic-update-slice" => from(2).saturating_add(operand(1).saturating_mul(2)),
        "scatter" => scatter_bytes(instruction, operand),
        _ => from(0).saturating_add(new_bytes(module, computation, instruction)?),
    })
}

/// Operands are n arrays, the indices, n updates: the updates are read, what they touch is read and written.
fn scatter_bytes(instruction: &Instruction<'_>, operand: impl Fn(usize) -> u64) -> u64 {
    let arrays = instruction.operands.len() / 2;
    let updates = (arrays + 1..instruction.operands.len()).fold(0u64, |sum, o| sum.saturating_add(operand(o)));
    updates.saturating_mul(3).saturating_add(operand(arrays))
}

fn new_bytes(module: &Module<'_>, computation: &Computation<'_>, instruction: &Instruction<'_>) -> Result<u64> {
    let sources = sources(module, computation, instruction)?;
    let leaves = sources.into_iter().zip(instruction.shape.leaves());
    Ok(leaves.fold(0u64, |sum, (source, leaf)| match (source, leaf) {
        (Source::New, Some(array)) => sum.saturating_add(array.bytes),
        _ => sum,
    }))
}

fn fusion_bytes(computation: &Computation<'_>, instruction: &Instruction<'_>, body: &Summary) -> u64 {
    let operands = instruction.operands.iter().enumerate();
    operands.fold(body.written, |sum, (position, &o)| {
        let all = computation.instructions[o].shape.bytes();
        sum.saturating_add(body.read.get(position).map_or(all, |&read| read.min(all)))
    })
}

/// For each parameter of a fusion's body the bytes that are read of it: the parts that slices take, if nothing else reads it.
fn bytes_read(computation: &Computation<'_>) -> Vec<u64> {
    let mut read = vec![0u64; computation.instructions.len()];
    for instruction in &computation.instructions {
        for (position, &o) in instruction.operands.iter().enumerate() {
            let bytes = match (instruction.opcode, position) {
                ("slice" | "dynamic-slice" | "gather", 0) => instruction.shape.bytes(),
                ("dynamic-update-slice", 0) => computation.operand(instruction, 1).map_or(0, |u| u.shape.bytes()),
                _ => computation.instructions[o].shape.bytes(),
            };
            read[o] = read[o].saturating_add(bytes);
        }
    }
    computation.parameters.iter().map(|&p| read[p]).collect()
}

/// Bytes that a fusion writes: its results, of an updated slice only the update.
fn bytes_written(computation: &Computation<'_>) -> u64 {
    let written = |instruction: &Instruction<'_>| match instruction.opcode {
        "dynamic-update-slice" => computation.operand(instruction, 1).map_or(0, |u| u.shape.bytes()),
        _ => instruction.shape.bytes(),
    };
    let root = computation.root();
    match root.opcode {
        "tuple" => root.operands.iter().fold(0, |sum, &o| sum.saturating_add(written(&computation.instructions[o]))),
        _ => written(root),
    }
}
