//! Images: resize and sample.

use super::super::node::{Node, axis};
use super::super::value::Value;
use super::views::shape_from;
use super::{Op, Outputs, Table, output_elements};

pub(super) const OPS: Table = &[
    ("Resize", Op::new(resize).flops(interpolation_flops)),
    ("Upsample", Op::new(upsample).flops(interpolation_flops)),
    ("GridSample", Op::new(grid_sample).flops(interpolation_flops)),
    ("AffineGrid", Op::new(affine_grid).flops(|_, o| output_elements(o).saturating_mul(6))),
    ("Col2Im", Op::new(column_to_image)),
];

/// A weighted sum over the neighbours, four if the mode does not say otherwise.
fn interpolation_flops(node: &Node, outputs: &[Value]) -> u64 {
    let neighbours = match node.text("mode").unwrap_or("nearest") {
        "nearest" => return 0,
        "cubic" | "bicubic" => 16,
        _ => 4,
    };
    output_elements(outputs).saturating_mul(2 * neighbours)
}

/// Inputs: data, region of interest, scales, sizes; version 10 has data and scales only.
fn resize(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let axes = match node.ints("axes") {
        Some(axes) => axes.iter().map(|&a| axis(a, data.rank())).collect::<Result<Vec<_>, _>>()?,
        None => (0..data.rank()).collect(),
    };
    let mut dims = data.dims.clone();
    if let Some(sizes) = node.known_ints(3)?.filter(|sizes| !sizes.is_empty()) {
        let sizes = fitted(node, &shape_from(&sizes)?, &axes, &dims);
        axes.iter().zip(sizes).for_each(|(&axis, size)| dims[axis] = size);
    } else {
        let scales = node.input(if node.opset < 11 { 1 } else { 2 })?;
        let scales = scales.known.as_ref().ok_or("the scales are computed at run time")?;
        axes.iter().zip(scales.iter()).for_each(|(&axis, &scale)| dims[axis] = scaled(dims[axis], scale));
    }
    Ok(vec![Value::new(data.dtype, dims)])
}

fn scaled(size: u64, scale: f64) -> u64 {
    (size as f64 * scale).floor() as u64
}

/// Sizes that keep the aspect ratio, where the policy asks for it.
fn fitted(node: &Node, sizes: &[u64], axes: &[usize], dims: &[u64]) -> Vec<u64> {
    let ratios = axes.iter().zip(sizes).map(|(&axis, &size)| size as f64 / dims[axis].max(1) as f64);
    let ratio = match node.text("keep_aspect_ratio_policy") {
        Some("not_larger") => ratios.fold(f64::INFINITY, f64::min),
        Some("not_smaller") => ratios.fold(0.0, f64::max),
        _ => return sizes.to_vec(),
    };
    axes.iter().map(|&axis| (dims[axis] as f64 * ratio).round() as u64).collect()
}

fn upsample(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let attribute = node.attribute("scales").map(|a| a.floats.iter().map(|&s| f64::from(s)).collect::<Vec<_>>());
    let input = || node.get(1).and_then(|v| v.known.as_ref()).map(|known| known.to_vec());
    let scales = attribute.or_else(input).ok_or("the scales are computed at run time")?;
    let dims = data.dims.iter().zip(&scales).map(|(&d, &s)| scaled(d, s)).collect::<Vec<_>>();
    Ok(vec![Value::new(data.dtype, dims)])
}

/// The grid is `N x spatial... x axes`.
fn grid_sample(node: &Node) -> Outputs {
    let (data, grid) = (node.input(0)?, node.input(1)?);
    match (&data.dims[..], &grid.dims[..]) {
        ([batch, channels, ..], [_, spatial @ .., _]) => {
            Ok(vec![Value::new(data.dtype, [&[*batch, *channels], spatial].concat())])
        }
        _ => Err(format!("a grid of shape {:?} does not fit data of shape {:?}", grid.dims, data.dims)),
    }
}

/// `N x C x spatial...` becomes `N x spatial... x axes`.
fn affine_grid(node: &Node) -> Outputs {
    let size = shape_from(&node.known_ints(1)?.ok_or("input 1 is missing")?)?;
    let [batch, _, spatial @ ..] = &size[..] else { return Err(format!("size {size:?} has no spatial axes")) };
    Ok(vec![Value::new(node.input(0)?.dtype, [&[*batch], spatial, &[spatial.len() as u64]].concat())])
}

fn column_to_image(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let image = shape_from(&node.known_ints(1)?.ok_or("input 1 is missing")?)?;
    let block = shape_from(&node.known_ints(2)?.ok_or("input 2 is missing")?)?;
    let [batch, columns, ..] = data.dims[..] else { return Err("input 0 is no matrix".into()) };
    let channels = columns.checked_div(super::super::value::product(&block)).ok_or("the block is empty")?;
    Ok(vec![Value::new(data.dtype, [&[batch, channels], &image[..]].concat())])
}
