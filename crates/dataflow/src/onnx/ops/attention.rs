//! Attention as one op: the standard one and the fused ones of ONNX Runtime.

use super::super::node::Node;
use super::super::value::{Value, product};
use super::{Op, Outputs, Table, first_elements, same_as_input};

pub(super) const OPS: Table = &[
    ("Attention", Op::new(standard).flops(standard_flops)),
    ("FlexAttention", Op::new(standard).flops(standard_flops)),
    ("RotaryEmbedding", Op::new(same_as_input).flops(rotary_flops)),
];

pub(super) const MICROSOFT: Table = &[
    ("Attention", Op::new(packed).flops(packed_flops)),
    ("QAttention", Op::new(packed).flops(packed_flops)),
    ("MultiHeadAttention", Op::new(multi_head).flops(multi_head_flops)),
    ("GroupQueryAttention", Op::new(group_query).flops(group_query_flops)),
    ("RotaryEmbedding", Op::new(same_as_input).flops(rotary_flops)),
];

/// A pair of multiply-adds for each element.
fn rotary_flops(node: &Node, outputs: &[Value]) -> u64 {
    first_elements(node, outputs).saturating_mul(4)
}

/// `Q K^T`, softmax, `P V` for `batch` sequences: `width` is heads x head size.
fn core_flops(batch: u64, heads: u64, queries: u64, keys: u64, widths: (u64, u64)) -> u64 {
    let scores = product(&[batch, queries, keys]);
    let products = scores.saturating_mul(widths.0.saturating_add(widths.1)).saturating_mul(2);
    products.saturating_add(product(&[scores, heads, 12]))
}

/// Sizes of one operand, whether `batch x heads x length x size` or `batch x length x heads*size`.
struct Operand {
    batch: u64,
    heads: u64,
    length: u64,
    size: u64,
}

fn operand(dims: &[u64], heads: Option<i64>) -> Option<Operand> {
    match *dims {
        [batch, heads, length, size] => Some(Operand { batch, heads, length, size }),
        [batch, length, width] => {
            let heads = u64::try_from(heads?).ok().filter(|&h| h > 0)?;
            Some(Operand { batch, heads, length, size: width / heads })
        }
        _ => None,
    }
}

fn qkv(node: &Node) -> Option<[Operand; 3]> {
    let (q_heads, kv_heads) = (node.int("q_num_heads"), node.int("kv_num_heads"));
    Some([operand(node.dims(0), q_heads)?, operand(node.dims(1), kv_heads)?, operand(node.dims(2), kv_heads)?])
}

/// Cached keys come before the new ones.
fn total_keys(node: &Node, k: &Operand, past: usize) -> u64 {
    k.length.saturating_add(node.dims(past).get(2).copied().unwrap_or(0))
}

/// Outputs: the result in the layout of `Q`, the keys and values so far, the scores.
fn standard(node: &Node) -> Outputs {
    let query = node.input(0)?;
    let [q, k, v] = qkv(node).ok_or("the shapes of Q, K and V are not those of attention")?;
    let keys = total_keys(node, &k, 4);
    let result = match query.rank() {
        3 => vec![q.batch, q.length, q.heads.saturating_mul(v.size)],
        _ => vec![q.batch, q.heads, q.length, v.size],
    };
    let dtype = query.dtype;
    Ok(vec![
        Value::new(dtype, result),
        Value::new(dtype, [q.batch, k.heads, keys, k.size]),
        Value::new(dtype, [q.batch, v.heads, keys, v.size]),
        Value::new(dtype, [q.batch, q.heads, q.length, keys]),
    ])
}

fn standard_flops(node: &Node, _: &[Value]) -> u64 {
    let Some([q, k, v]) = qkv(node) else { return 0 };
    let widths = (q.heads.saturating_mul(q.size), q.heads.saturating_mul(v.size));
    core_flops(q.batch, q.heads, q.length, total_keys(node, &k, 4), widths)
}

