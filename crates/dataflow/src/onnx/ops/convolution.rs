//! Convolutions: `N x C x spatial...` with weights `M x C/group x kernel...`.

use super::super::node::Node;
use super::super::value::{Value, product};
use super::window::Window;
use super::{Op, Outputs, Table, output_elements};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("Conv", Op::new(|n| convolution(n, 1, n.input(0)?.dtype)).flops(|n, o| forward_flops(n, o, 1))),
    ("ConvInteger", Op::new(|n| convolution(n, 1, DType::I32)).flops(|n, o| forward_flops(n, o, 1))),
    ("QLinearConv", Op::new(|n| convolution(n, 3, n.input(7)?.dtype)).flops(|n, o| forward_flops(n, o, 3))),
    ("DeformConv", Op::new(|n| convolution(n, 1, n.input(0)?.dtype)).flops(|n, o| forward_flops(n, o, 1))),
    ("ConvTranspose", Op::new(transposed).flops(transposed_flops)),
];

pub(super) const MICROSOFT: Table =
    &[("FusedConv", Op::new(|n| convolution(n, 1, n.input(0)?.dtype)).flops(|n, o| forward_flops(n, o, 1)))];

/// Batch, weights and spatial shape of the data input.
fn operands<'n>(node: &'n Node, weights: usize) -> Result<(u64, &'n [u64], &'n [u64]), String> {
    let (data, weights) = (&node.input(0)?.dims, &node.input(weights)?.dims);
    match (&data[..], &weights[..]) {
        ([batch, _, spatial @ ..], [_, _, kernel @ ..]) if spatial.len() == kernel.len() && !spatial.is_empty() => {
            Ok((*batch, weights, spatial))
        }
        _ => Err(format!("input of shape {data:?} does not fit weights of shape {weights:?}")),
    }
}

fn convolution(node: &Node, weights: usize, dtype: DType) -> Outputs {
    let (batch, weights, spatial) = operands(node, weights)?;
    let window = Window::new(node, spatial.len(), Some(&weights[2..]))?;
    let mut dims = vec![batch, weights[0]];
    dims.extend(window.forward(spatial)?);
    Ok(vec![Value::new(dtype, dims)])
}

/// Each output element is a product of `C/group x kernel` terms, plus a bias.
fn forward_flops(node: &Node, outputs: &[Value], weights: usize) -> u64 {
    let terms = product(node.dims(weights).get(1..).unwrap_or_default()).saturating_mul(2);
    let bias = u64::from(node.get(weights + if weights == 1 { 1 } else { 5 }).is_some());
    output_elements(outputs).saturating_mul(terms.saturating_add(bias))
}

fn transposed(node: &Node) -> Outputs {
    let (batch, weights, spatial) = operands(node, 1)?;
    let groups = u64::try_from(node.int_or("group", 1)).map_err(|_| "attribute 'group' is negative")?;
    let window = Window::new(node, spatial.len(), Some(&weights[2..]))?;
    let mut dims = vec![batch, weights[1].saturating_mul(groups)];
    match node.ints("output_shape") {
        Some(shape) => dims.extend(shape.iter().map(|&size| size.max(0) as u64)),
        None => dims.extend(window.backward(spatial, node.ints("output_padding").unwrap_or_default())?),
    }
    Ok(vec![Value::new(node.input(0)?.dtype, dims)])
}

/// Each input element is spread over `M/group x kernel` terms.
fn transposed_flops(node: &Node, _: &[Value]) -> u64 {
    let terms = product(node.dims(1).get(1..).unwrap_or_default());
    product(node.dims(0)).saturating_mul(terms).saturating_mul(2)
}
