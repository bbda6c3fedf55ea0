//! Which nodes a node depends on, and an order in which they can be evaluated even if the file is not sorted.

use super::proto::{GraphProto, NodeProto};
use crate::{Error, Result};
use labrys_graph::{Csr, Cycle, Id, dag, define_id};
use std::collections::{HashMap, HashSet};

define_id!(
    /// Position of a node in its list.
    NodeIndex
);

/// Names of all tensors that a node reads: its inputs, then what the bodies in its attributes take from outside.
pub(super) fn reads(node: &NodeProto) -> impl Iterator<Item = &str> {
    let inputs = node.input.iter().map(String::as_str).filter(|name| !name.is_empty());
    let bodies = node.attribute.iter().flat_map(|a| a.g.iter().chain(&a.graphs));
    inputs.chain(bodies.flat_map(captures))
}

/// Names that a body uses but does not define, in the order of first use.
fn captures(body: &GraphProto) -> Vec<&str> {
    let mut seen: HashSet<&str> = body.input.iter().map(|i| i.name()).collect();
    seen.extend(body.initializer.iter().map(|t| t.name()));
    seen.extend(body.sparse_initializer.iter().filter_map(|t| t.values.as_ref()).map(|v| v.name()));
    seen.extend(body.node.iter().flat_map(|n| &n.output).map(String::as_str));
    let used = body.node.iter().flat_map(reads).chain(body.output.iter().map(|o| o.name()));
    used.filter(|name| seen.insert(name)).collect()
}

/// The node that produces each tensor.
///
/// # Errors
/// Two nodes produce the same tensor.
pub(super) fn producers(nodes: &[NodeProto]) -> Result<HashMap<&str, usize>> {
    let mut producers = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for output in node.output.iter().filter(|name| !name.is_empty()) {
            if let Some(first) = producers.insert(output.as_str(), index) {
                let message =
                    format!("output '{output}' is already produced by node '{}'", display_name(&nodes[first], first));
                return Err(Error::node(display_name(node, index), node.op_type(), message));
            }
        }
    }
    Ok(producers)
}

/// An evaluation order: the file order wherever the file is sorted.
///
/// # Errors
/// The nodes form a cycle.
pub(super) fn evaluation_order(nodes: &[NodeProto], producers: &HashMap<&str, usize>) -> Result<Vec<usize>> {
    let producer = |name| producers.get(name).map(|&index| NodeIndex::new(index));
    let preds = Csr::from_rows(nodes.iter().map(|node| reads(node).filter_map(producer).collect::<Vec<_>>()));
    let succs: Csr<NodeIndex> = preds.transpose(nodes.len());
    match dag::topological_order(&succs) {
        Ok(order) => Ok(order.into_iter().map(Id::index).collect()),
        Err(Cycle(cycle)) => {
            let mut names: Vec<String> =
                cycle.iter().take(8).map(|i| display_name(&nodes[i.index()], i.index())).collect();
            names.push(if cycle.len() > 8 { format!("... ({} nodes)", cycle.len()) } else { names[0].clone() });
            Err(Error::Cycle(names))
        }
    }
}

/// The node's name, or as ONNX Runtime names it: op type and position.
pub(super) fn display_name(node: &NodeProto, index: usize) -> String {
    match node.name() {
        "" => format!("{}_{index}", node.op_type()),
        name => name.to_owned(),
    }
}
