//! Classical machine learning (`ai.onnx.ml`): tree ensembles, linear models, scalers.

use super::super::node::Node;
use super::super::value::Value;
use super::{Op, Outputs, Table, first_elements, same_as_input};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("TreeEnsembleRegressor", Op::new(|n| regressor(n, "n_targets")).flops(tree_flops)),
    ("TreeEnsembleClassifier", Op::new(classifier).flops(tree_flops)),
    ("TreeEnsemble", Op::new(ensemble).flops(tree_flops)),
    ("LinearRegressor", Op::new(|n| regressor(n, "targets")).flops(linear_flops)),
    ("LinearClassifier", Op::new(classifier).flops(linear_flops)),
    ("SVMRegressor", Op::new(|n| regressor(n, "n_targets")).flops(linear_flops)),
    ("SVMClassifier", Op::new(classifier).flops(linear_flops)),
    ("Scaler", Op::new(floats).flops(|n, o| first_elements(n, o).saturating_mul(2))),
    ("Imputer", Op::new(same_as_input)),
    ("Binarizer", Op::new(same_as_input)),
    ("ArrayFeatureExtractor", Op::new(extract).picks()),
];

fn floats(node: &Node) -> Outputs {
    Ok(vec![Value::new(DType::F32, node.input(0)?.dims.clone())])
}

/// Columns of the last axis, by index.
fn extract(node: &Node) -> Outputs {
    let (data, indices) = (node.input(0)?, node.input(1)?);
    let outer = data.dims.split_last().ok_or("input 0 is a scalar")?.1;
    let outer = if outer.is_empty() { &[1] } else { outer };
    Ok(vec![Value::new(data.dtype, [outer, &[indices.elements()]].concat())])
}

/// Rows of a matrix; a vector is one row.
fn rows(node: &Node) -> Result<u64, String> {
    let dims = &node.input(0)?.dims;
    Ok(if dims.len() < 2 { 1 } else { dims[0] })
}

fn regressor(node: &Node, targets: &str) -> Outputs {
    Ok(vec![Value::new(DType::F32, [rows(node)?, node.int_or(targets, 1).max(1) as u64])])
}

/// As a regressor, but in the type of the input.
fn ensemble(node: &Node) -> Outputs {
    let dtype = node.input(0)?.dtype;
    Ok(regressor(node, "n_targets")?.into_iter().map(|scores| Value { dtype, ..scores }).collect())
}

/// A label and a score for each class.
fn classifier(node: &Node) -> Outputs {
    let integers = ["classlabels_int64s", "classlabels_ints"].iter().find_map(|name| node.ints(name)).map(<[i64]>::len);
    let strings = node.attribute("classlabels_strings").map(|a| a.strings.len()).filter(|&n| n > 0);
    let (dtype, classes) = match (integers, strings) {
        (Some(n), _) => (DType::I64, n),
        (None, Some(n)) => (DType::String, n),
        (None, None) => return Err("no attribute lists the class labels".into()),
    };
    let rows = rows(node)?;
    Ok(vec![Value::new(dtype, [rows]), Value::new(DType::F32, [rows, classes as u64])])
}

/// A comparison for each level of each tree: the nodes of a balanced tree of that many nodes are 2^depth.
fn tree_flops(node: &Node, outputs: &[Value]) -> u64 {
    let ids = node.ints("nodes_treeids").unwrap_or_default();
    let trees = ids.chunk_by(|a, b| a == b).map(|tree| u64::from(tree.len().ilog2()) + 1);
    let rows = outputs.first().and_then(|o| o.dims.first().copied()).unwrap_or(1);
    rows.saturating_mul(trees.sum())
}

fn linear_flops(node: &Node, outputs: &[Value]) -> u64 {
    let weights = node.attribute("coefficients").map_or(0, |a| a.floats.len() as u64);
    let rows = outputs.first().and_then(|o| o.dims.first().copied()).unwrap_or(1);
    rows.saturating_mul(weights).saturating_mul(2)
}
