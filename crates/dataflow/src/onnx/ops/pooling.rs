//! Poolings over windows, over whole feature maps and over regions of interest.

use super::super::node::Node;
use super::super::value::{Value, product};
use super::window::Window;
use super::{Op, Outputs, Table, first_elements, output_elements};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("MaxPool", Op::new(windowed).flops(windowed_flops)),
    ("AveragePool", Op::new(windowed).flops(windowed_flops)),
    ("LpPool", Op::new(windowed).flops(windowed_flops)),
    ("GlobalAveragePool", Op::new(global).flops(first_elements)),
    ("GlobalMaxPool", Op::new(global).flops(first_elements)),
    ("GlobalLpPool", Op::new(global).flops(first_elements)),
    ("MaxUnpool", Op::new(unpool).moves()),
    ("MaxRoiPool", Op::new(|n| regions(n, n.ints("pooled_shape").ok_or("attribute 'pooled_shape' is missing")?))),
    (
        "RoiAlign",
        Op::new(|n| regions(n, &[n.int_or("output_height", 1), n.int_or("output_width", 1)])).flops(|n, o| {
            output_elements(o).saturating_mul(8 * n.int_or("sampling_ratio", 2).clamp(1, 16).pow(2) as u64)
        }),
    ),
];

pub(super) const MICROSOFT: Table = &[
    ("QLinearAveragePool", Op::new(windowed).flops(windowed_flops)),
    ("QLinearGlobalAveragePool", Op::new(global).flops(first_elements)),
];

/// Batch and channels, then the spatial axes.
fn split(dims: &[u64]) -> Result<(&[u64], &[u64]), String> {
    if dims.len() < 3 { Err(format!("a tensor of shape {dims:?} has no spatial axes")) } else { Ok(dims.split_at(2)) }
}

fn windowed(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let (outer, spatial) = split(&data.dims)?;
    let window = Window::new(node, spatial.len(), None)?;
    let dims = [outer, &window.forward(spatial)?].concat();
    Ok(vec![Value::new(data.dtype, dims.clone()), Value::new(DType::I64, dims)])
}

fn windowed_flops(node: &Node, outputs: &[Value]) -> u64 {
    let kernel: Vec<u64> = node.ints("kernel_shape").unwrap_or_default().iter().map(|&k| k.max(1) as u64).collect();
    outputs.first().map_or(0, Value::elements).saturating_mul(product(&kernel))
}

fn global(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let (outer, spatial) = split(&data.dims)?;
    Ok(vec![Value::new(data.dtype, [outer, &vec![1; spatial.len()]].concat())])
}

fn unpool(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let (outer, spatial) = split(&data.dims)?;
    let dims = match node.known_ints(2)? {
        Some(shape) => shape.iter().map(|&size| size.max(0) as u64).collect(),
        None => [outer, &Window::new(node, spatial.len(), None)?.backward(spatial, &[])?].concat(),
    };
    Ok(vec![Value::new(data.dtype, dims)])
}

/// One small feature map for each region.
fn regions(node: &Node, size: &[i64]) -> Outputs {
    let (data, regions) = (node.input(0)?, node.input(1)?);
    let (Some(&channels), Some(&count)) = (data.dims.get(1), regions.dims.first()) else {
        return Err(format!("cannot pool {:?} over regions {:?}", data.dims, regions.dims));
    };
    let mut dims = vec![count, channels];
    dims.extend(size.iter().map(|&s| s.max(0) as u64));
    Ok(vec![Value::new(data.dtype, dims)])
}
