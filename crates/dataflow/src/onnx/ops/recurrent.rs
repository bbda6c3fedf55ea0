//! Recurrent layers: `X` is length x batch x input (batch first if `layout` is 1), `R` is directions x gates*hidden x hidden.

use super::super::node::Node;
use super::super::value::{Value, product};
use super::{Op, Outputs, Table};

pub(super) const OPS: Table = &[
    ("LSTM", Op::new(recurrent).flops(recurrent_flops)),
    ("GRU", Op::new(recurrent).flops(recurrent_flops)),
    ("RNN", Op::new(recurrent).flops(recurrent_flops)),
];

/// Length, batch, directions, hidden size.
fn sizes(node: &Node) -> Result<[u64; 4], String> {
    let (x, r) = (node.input(0)?, node.input(2)?);
    let ([first, second, _], [directions, _, hidden]) = (&x.dims[..], &r.dims[..]) else {
        return Err(format!("input of shape {:?} does not fit weights of shape {:?}", x.dims, r.dims));
    };
    let (length, batch) = if node.flag("layout") { (second, first) } else { (first, second) };
    Ok([*length, *batch, *directions, *hidden])
}

fn recurrent(node: &Node) -> Outputs {
    let [length, batch, directions, hidden] = sizes(node)?;
    let dtype = node.input(0)?.dtype;
    let (all, last) = if node.flag("layout") {
        (vec![batch, length, directions, hidden], vec![batch, directions, hidden])
    } else {
        (vec![length, directions, batch, hidden], vec![directions, batch, hidden])
    };
    let last = Value::new(dtype, last);
    Ok(vec![Value::new(dtype, all), last.clone(), last])
}

/// Each step multiplies the input by `W` and the state by `R`; the gates cost little beside that.
fn recurrent_flops(node: &Node, _: &[Value]) -> u64 {
    let Ok([length, batch, directions, hidden]) = sizes(node) else { return 0 };
    let weights = product(node.dims(1)).saturating_add(product(node.dims(2)));
    let steps = length.saturating_mul(batch);
    let gates = product(&[steps, directions, hidden, 32]);
    steps.saturating_mul(weights).saturating_mul(2).saturating_add(gates)
}
