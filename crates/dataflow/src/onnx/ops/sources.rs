//! Ops that make a tensor out of a shape or of numbers.

use super::super::node::Node;
use super::super::value::{MAX_KNOWN, Value, product};
use super::views::{scalar, shape_from};
use super::{Op, Outputs, Table};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("Constant", Op::new(constant).view()),
    ("ConstantOfShape", Op::new(constant_of_shape).moves()),
    ("Shape", Op::new(shape).view()),
    ("Size", Op::new(size).view()),
    ("Range", Op::new(range)),
    ("EyeLike", Op::new(like).moves()),
    ("RandomNormal", Op::new(random)),
    ("RandomUniform", Op::new(random)),
    ("Bernoulli", Op::new(like)),
    ("RandomNormalLike", Op::new(like)),
    ("RandomUniformLike", Op::new(like)),
    ("Multinomial", Op::new(multinomial)),
];

/// Whichever attribute holds the value.
pub(in super::super) fn constant(node: &Node) -> Outputs {
    let list = |dtype, elements: Vec<f64>| Value::constant(dtype, [elements.len() as u64], elements);
    let attribute = |name| node.attribute(name);
    Ok(vec![if let Some(tensor) = attribute("value").and_then(|a| a.t.as_ref()) {
        Value::from_tensor(tensor)?
    } else if let Some(tensor) = attribute("sparse_value").and_then(|a| a.sparse_tensor.as_ref()) {
        Value::from_sparse(tensor)?
    } else if let Some(a) = attribute("value_int") {
        Value::constant(DType::I64, [], vec![a.i() as f64])
    } else if let Some(a) = attribute("value_float") {
        Value::constant(DType::F32, [], vec![f64::from(a.f())])
    } else if let Some(a) = attribute("value_ints") {
        list(DType::I64, a.ints.iter().map(|&x| x as f64).collect())
    } else if let Some(a) = attribute("value_floats") {
        list(DType::F32, a.floats.iter().map(|&x| f64::from(x)).collect())
    } else if attribute("value_string").is_some() {
        Value::new(DType::String, [])
    } else if let Some(a) = attribute("value_strings") {
        Value::new(DType::String, [a.strings.len() as u64])
    } else {
        return Err("no attribute holds the value".into());
    }])
}

fn constant_of_shape(node: &Node) -> Outputs {
    let dims = shape_from(&node.known_ints(0)?.ok_or("input 0 is missing")?)?;
    let fill = node.attribute("value").and_then(|a| a.t.as_ref()).map(Value::from_tensor).transpose()?;
    let (dtype, element) = fill.map_or((DType::F32, Some(0.0)), |fill| (fill.dtype, scalar(&fill)));
    Ok(vec![match element {
        Some(element) if product(&dims) <= MAX_KNOWN => {
            let count = product(&dims) as usize;
            Value::constant(dtype, dims, vec![element; count])
        }
        _ => Value::new(dtype, dims),
    }])
}

/// From version 15 a slice of the shape, clamped.
fn shape(node: &Node) -> Outputs {
    let dims = &node.input(0)?.dims;
    let rank = dims.len() as i64;
    let bound = |i: i64| (if i < 0 { i.saturating_add(rank) } else { i }).clamp(0, rank) as usize;
    let (start, end) = (bound(node.int_or("start", 0)), bound(node.int_or("end", rank)));
    let part = dims.get(start..end).unwrap_or_default();
    Ok(vec![Value::constant(DType::I64, [part.len() as u64], part.iter().map(|&d| d as f64).collect())])
}

fn size(node: &Node) -> Outputs {
    Ok(vec![Value::constant(DType::I64, [], vec![node.input(0)?.elements() as f64])])
}

fn range(node: &Node) -> Outputs {
    let bound = |i: usize| scalar(node.input(i)?).ok_or_else(|| format!("input {i} is computed at run time"));
    let (start, limit, delta) = (bound(0)?, bound(1)?, bound(2)?);
    let count = ((limit - start) / delta).ceil().max(0.0);
    if !count.is_finite() {
        return Err(format!("the range from {start} to {limit} by {delta} has no end"));
    }
    let (dtype, count) = (node.input(0)?.dtype, count as u64);
    Ok(vec![if count <= MAX_KNOWN {
        Value::constant(dtype, [count], (0..count).map(|i| start + i as f64 * delta).collect())
    } else {
        Value::new(dtype, [count])
    }])
}

fn like(node: &Node) -> Outputs {
    let model = node.input(0)?;
    Ok(vec![Value::new(node.dtype("dtype")?.unwrap_or(model.dtype), model.dims.clone())])
}

fn random(node: &Node) -> Outputs {
    let dims = shape_from(node.ints("shape").unwrap_or_default())?;
    Ok(vec![Value::new(node.dtype("dtype")?.unwrap_or(DType::F32), dims)])
}

fn multinomial(node: &Node) -> Outputs {
    let batch = node.input(0)?.dims.first().copied().ok_or("input 0 is a scalar")?;
    let samples = u64::try_from(node.int_or("sample_size", 1)).map_err(|_| "'sample_size' is negative")?;
    Ok(vec![Value::new(node.dtype("dtype")?.unwrap_or(DType::I32), [batch, samples])])
}
