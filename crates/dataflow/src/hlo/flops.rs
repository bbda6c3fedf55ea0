//! Arithmetic of one instruction, as XLA's `HloCostAnalysis` counts it, but for transcendental functions: they count 1 like
//! any other.

use super::attribute::{DimLabels, WindowDim, numbers, window};
use super::module::{Computation, Instruction};
use super::shape::Array;
use crate::graph::DType;

/// A convolution's dimension with more (output, window) pairs than this is counted as if none of them met padding.
const EXACT_PAIRS: u64 = 1 << 20;

/// Flops of `instruction`, where one run of the computation that it applies takes `applied` flops.
pub(super) fn flops(computation: &Computation<'_>, instruction: &Instruction<'_>, applied: u64) -> u64 {
    let result = instruction.shape.element_count();
    let operand = |position| computation.operand(instruction, position).map_or(0, |o| o.shape.element_count());
    let first_result = instruction.shape.leaves().first().and_then(|leaf| leaf.map(Array::elements)).unwrap_or(0);
    match instruction.async_start_of().unwrap_or(instruction.opcode) {
        "dot" | "ragged-dot" | "scaled-dot" => dot(computation, instruction),
        "convolution" => convolution(computation, instruction).unwrap_or(result),
        "reduce" => operand(0).saturating_mul(applied.max(1)),
        "reduce-window" => first_result.saturating_mul(window_size(instruction)).saturating_mul(applied.max(1)),
        "select-and-scatter" => operand(1).saturating_mul(window_size(instruction).saturating_add(1)),
        "scatter" => operand(instruction.operands.len().saturating_sub(1)).saturating_mul(applied),
        "map" => result.saturating_mul(applied),
        "sort" => operand(0).saturating_mul(log2(sorted_length(computation, instruction))),
        "fft" => result.saturating_mul(5).saturating_mul(log2(fft_length(instruction))),
        "cholesky" => result.saturating_mul(last_dim(computation, instruction)) / 3,
        "triangular-solve" => result.saturating_mul(last_dim(computation, instruction)),
        "all-reduce" | "reduce-scatter" => operand(0),
        opcode if moves_data(opcode) => 0,
        _ => result,
    }
}

/// The type in which the arithmetic runs.
pub(super) fn dtype(computation: &Computation<'_>, instruction: &Instruction<'_>) -> DType {
    match instruction.opcode {
        "dot" | "ragged-dot" | "scaled-dot" | "convolution" | "compare" | "reduce" | "reduce-window" | "sort" => {
            computation.operand(instruction, 0).map(|o| o.shape.dtype()).unwrap_or_default()
        }
        _ => instruction.shape.dtype(),
    }
}

fn moves_data(opcode: &str) -> bool {
    matches!(
        opcode,
        "all-gather"
            | "all-to-all"
            | "async"
            | "bitcast-convert"
            | "broadcast"
            | "collective-broadcast"
            | "collective-permute"
            | "concatenate"
            | "copy"
            | "custom-call"
            | "dynamic-reshape"
            | "dynamic-slice"
            | "dynamic-update-slice"
            | "gather"
            | "get-dimension-size"
            | "infeed"
            | "iota"
            | "outfeed"
            | "pad"
            | "partition-id"
            | "ragged-all-to-all"
            | "recv"
            | "replica-id"
            | "reshape"
            | "reverse"
            | "send"
            | "set-dimension-size"
            | "slice"
            | "transpose"
    )
}

/// 2 x output elements x the sizes contracted over.
fn dot(computation: &Computation<'_>, instruction: &Instruction<'_>) -> u64 {
    let dims = lhs_dims(computation, instruction);
    let contracting = instruction.attribute("lhs_contracting_dims").unwrap_or("{}");
    let depth = numbers(contracting)
        .filter_map(|dim| dims.get(usize::try_from(dim).ok()?))
        .fold(1u64, |product, &size| product.saturating_mul(size));
    instruction.shape.element_count().saturating_mul(depth).saturating_mul(2)
}

/// 2 x output elements x input features of one group x kernel positions that meet the input.
fn convolution(computation: &Computation<'_>, instruction: &Instruction<'_>) -> Option<u64> {
    let labels = DimLabels::parse(instruction.attribute("dim_labels")?)?;
    let input = lhs_dims(computation, instruction);
    let kernel = &computation.operand(instruction, 1)?.shape.array()?.dims;
    let output = &instruction.shape.array()?.dims;
    let mut product = (*kernel.get(labels.kernel_input_feature()?)?).saturating_mul(2);
    let mut spatial = vec![];
    for (number, dim) in window(instruction.attribute("window").unwrap_or("{}")).iter().enumerate() {
        let (input_at, output_at) = labels.spatial(number)?;
        product = product.saturating_mul(meeting_pairs(dim, *input.get(input_at)?, *output.get(output_at)?));
        spatial.push(output_at);
    }
    let others = (0..output.len()).filter(|at| !spatial.contains(at));
    Some(others.fold(product, |product, at| product.saturating_mul(output[at])))
}

