//! Quantise and dequantise, and the 8-bit element ops of ONNX Runtime.

use super::super::node::Node;
use super::super::value::Value;
use super::{Op, Outputs, Table, elementwise, output_elements, same_as_input};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("QuantizeLinear", Op::new(quantize).flops(|_, o| output_elements(o).saturating_mul(3))),
    ("DequantizeLinear", Op::new(dequantize).flops(|_, o| output_elements(o).saturating_mul(2))),
    ("DynamicQuantizeLinear", Op::new(quantize_dynamic).flops(|_, o| output_elements(o).saturating_mul(5))),
];

pub(super) const MICROSOFT: Table = &[
    ("QLinearAdd", Op::new(binary).flops(|_, o| output_elements(o).saturating_mul(7))),
    ("QLinearMul", Op::new(binary).flops(|_, o| output_elements(o).saturating_mul(7))),
    ("QLinearSigmoid", Op::new(same_as_input)),
    ("QLinearLeakyRelu", Op::new(same_as_input)),
    ("QLinearSoftmax", Op::new(same_as_input).flops(|_, o| output_elements(o).saturating_mul(12))),
    ("QLinearConcat", Op::new(concat)),
];

/// The type is that of the zero point, of the attribute, or unsigned 8-bit.
fn quantize(node: &Node) -> Outputs {
    let named = match node.get(2) {
        Some(zero_point) => Some(zero_point.dtype),
        None => node.dtype("output_dtype").ok().flatten(),
    };
    Ok(vec![Value::new(named.unwrap_or(DType::I8), node.input(0)?.dims.clone())])
}

fn dequantize(node: &Node) -> Outputs {
    let named = node.dtype("output_dtype").ok().flatten();
    Ok(vec![Value::new(named.unwrap_or(node.input(1)?.dtype), node.input(0)?.dims.clone())])
}

fn quantize_dynamic(node: &Node) -> Outputs {
    let dims = node.input(0)?.dims.clone();
    Ok(vec![Value::new(DType::I8, dims), Value::new(DType::F32, []), Value::new(DType::I8, [])])
}

/// Operands 0 and 3, each followed by scale and zero point.
fn binary(node: &Node) -> Outputs {
    let (a, b) = (node.input(0)?, node.input(3)?);
    Ok(vec![Value::new(a.dtype, elementwise::broadcast(&a.dims, &b.dims)?)])
}

/// Scale and zero point of the result, then triples of tensor, scale and zero point.
fn concat(node: &Node) -> Outputs {
    let first = node.input(2)?;
    let axis = super::super::node::axis(node.int_or("axis", 1), first.rank())?;
    let mut result = first.forget();
    for value in node.inputs.iter().skip(5).step_by(3).flatten() {
        let size = value.dims.get(axis).ok_or("the tensors differ in rank")?;
        result.dims[axis] = result.dims[axis].saturating_add(*size);
    }
    Ok(vec![result])
}
