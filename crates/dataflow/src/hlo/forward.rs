//! Which instructions are plumbing: they hand buffers on without touching them, so they are no ops.

use super::module::{Computation, Instruction, Module, Role};
use super::shape::Shape;
use crate::{Error, Result};

/// Where a leaf of an instruction's result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The instruction makes it.
    New,
    /// It is leaf `leaf` of operand number `operand`.
    Operand { operand: usize, leaf: usize },
}

/// Custom calls that only tell the partitioner something.
const ANNOTATIONS: [&str; 3] = ["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"];

/// Whether the instruction becomes an op. Parameters and constants are weights; plumbing is nothing.
pub(super) fn is_op(instruction: &Instruction<'_>) -> bool {
    !matches!(instruction.opcode, "parameter" | "constant" | "after-all")
        && !is_plumbing(instruction)
        && !is_annotation(instruction)
}

fn is_plumbing(instruction: &Instruction<'_>) -> bool {
    matches!(
        instruction.opcode,
        "tuple"
            | "get-tuple-element"
            | "bitcast"
            | "opt-barrier"
            | "optimization-barrier"
            | "add-dependency"
            | "domain"
    ) || instruction.async_done_of().is_some()
        || instruction.opcode.ends_with("-update")
}

fn is_annotation(instruction: &Instruction<'_>) -> bool {
    instruction.opcode == "custom-call"
        && instruction.operands.len() == 1
        && instruction.custom_call_target().is_some_and(|target| ANNOTATIONS.contains(&target))
}

/// The source of every leaf of `instruction`'s result.
///
/// # Errors
/// A plumbing instruction whose operands do not have the leaves that its shape promises.
pub(super) fn sources(
    module: &Module<'_>,
    computation: &Computation<'_>,
    instruction: &Instruction<'_>,
) -> Result<Vec<Source>> {
    let leaves = instruction.shape.leaf_count();
    let sources = match instruction.opcode {
        "tuple" => all_operands(computation, instruction),
        "get-tuple-element" => element(computation, instruction)?,
        "while" => while_loop(module, computation, instruction),
        _ if instruction.async_done_of().is_some() => async_done(computation, instruction),
        _ if is_plumbing(instruction) => operand_leaves(computation, instruction, 0),
        // Across the border between full and sharded shapes the buffer is another one for the compiler, the same for the model.
        _ if is_annotation(instruction) => operand_leaves(computation, instruction, 0),
        _ if instruction.async_start_of().is_some() => async_start(computation, instruction),
        _ => vec![Source::New; leaves],
    };
    if sources.len() == leaves {
        return Ok(sources);
    }
    let message =
        format!("'{}' has a shape of {leaves} arrays, but its operands give it {}", instruction.name, sources.len());
    Err(Error::syntax(instruction.line, message))
}

fn operand_leaves(computation: &Computation<'_>, instruction: &Instruction<'_>, operand: usize) -> Vec<Source> {
    let count = computation.operand(instruction, operand).map_or(0, |o| o.shape.leaf_count());
    (0..count).map(|leaf| Source::Operand { operand, leaf }).collect()
}

fn all_operands(computation: &Computation<'_>, instruction: &Instruction<'_>) -> Vec<Source> {
    (0..instruction.operands.len()).flat_map(|o| operand_leaves(computation, instruction, o)).collect()
}

fn element(computation: &Computation<'_>, instruction: &Instruction<'_>) -> Result<Vec<Source>> {
    let bad = |message: String| Error::syntax(instruction.line, format!("'{}': {message}", instruction.name));
    let index = instruction.attribute("index").and_then(|index| index.parse::<usize>().ok());
    let index = index.ok_or_else(|| bad("get-tuple-element needs index=N".into()))?;
    let operand =
        computation.operand(instruction, 0).ok_or_else(|| bad("get-tuple-element needs an operand".into()))?;
    match &operand.shape {
        Shape::Tuple(elements) if index < elements.len() => Ok(element_leaves(elements, index, 0)),
        Shape::Tuple(elements) => Err(bad(format!("index {index} of a tuple of {} elements", elements.len()))),
        _ => Err(bad(format!("operand '{}' is not a tuple", operand.name))),
    }
}

/// The leaves of element `index` of operand number `operand`.
fn element_leaves(elements: &[Shape], index: usize, operand: usize) -> Vec<Source> {
    let first: usize = elements.iter().take(index).map(Shape::leaf_count).sum();
    let count = elements.get(index).map_or(0, Shape::leaf_count);
    (first..first + count).map(|leaf| Source::Operand { operand, leaf }).collect()
}

/// The end of an asynchronous pair takes the result out of what its start gave: all of it for `all-reduce`, the first element
/// for `copy`, first and last for `recv`, the last for `send`, else the second of (operands, results, contexts...).
fn async_done(computation: &Computation<'_>, instruction: &Instruction<'_>) -> Vec<Source> {
    let Some(start) = computation.operand(instruction, 0) else { return vec![] };
    let elements = start.shape.elements();
    let pick = |index| element_leaves(elements, index, 0);
    match instruction.async_done_of() {
        _ if start.shape == instruction.shape => operand_leaves(computation, instruction, 0),
        Some("copy") => pick(0),
        Some("send") => pick(2),
        Some("recv") => [pick(0), pick(2)].concat(),
        _ => pick(1),
    }
}

/// The start of an asynchronous pair repeats its operands in its result: as the second element for `copy`, else as the first.
fn async_start(computation: &Computation<'_>, instruction: &Instruction<'_>) -> Vec<Source> {
    let elements = instruction.shape.elements();
    let mut sources = vec![Source::New; instruction.shape.leaf_count()];
    let repeated = match instruction.async_start_of() {
        Some("copy") => 1,
        Some("all-reduce" | "recv") => return sources,
        _ => 0,
    };
    if elements.len() < 2 {
        return sources;
    }
    let operands = all_operands(computation, instruction);
    let slots = element_leaves(elements, repeated, 0);
    if let (Some(Source::Operand { leaf: first, .. }), true) = (slots.first(), slots.len() <= operands.len()) {
        sources[*first..first + slots.len()].copy_from_slice(&operands[..slots.len()]);
    }
    sources
}

/// What the body hands on unchanged, the loop hands on unchanged.
fn while_loop(module: &Module<'_>, computation: &Computation<'_>, instruction: &Instruction<'_>) -> Vec<Source> {
    let mut sources = vec![Source::New; instruction.shape.leaf_count()];
    let same_shape = computation.operand(instruction, 0).is_some_and(|init| init.shape == instruction.shape);
    let (Some(body), true) = (instruction.called_as(Role::Body), same_shape) else { return sources };
    let body = &module.computations[body];
    let elements = instruction.shape.elements();
    let mut first = 0;
    for (index, element) in elements.iter().enumerate() {
        let count = element.leaf_count();
        if is_invariant(body, index, elements.len()) {
            sources[first..first + count].copy_from_slice(&element_leaves(elements, index, 0));
        }
        first += count;
    }
    sources
}

/// Whether element `index` of the body's result is element `index` of its parameter.
pub(super) fn is_invariant(body: &Computation<'_>, index: usize, count: usize) -> bool {
    let root = body.root();
    if root.opcode != "tuple" || root.operands.len() != count {
        return false;
    }
    body.operand(root, index).is_some_and(|value| {
        value.opcode == "get-tuple-element"
            && value.attribute("index").and_then(|i| i.parse().ok()) == Some(index)
            && body.operand(value, 0).is_some_and(|of| of.opcode == "parameter")
    })
}
