//! Reductions along axes.

use super::super::node::{Node, axes, axis};
use super::super::value::Value;
use super::{Op, Outputs, Table, first_elements};
use crate::graph::DType;

const REDUCE: Op = Op::new(|n| reduce(n, None)).flops(first_elements);
const ARG: Op = Op::new(arg).flops(first_elements);

#[rustfmt::skip]
pub(super) const OPS: Table = &[
    ("ReduceSum", Op::new(|n| reduce(n, Some(|a, b| a + b))).flops(first_elements)),
    ("ReduceProd", Op::new(|n| reduce(n, Some(|a, b| a * b))).flops(first_elements)),
    ("ReduceMax", Op::new(|n| reduce(n, Some(f64::max))).flops(first_elements)),
    ("ReduceMin", Op::new(|n| reduce(n, Some(f64::min))).flops(first_elements)),
    ("ReduceMean", REDUCE), ("ReduceL1", REDUCE), ("ReduceL2", REDUCE), ("ReduceLogSum", REDUCE),
    ("ReduceLogSumExp", REDUCE), ("ReduceSumSquare", REDUCE), ("ArgMax", ARG), ("ArgMin", ARG),
];

/// `combine` folds the elements of small known vectors, which shape arithmetic reduces as a whole.
fn reduce(node: &Node, combine: Option<fn(f64, f64) -> f64>) -> Outputs {
    let data = node.input(0)?;
    let list = node.ints_or_input("axes", 1)?.filter(|list| !list.is_empty());
    let reduced = match list {
        Some(list) => axes(&list, data.rank())?,
        None if node.flag("noop_with_empty_axes") => return Ok(vec![data.clone()]),
        None => (0..data.rank()).collect(),
    };
    let dims = reduced_dims(&data.dims, &reduced, node.int_or("keepdims", 1) != 0);
    let whole = combine.filter(|_| reduced.len() == data.rank()).zip(data.known.as_ref());
    Ok(vec![match whole.and_then(|(f, known)| known.iter().copied().reduce(f)) {
        Some(element) => Value::constant(data.dtype, dims, vec![element]),
        None => Value::new(data.dtype, dims),
    }])
}

fn reduced_dims(dims: &[u64], reduced: &[usize], keep: bool) -> Vec<u64> {
    let axes = dims.iter().enumerate();
    if keep {
        axes.map(|(i, &d)| if reduced.contains(&i) { 1 } else { d }).collect()
    } else {
        axes.filter(|(i, _)| !reduced.contains(i)).map(|(_, &d)| d).collect()
    }
}

fn arg(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let axis = axis(node.int_or("axis", 0), data.rank())?;
    Ok(vec![Value::new(DType::I64, reduced_dims(&data.dims, &[axis], node.int_or("keepdims", 1) != 0))])
}