/// Input `batch x length x hidden` times packed weights `hidden x 3*width`, then attention.
fn packed(node: &Node) -> Outputs {
    let (data, weights) = (node.input(0)?, node.input(1)?);
    let ([batch, length, _], [_, three]) = (&data.dims[..], &weights.dims[..]) else {
        return Err(format!("input of shape {:?} does not fit weights of shape {:?}", data.dims, weights.dims));
    };
    let heads =
        node.int("num_heads").and_then(|h| u64::try_from(h).ok()).filter(|&h| h > 0).ok_or("'num_heads' is missing")?;
    let width = three / 3;
    let total = length.saturating_add(node.dims(4).get(3).copied().unwrap_or(0));
    let dtype = if node.get(3).is_some_and(|scale| scale.rank() == 0) { node.input(3)?.dtype } else { data.dtype };
    Ok(vec![Value::new(dtype, [*batch, *length, width]), Value::new(dtype, [2, *batch, heads, total, width / heads])])
}

fn packed_flops(node: &Node, _: &[Value]) -> u64 {
    let (&[batch, length, hidden], &[_, three]) = (node.dims(0), node.dims(1)) else { return 0 };
    let heads = u64::try_from(node.int_or("num_heads", 1)).unwrap_or(1);
    let projection = product(&[batch, length, hidden, three, 2]);
    projection.saturating_add(core_flops(batch, heads, length, length, (three / 3, three / 3)))
}

/// Query `batch x length x width`, or packed with keys and values as `batch x length x heads x 3 x size`.
fn multi_head(node: &Node) -> Outputs {
    let query = node.input(0)?;
    let dims = match query.dims[..] {
        [batch, length, width] => [batch, length, node.dims(2).get(2).copied().unwrap_or(width)],
        [batch, length, heads, _, size] => [batch, length, heads.saturating_mul(size)],
        _ => return Err(format!("a query of shape {:?} is not batch x length x width", query.dims)),
    };
    let mut outputs = vec![Value::new(query.dtype, dims)];
    outputs.extend(cache(node, 1, 6));
    outputs.extend(cache(node, 2, 7));
    Ok(outputs)
}

/// Keys or values so far: those of input `past`, `batch x heads x length x size`, and the new ones of input `new`.
fn cache(node: &Node, new: usize, past: usize) -> Option<Value> {
    let heads = u64::try_from(node.int("num_heads")?).ok().filter(|&heads| heads > 0)?;
    let value = node.get(new)?;
    let (batch, length, size) = match value.dims[..] {
        [batch, length, width] => (batch, length, width / heads),
        [batch, _, length, size] => (batch, length, size),
        _ => return None,
    };
    let length = length.saturating_add(node.dims(past).get(2).copied().unwrap_or(0));
    Some(Value::new(value.dtype, [batch, heads, length, size]))
}

fn multi_head_flops(node: &Node, outputs: &[Value]) -> u64 {
    let Some(&[batch, length, width]) = outputs.first().map(|o| &o.dims[..]) else { return 0 };
    let heads = u64::try_from(node.int_or("num_heads", 1)).unwrap_or(1);
    let keys = cache(node, 1, 6).map_or(length, |keys| keys.dims[2]);
    core_flops(batch, heads, length, keys, (width, width))
}

/// Keys and values have fewer heads; the caches are shared buffers whose shape does not change.
fn group_query(node: &Node) -> Outputs {
    let query = node.input(0)?;
    let mut result = query.forget();
    if let (None, Some(width)) = (node.get(1), result.dims.last_mut()) {
        let heads = |name| u64::try_from(node.int_or(name, 1)).unwrap_or(1);
        let all = heads("num_heads").saturating_add(heads("kv_num_heads").saturating_mul(2)).max(1);
        *width = *width / all * heads("num_heads");
    }
    let mut outputs = vec![result];
    outputs.extend([node.get(3), node.get(4)].into_iter().flatten().map(Value::forget));
    Ok(outputs)
}

fn group_query_flops(node: &Node, outputs: &[Value]) -> u64 {
    let Some(&[batch, length, width]) = outputs.first().map(|o| &o.dims[..]) else { return 0 };
    let heads = u64::try_from(node.int_or("num_heads", 1)).unwrap_or(1);
    let keys = node.dims(3).get(2).copied().unwrap_or(length).max(length);
    core_flops(batch, heads, length, keys, (width, width))
}
