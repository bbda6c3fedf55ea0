//! Peak memory of a computation that runs inside one op.

use super::forward::{Source, is_op, sources};
use super::module::{Computation, Instruction, Module};
use crate::Result;

struct Buffer {
    bytes: u64,
    last_use: usize,
}

/// Most bytes alive at once when `computation` runs in the order of the text, beyond its parameters, constants and results.
/// `scratch` is the memory that each instruction itself holds while it runs.
pub(super) fn peak(module: &Module<'_>, computation: &Computation<'_>, scratch: &[u64]) -> Result<u64> {
    let mut buffers: Vec<Buffer> = vec![];
    let mut made_by = vec![];
    let mut values: Vec<Vec<Option<usize>>> = Vec::with_capacity(computation.instructions.len());
    for (i, instruction) in computation.instructions.iter().enumerate() {
        if is_op(instruction) {
            for buffer in instruction.operands.iter().flat_map(|&o| &values[o]).flatten() {
                buffers[*buffer].last_use = i;
            }
        }
        let first = buffers.len();
        values.push(leaves(module, computation, instruction, i, &values, &mut buffers)?);
        made_by.push(first..buffers.len());
    }
    for buffer in values[computation.root].iter().flatten() {
        buffers[*buffer].bytes = 0;
    }
    let mut dying: Vec<Vec<usize>> = vec![vec![]; computation.instructions.len()];
    for (b, buffer) in buffers.iter().enumerate() {
        dying[buffer.last_use].push(b);
    }
    let sum = |buffers: &mut dyn Iterator<Item = &Buffer>| buffers.fold(0u64, |sum, b| sum.saturating_add(b.bytes));
    let (mut live, mut peak) = (0u64, 0u64);
    for (i, &scratch) in scratch.iter().enumerate() {
        live = live.saturating_add(sum(&mut buffers[made_by[i].clone()].iter()));
        peak = peak.max(live.saturating_add(scratch));
        live = live.saturating_sub(sum(&mut dying[i].iter().map(|&b| &buffers[b])));
    }
    Ok(peak)
}

/// The buffer behind each leaf of an instruction's result: `None` for tokens and for what the caller owns.
fn leaves(
    module: &Module<'_>,
    computation: &Computation<'_>,
    instruction: &Instruction<'_>,
    index: usize,
    values: &[Vec<Option<usize>>],
    buffers: &mut Vec<Buffer>,
) -> Result<Vec<Option<usize>>> {
    if matches!(instruction.opcode, "parameter" | "constant") {
        return Ok(vec![None; instruction.shape.leaf_count()]);
    }
    let sources = sources(module, computation, instruction)?;
    let leaf = |(source, array): (Source, Option<&super::shape::Array>)| match (source, array) {
        (Source::Operand { operand, leaf }, _) => values[instruction.operands[operand]][leaf],
        (Source::New, None) => None,
        (Source::New, Some(array)) => {
            buffers.push(Buffer { bytes: array.bytes, last_use: index });
            Some(buffers.len() - 1)
        }
    };
    Ok(sources.into_iter().zip(instruction.shape.leaves()).map(leaf).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::parse::parse;

    #[test]
    fn parameters_and_results_are_not_scratch() {
        let text = "HloModule m
            ENTRY e {
              p = f32[100] parameter(0)
              a = f32[10] slice(p)
              b = f32[20] slice(p)
              t = (f32[10], f32[20]) tuple(a, b)
              c = f32[10] get-tuple-element(t), index=0
              d = f32[3] slice(c)
              ROOT r = f32[5] concatenate(d, b)
            }";
        let module = parse(text).unwrap();
        let entry = &module.computations[module.entry];
        assert_eq!(peak(&module, entry, &[0; 7]).unwrap(), 4 * 33);
        assert_eq!(peak(&module, entry, &[0, 0, 0, 0, 0, 0, 1000]).unwrap(), 4 * 23 + 1000);
    }
}
