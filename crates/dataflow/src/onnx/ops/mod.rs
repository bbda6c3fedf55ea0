//! The operator table: for each op type how its outputs follow from its inputs, and what it costs. One file per family.

mod attention;
mod convolution;
mod elementwise;
mod linear;
mod movement;
mod normalization;
mod pooling;
mod quantization;
mod recurrent;
mod reduction;
mod selection;
mod sequence;
mod signal;
mod sources;
mod spatial;
mod text;
mod training;
mod trees;
mod views;
mod window;

use super::node::Node;
use super::value::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Types and shapes of the outputs, or what is wrong or unknown about the inputs.
pub(super) type Outputs = Result<Vec<Value>, String>;

/// Bytes that an op reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Traffic {
    /// Every input and every output once.
    All,
    /// As many as it writes: it picks from its inputs.
    Picked,
    /// None: the output is another name for the input, or follows from its shape.
    None,
}

/// How one op type behaves.
#[derive(Clone, Copy)]
pub(super) struct Op {
    /// The shape rule.
    pub(super) infer: fn(&Node) -> Outputs,
    /// Arithmetic operations, given the outputs; a fused multiply-add counts 2. Never fails: absent inputs count nothing.
    pub(super) flops: fn(&Node, &[Value]) -> u64,
    pub(super) traffic: Traffic,
}

impl Op {
    /// An op that touches all its operands, one operation per output element.
    const fn new(infer: fn(&Node) -> Outputs) -> Self {
        Self { infer, flops: |_, outputs| output_elements(outputs), traffic: Traffic::All }
    }

    /// With its own arithmetic.
    const fn flops(self, flops: fn(&Node, &[Value]) -> u64) -> Self {
        Self { flops, ..self }
    }

    /// An op that copies what it picks, without arithmetic.
    const fn picks(self) -> Self {
        Self { flops: |_, _| 0, traffic: Traffic::Picked, ..self }
    }

    /// An op that moves every operand, without arithmetic.
    const fn moves(self) -> Self {
        Self { flops: |_, _| 0, ..self }
    }

    /// An op that touches no data at all.
    const fn view(self) -> Self {
        Self { flops: |_, _| 0, traffic: Traffic::None, ..self }
    }
}

type Table = &'static [(&'static str, Op)];
type Index = HashMap<&'static str, Op>;

/// `ai.onnx` and `ai.onnx.ml`, whose names do not clash.
static STANDARD: LazyLock<Index> = LazyLock::new(|| {
    index(&[
        attention::OPS,
        convolution::OPS,
        elementwise::OPS,
        linear::OPS,
        movement::OPS,
        normalization::OPS,
        pooling::OPS,
        quantization::OPS,
        recurrent::OPS,
        reduction::OPS,
        selection::OPS,
        sequence::OPS,
        signal::OPS,
        sources::OPS,
        spatial::OPS,
        text::OPS,
        training::OPS,
        trees::OPS,
        views::OPS,
    ])
});

/// `com.microsoft`: the fused ops that ONNX Runtime writes into optimised and quantised models.
static MICROSOFT: LazyLock<Index> = LazyLock::new(|| {
    index(&[
        attention::MICROSOFT,
        convolution::MICROSOFT,
        elementwise::MICROSOFT,
        linear::MICROSOFT,
        normalization::MICROSOFT,
        pooling::MICROSOFT,
        quantization::MICROSOFT,
    ])
});

fn index(tables: &[Table]) -> Index {
    tables.iter().flat_map(|table| table.iter().copied()).collect()
}

/// The rule for an op type, if there is one. Other domains re-export standard ops often enough to try those last.
pub(super) fn lookup(domain: &str, op_type: &str) -> Option<Op> {
    let fused = if domain == "com.microsoft" { MICROSOFT.get(op_type) } else { None };
    fused.or_else(|| STANDARD.get(op_type)).copied()
}

/// What an op without a rule is taken for when the file declares its outputs.
pub(super) const UNKNOWN: Op = Op::new(|_| Err("there is no shape rule for this op type".into()));

/// The first input again: same type, same shape, new elements.
fn same_as_input(node: &Node) -> Outputs {
    Ok(vec![node.input(0)?.forget()])
}

fn output_elements(outputs: &[Value]) -> u64 {
    outputs.iter().fold(0, |sum, value| sum.saturating_add(value.elements()))
}

fn first_elements(node: &Node, _: &[Value]) -> u64 {
    node.get(0).map_or(0, Value::elements)
}
