//! Sequences and optionals. A sequence is taken for one tensor with an axis in front that counts its elements, all of the shape
//! of the first; an optional for what it may hold.

use super::super::node::{Node, axis};
use super::super::value::Value;
use super::{Op, Outputs, Table};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("SequenceEmpty", Op::new(empty).view()),
    ("SequenceConstruct", Op::new(construct).moves()),
    ("SequenceInsert", Op::new(insert).moves()),
    ("SequenceErase", Op::new(erase).moves()),
    ("SequenceAt", Op::new(|n| Ok(vec![element(n.input(0)?)?])).view()),
    ("SequenceLength", Op::new(length).view()),
    ("SplitToSequence", Op::new(split).picks()),
    ("ConcatFromSequence", Op::new(concat).moves()),
    ("Optional", Op::new(|n| Ok(vec![n.input(0)?.clone()])).view()),
    ("OptionalGetElement", Op::new(|n| Ok(vec![n.input(0)?.clone()])).view()),
    ("OptionalHasElement", Op::new(has_element).view()),
];

fn sequence(count: u64, element: &Value) -> Value {
    Value::new(element.dtype, [&[count], &element.dims[..]].concat())
}

fn element(sequence: &Value) -> Result<Value, String> {
    let (_, dims) = sequence.dims.split_first().ok_or("input 0 is no sequence")?;
    Ok(Value::new(sequence.dtype, dims))
}

fn count(sequence: &Value) -> u64 {
    sequence.dims.first().copied().unwrap_or(0)
}

fn empty(node: &Node) -> Outputs {
    Ok(vec![Value::new(node.dtype("dtype")?.unwrap_or(DType::F32), [0])])
}

fn construct(node: &Node) -> Outputs {
    Ok(vec![sequence(node.present().count() as u64, node.input(0)?)])
}

fn insert(node: &Node) -> Outputs {
    Ok(vec![sequence(count(node.input(0)?).saturating_add(1), node.input(1)?)])
}

fn erase(node: &Node) -> Outputs {
    let all = node.input(0)?;
    Ok(vec![sequence(count(all).saturating_sub(1), &element(all)?)])
}

fn length(node: &Node) -> Outputs {
    Ok(vec![Value::constant(DType::I64, [], vec![count(node.input(0)?) as f64])])
}

/// Parts of the size given, or one along the axis; the axis itself goes if `keepdims` is 0.
fn split(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let along = axis(node.int_or("axis", 0), data.rank())?;
    let sizes = node.known_ints(1)?;
    let (parts, size) = match (sizes.as_deref(), node.get(1)) {
        (Some(&[size]), Some(given)) if given.rank() == 0 && size > 0 => {
            (data.dims[along].div_ceil(size as u64), size as u64)
        }
        (Some(sizes), _) => (sizes.len() as u64, sizes.iter().copied().max().unwrap_or(0).max(0) as u64),
        (None, _) => (data.dims[along], 1),
    };
    let mut part = data.forget();
    part.dims[along] = size;
    if sizes.is_none() && node.int_or("keepdims", 1) == 0 {
        part.dims.remove(along);
    }
    Ok(vec![sequence(parts, &part)])
}

fn concat(node: &Node) -> Outputs {
    let all = node.input(0)?;
    let mut joined = element(all)?;
    let given = node.int_or("axis", 0);
    if node.flag("new_axis") {
        let along = axis(given, joined.rank() + 1)?;
        joined.dims.insert(along, count(all));
    } else {
        let along = axis(given, joined.rank())?;
        joined.dims[along] = joined.dims[along].saturating_mul(count(all));
    }
    Ok(vec![joined])
}

/// Known only if there is nothing to ask.
fn has_element(node: &Node) -> Outputs {
    Ok(vec![match node.get(0) {
        None => Value::constant(DType::Bool, [], vec![0.0]),
        Some(_) => Value::new(DType::Bool, []),
    }])
}