/// In one dimension, how many pairs of an output and a window position read an element of the input, not padding or dilation.
fn meeting_pairs(dim: &WindowDim, input: u64, output: u64) -> u64 {
    let pairs = dim.size.saturating_mul(output);
    let plain = dim.pad_low == 0 && dim.lhs_dilate == 1 && output.saturating_mul(dim.stride) <= input;
    if pairs > EXACT_PAIRS || plain && dim.size == 1 {
        return pairs;
    }
    let dilated = i128::from(input.saturating_sub(1)) * i128::from(dim.lhs_dilate) + i128::from(input.min(1));
    let meets = |out: u64, k: u64| {
        let at = i128::from(out) * i128::from(dim.stride) + i128::from(k) * i128::from(dim.rhs_dilate)
            - i128::from(dim.pad_low);
        0 <= at && at < dilated && at % i128::from(dim.lhs_dilate) == 0
    };
    (0..output).map(|out| (0..dim.size).filter(|&k| meets(out, k)).count() as u64).sum()
}

fn window_size(instruction: &Instruction<'_>) -> u64 {
    let dims = window(instruction.attribute("window").unwrap_or("{}"));
    dims.iter().fold(1, |product: u64, dim| product.saturating_mul(dim.size))
}

fn lhs_dims<'c>(computation: &'c Computation<'_>, instruction: &Instruction<'_>) -> &'c [u64] {
    computation.operand(instruction, 0).and_then(|lhs| lhs.shape.array()).map_or(&[], |array| &array.dims)
}

fn last_dim(computation: &Computation<'_>, instruction: &Instruction<'_>) -> u64 {
    lhs_dims(computation, instruction).last().copied().unwrap_or(1)
}

fn sorted_length(computation: &Computation<'_>, instruction: &Instruction<'_>) -> u64 {
    let dim = numbers(instruction.attribute("dimensions").unwrap_or("{0}")).next().unwrap_or(0);
    lhs_dims(computation, instruction).get(dim as usize).copied().unwrap_or(1)
}

fn fft_length(instruction: &Instruction<'_>) -> u64 {
    numbers(instruction.attribute("fft_length").unwrap_or("{1}")).fold(1, u64::saturating_mul)
}

/// Rounded up, at least 1.
fn log2(n: u64) -> u64 {
    u64::from(n.max(2).next_power_of_two().trailing_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::parse::parse;

    /// Flops of the root of a computation with the parameters p0 and p1.
    fn root_flops(p0: &str, p1: &str, root: &str) -> u64 {
        let text =
            format!("HloModule m\nENTRY e {{\n p0 = {p0} parameter(0)\n p1 = {p1} parameter(1)\n ROOT r = {root}\n}}");
        let module = parse(&text).unwrap();
        let entry = &module.computations[module.entry];
        flops(entry, entry.root(), 1)
    }

    #[test]
    fn flops_of_instructions() {
        let cases = [
            ("f32[4,8]", "f32[8,5]", "f32[4,5] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 320),
            ("f32[2,4,8]", "f32[2,8,5]", "f32[2,4,5] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2}", 640),
            // 4 outputs x 3 taps, the first and the last of which meets padding once: 10 pairs x 2 x 2 x 3 features.
            (
                "f32[1,4,2]",
                "f32[3,2,3]",
                "f32[1,4,3] convolution(p0, p1), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
                120,
            ),
            // Two groups: the kernel has half of the input's features.
            (
                "f32[1,4,2]",
                "f32[1,1,2]",
                "f32[1,4,2] convolution(p0, p1), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2",
                16,
            ),
            // Transposed: of each two dilated positions one is empty.
            (
                "f32[1,4,1]",
                "f32[1,1,1]",
                "f32[1,7,1] convolution(p0, p1), window={size=1 lhs_dilate=2}, dim_labels=b0f_0io->b0f",
                8,
            ),
            ("f32[6,5]", "f32[]", "f32[6] reduce(p0, p1), dimensions={1}", 30),
            ("f32[8]", "f32[]", "f32[4] reduce-window(p0, p1), window={size=2 stride=2}", 8),
            ("f32[16]", "f32[]", "f32[16] sort(p0), dimensions={0}", 64),
            ("f32[4]", "f32[4]", "f32[4] frobnicate(p0, p1)", 4),
            ("f32[4]", "f32[4]", "f32[8] concatenate(p0, p1), dimensions={0}", 0),
            ("f32[4]", "f32[4]", "f32[4] convolution(p0, p1)", 4),
        ];
        for (p0, p1, root, expected) in cases {
            assert_eq!(root_flops(p0, p1, root), expected, "{root}");
        }
    }
}
