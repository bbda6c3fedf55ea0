//! Strings, which end before the part of a model that takes time.

use super::super::node::Node;
use super::super::value::Value;
use super::elementwise::broadcast;
use super::{Op, Outputs, Table, same_as_input};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("StringConcat", Op::new(concat)),
    ("StringNormalizer", Op::new(same_as_input)),
    ("RegexFullMatch", Op::new(|n| Ok(vec![Value::new(DType::Bool, n.input(0)?.dims.clone())]))),
    ("LabelEncoder", Op::new(encode)),
];

fn concat(node: &Node) -> Outputs {
    Ok(vec![Value::new(DType::String, broadcast(&node.input(0)?.dims, &node.input(1)?.dims)?)])
}

/// The attribute that is there says the type of the labels.
fn encode(node: &Node) -> Outputs {
    let types = [("values_int64s", DType::I64), ("values_strings", DType::String), ("values_floats", DType::F32)];
    let named = types.into_iter().find(|(name, _)| node.attribute(name).is_some()).map(|(_, dtype)| dtype);
    let tensor = node.attribute("values_tensor").and_then(|a| a.t.as_ref()).map(Value::from_tensor).transpose()?;
    let dtype = named.or(tensor.map(|tensor| tensor.dtype)).ok_or("no attribute lists the labels")?;
    Ok(vec![Value::new(dtype, node.input(0)?.dims.clone())])
}
