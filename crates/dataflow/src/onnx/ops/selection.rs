//! Ops that pick or place elements by index. Where the number of results depends on the data, the bound is taken.

use super::super::node::{Node, axis};
use super::super::value::{Value, product};
use super::views::scalar;
use super::{Op, Outputs, Table, first_elements, same_as_input};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("Gather", Op::new(gather).picks()),
    ("GatherElements", Op::new(|n| Ok(vec![Value::new(n.input(0)?.dtype, n.input(1)?.dims.clone())])).picks()),
    ("GatherND", Op::new(gather_nd).picks()),
    ("Scatter", Op::new(same_as_input).moves()),
    ("ScatterElements", Op::new(same_as_input).moves()),
    ("ScatterND", Op::new(same_as_input).moves()),
    ("TensorScatter", Op::new(same_as_input).moves()),
    ("Compress", Op::new(compress).moves()),
    ("OneHot", Op::new(one_hot).moves()),
    ("TopK", Op::new(top_k).flops(sort_flops)),
    ("NonZero", Op::new(non_zero).flops(first_elements)),
    ("Unique", Op::new(unique).flops(sort_flops)),
    ("NonMaxSuppression", Op::new(non_max_suppression).flops(suppression_flops)),
];

fn gather(node: &Node) -> Outputs {
    let (data, indices) = (node.input(0)?, node.input(1)?);
    let axis = axis(node.int_or("axis", 0), data.rank())?;
    let dims = [&data.dims[..axis], &indices.dims, &data.dims[axis + 1..]].concat();
    let picked = if data.rank() == 1 { pick(data, indices) } else { None };
    Ok(vec![match picked {
        Some(elements) => Value::constant(data.dtype, dims, elements),
        None => Value::new(data.dtype, dims),
    }])
}

fn pick(data: &Value, indices: &Value) -> Option<Vec<f64>> {
    let known = data.known.as_ref()?;
    let at = |index: i64| known.get(axis(index, known.len()).ok()?).copied();
    indices.ints()?.into_iter().map(at).collect()
}

fn gather_nd(node: &Node) -> Outputs {
    let (data, indices) = (node.input(0)?, node.input(1)?);
    let mismatch = || format!("indices of shape {:?} do not fit data of shape {:?}", indices.dims, data.dims);
    let batch = usize::try_from(node.int_or("batch_dims", 0)).map_err(|_| mismatch())?;
    let (&depth, outer) = indices.dims.split_last().ok_or_else(mismatch)?;
    let picked = usize::try_from(depth).ok().and_then(|d| d.checked_add(batch)).ok_or_else(mismatch)?;
    let rest = data.dims.get(picked..).ok_or_else(mismatch)?;
    Ok(vec![Value::new(data.dtype, [outer, rest].concat())])
}

/// At most as many as the condition has elements.
fn compress(node: &Node) -> Outputs {
    let (data, condition) = (node.input(0)?, node.input(1)?);
    let kept = match &condition.known {
        Some(flags) => flags.iter().filter(|&&f| f != 0.0).count() as u64,
        None => condition.elements(),
    };
    let Some(along) = node.int("axis") else { return Ok(vec![Value::new(data.dtype, [kept.min(data.elements())])]) };
    let along = axis(along, data.rank())?;
    let mut dims = data.dims.clone();
    dims[along] = kept.min(dims[along]);
    Ok(vec![Value::new(data.dtype, dims)])
}

fn one_hot(node: &Node) -> Outputs {
    let (indices, depth, values) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let depth = scalar(depth).ok_or("the depth is computed at run time")?;
    let at = axis(node.int_or("axis", -1), indices.rank() + 1)?;
    let mut dims = indices.dims.clone();
    dims.insert(at, depth as u64);
    Ok(vec![Value::new(values.dtype, dims)])
}

fn top_k(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let k = match node.int("k") {
        Some(k) => k,
        None => node.known_ints(1)?.and_then(|k| k.first().copied()).ok_or("'k' is missing")?,
    };
    let axis = axis(node.int_or("axis", -1), data.rank())?;
    let mut dims = data.dims.clone();
    dims[axis] = u64::try_from(k).map_err(|_| format!("k is {k}"))?.min(dims[axis]);
    Ok(vec![Value::new(data.dtype, dims.clone()), Value::new(DType::I64, dims)])
}

/// A comparison sort along the longest axis.
fn sort_flops(node: &Node, _: &[Value]) -> u64 {
    let longest = node.dims(0).iter().copied().max().unwrap_or(0);
    product(node.dims(0)).saturating_mul(u64::from(longest.checked_ilog2().unwrap_or(0)) + 1)
}

/// Row per axis, column per non-zero element: exact for known vectors, otherwise every element may be non-zero.
fn non_zero(node: &Node) -> Outputs {
    let data = node.input(0)?;
    if let (1, Some(known)) = (data.rank(), &data.known) {
        let hits: Vec<f64> = (0..known.len()).filter(|&i| known[i] != 0.0).map(|i| i as f64).collect();
        return Ok(vec![Value::constant(DType::I64, [1, hits.len() as u64], hits)]);
    }
    Ok(vec![Value::new(DType::I64, [data.rank() as u64, data.elements()])])
}

/// At most every slice along the axis is different.
fn unique(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let (dims, count) = match node.int("axis") {
        Some(along) => (data.dims.clone(), data.dims[axis(along, data.rank())?]),
        None => (vec![data.elements()], data.elements()),
    };
    let index = Value::new(DType::I64, [count]);
    Ok(vec![Value::new(data.dtype, dims), index.clone(), index.clone(), index])
}

/// Boxes `batch x boxes x 4` and scores `batch x classes x boxes`; at most `max_output_boxes_per_class` survive of each class.
fn non_max_suppression(node: &Node) -> Outputs {
    let scores = node.input(1)?;
    let [batch, classes, boxes] = scores.dims[..] else {
        return Err(format!("scores of shape {:?} are not batch x classes x boxes", scores.dims));
    };
    let limit = match node.known_ints(2) {
        Ok(limit) => limit.and_then(|l| l.first().copied()).map_or(0, |l| l.max(0) as u64),
        Err(_) => boxes,
    };
    Ok(vec![Value::new(DType::I64, [batch.saturating_mul(classes).saturating_mul(boxes.min(limit)), 3])])
}

/// A sort of each class and a dozen operations to compare each box with each survivor, of which there are few.
fn suppression_flops(node: &Node, _: &[Value]) -> u64 {
    product(node.dims(1)).saturating_mul(64)
}
