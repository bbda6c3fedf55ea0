//! Normalisations and softmax: a few passes over the data, the shape stays.

use super::super::node::{Node, axis};
use super::super::value::Value;
use super::{Op, Outputs, Table, first_elements, same_as_input};

/// Subtract the maximum, exponentiate, sum, divide.
const SOFTMAX: Op = passes::<12>(same_as_input);
/// Mean, variance, normalise, scale, shift.
const NORMALIZE: Op = passes::<8>(same_as_input);

#[rustfmt::skip]
pub(super) const OPS: Table = &[
    ("Softmax", SOFTMAX), ("LogSoftmax", SOFTMAX), ("Hardmax", SOFTMAX),
    ("InstanceNormalization", NORMALIZE), ("GroupNormalization", NORMALIZE), ("MeanVarianceNormalization", NORMALIZE),
    ("LpNormalization", NORMALIZE), ("RMSNormalization", NORMALIZE), ("Normalizer", NORMALIZE),
    ("BatchNormalization", passes::<2>(batch)), ("LayerNormalization", passes::<8>(layer)),
    ("SimplifiedLayerNormalization", passes::<6>(layer)),
    ("LRN", Op::new(same_as_input).flops(response_flops)),
];

pub(super) const MICROSOFT: Table = &[
    ("SkipLayerNormalization", passes::<9>(skip)),
    ("SkipSimplifiedLayerNormalization", passes::<7>(skip)),
    ("EmbedLayerNormalization", Op::new(embed)),
    ("GroupNorm", NORMALIZE),
];

/// An op with `N` operations on each element of its first input.
const fn passes<const N: u64>(infer: fn(&Node) -> Outputs) -> Op {
    Op::new(infer).flops(|node, outputs| first_elements(node, outputs).saturating_mul(N))
}

/// In training the running statistics come out too: mean and variance, and before version 14 the saved ones.
fn batch(node: &Node) -> Outputs {
    let data = node.input(0)?.forget();
    let statistics = node.get(1).unwrap_or(&data).forget();
    let mut outputs = vec![data];
    outputs.resize(5, statistics);
    Ok(outputs)
}

/// The mean and the inverse deviation over the normalised axes come out too.
fn layer(node: &Node) -> Outputs {
    let data = node.input(0)?.forget();
    let first = axis(node.int_or("axis", -1), data.rank())?;
    let dims = data.dims.iter().enumerate().map(|(i, &d)| if i < first { d } else { 1 }).collect::<Vec<_>>();
    let statistics = Value::new(data.dtype, dims);
    Ok(vec![data, statistics.clone(), statistics])
}

/// Mean and inverse deviation stand between the result and the sum with the skipped input.
fn skip(node: &Node) -> Outputs {
    let data = node.input(0)?.forget();
    let mut dims = data.dims.clone();
    if let Some(last) = dims.last_mut() {
        *last = 1;
    }
    let statistics = Value::new(data.dtype, dims);
    Ok(vec![data.clone(), statistics.clone(), statistics, data])
}

/// Token ids `batch x length` become `batch x length x hidden`; the mask becomes a length for each batch.
fn embed(node: &Node) -> Outputs {
    let (ids, words) = (node.input(0)?, node.input(2)?);
    let [batch, length] = ids.dims[..] else {
        return Err(format!("ids of shape {:?} are not batch x length", ids.dims));
    };
    let hidden = *words.dims.last().ok_or("the word embedding is a scalar")?;
    let embedded = Value::new(words.dtype, [batch, length, hidden]);
    Ok(vec![embedded.clone(), Value::new(ids.dtype, [batch]), embedded])
}

/// Squares and sums over a window of channels.
fn response_flops(node: &Node, outputs: &[Value]) -> u64 {
    let window = u64::try_from(node.int_or("size", 5)).unwrap_or(5);
    first_elements(node, outputs).saturating_mul(window.saturating_mul(2).saturating_add(16))
}
