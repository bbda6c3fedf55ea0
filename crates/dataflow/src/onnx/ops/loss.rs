//! Losses of training graphs.

use super::super::node::Node;
use super::super::value::Value;
use super::{Op, Outputs, Table, first_elements};

pub(super) const OPS: Table = &[
    ("NegativeLogLikelihoodLoss", Op::new(loss).flops(first_elements)),
    ("SoftmaxCrossEntropyLoss", Op::new(loss).flops(|n, o| first_elements(n, o).saturating_mul(13))),
];

/// A scalar unless nothing is reduced; the log-probabilities come out too.
fn loss(node: &Node) -> Outputs {
    let (scores, labels) = (node.input(0)?, node.input(1)?);
    let dims = if node.text("reduction") == Some("none") { labels.dims.clone() } else { vec![] };
    Ok(vec![Value::new(scores.dtype, dims), scores.forget()])
}
