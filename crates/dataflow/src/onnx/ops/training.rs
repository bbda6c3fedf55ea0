//! Losses and optimisers of training graphs.

use super::super::node::Node;
use super::super::value::Value;
use super::{Op, Outputs, Table, first_elements, output_elements};

pub(super) const OPS: Table = &[
    ("NegativeLogLikelihoodLoss", Op::new(loss).flops(first_elements)),
    ("SoftmaxCrossEntropyLoss", Op::new(loss).flops(|n, o| first_elements(n, o).saturating_mul(13))),
    ("Adagrad", Op::new(|n| optimizer(n, 3, 2)).flops(update_flops)),
    ("Momentum", Op::new(|n| optimizer(n, 3, 2)).flops(update_flops)),
    ("Adam", Op::new(|n| optimizer(n, 4, 3)).flops(update_flops)),
];

/// A scalar unless nothing is reduced; the log-probabilities come out too.
fn loss(node: &Node) -> Outputs {
    let (scores, labels) = (node.input(0)?, node.input(1)?);
    let dims = if node.text("reduction") == Some("none") { labels.dims.clone() } else { vec![] };
    Ok(vec![Value::new(scores.dtype, dims), scores.forget()])
}

/// After rate and step come `groups` lists of equal length: parameters, gradients, state. All but the gradients come out new.
fn optimizer(node: &Node, groups: usize, results: usize) -> Outputs {
    let lists: Vec<&Value> = (2..node.inputs.len()).map(|i| node.input(i)).collect::<Result<_, _>>()?;
    let count = lists.len() / groups;
    let parameters = lists.iter().take(count).map(|value| value.forget());
    Ok(std::iter::repeat_n(parameters, results).flatten().collect())
}

fn update_flops(_: &Node, outputs: &[Value]) -> u64 {
    output_elements(outputs).saturating_mul(5)
}
