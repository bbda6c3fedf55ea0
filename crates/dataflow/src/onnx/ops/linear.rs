//! Matrix products.

use super::super::node::Node;
use super::super::value::{Value, product};
use super::elementwise::broadcast;
use super::{Op, Outputs, Table, first_elements, output_elements};
use crate::graph::DType;
use std::collections::BTreeMap;

pub(super) const OPS: Table = &[
    ("MatMul", Op::new(|n| matmul(n, 1, n.input(0)?.dtype)).flops(matmul_flops)),
    ("MatMulInteger", Op::new(|n| matmul(n, 1, DType::I32)).flops(matmul_flops)),
    ("QLinearMatMul", Op::new(|n| matmul(n, 3, n.input(7)?.dtype)).flops(matmul_flops)),
    ("Gemm", Op::new(gemm).flops(gemm_flops)),
    ("Einsum", Op::new(einsum).flops(einsum_flops)),
    ("Det", Op::new(determinant).flops(|n, _| cubed(n))),
];

pub(super) const MICROSOFT: Table = &[
    ("FusedMatMul", Op::new(fused_matmul).flops(fused_matmul_flops)),
    ("TransposeMatMul", Op::new(fused_matmul).flops(fused_matmul_flops)),
    ("FusedGemm", Op::new(gemm).flops(gemm_flops)),
    ("MatMulIntegerToFloat", Op::new(|n| matmul(n, 1, n.input(2)?.dtype)).flops(matmul_flops)),
    ("DynamicQuantizeMatMul", Op::new(|n| matmul(n, 1, n.input(0)?.dtype)).flops(matmul_flops)),
    ("QGemm", Op::new(quantized_gemm).flops(gemm_flops)),
    ("MatMulNBits", Op::new(matmul_packed).flops(packed_flops)),
];

/// Shape of `a @ b` by the rules of `numpy.matmul`: vectors gain an axis that the result loses.
fn matmul_dims(a: &[u64], b: &[u64]) -> Result<Vec<u64>, String> {
    let mismatch = || format!("shapes {a:?} and {b:?} do not multiply");
    let (rows, inner) = match a {
        [] => return Err(mismatch()),
        [inner] => (None, *inner),
        [.., rows, inner] => (Some(*rows), *inner),
    };
    let (inner_b, columns) = match b {
        [] => return Err(mismatch()),
        [inner] => (*inner, None),
        [.., inner, columns] => (*inner, Some(*columns)),
    };
    if inner != inner_b {
        return Err(mismatch());
    }
    let mut dims = broadcast(&a[..a.len().saturating_sub(2)], &b[..b.len().saturating_sub(2)])?;
    dims.extend(rows.into_iter().chain(columns));
    Ok(dims)
}

fn matmul(node: &Node, right: usize, dtype: DType) -> Outputs {
    Ok(vec![Value::new(dtype, matmul_dims(&node.input(0)?.dims, &node.input(right)?.dims)?)])
}

/// Each output element is a dot product along the last axis of the left operand.
fn matmul_flops(node: &Node, outputs: &[Value]) -> u64 {
    let inner = node.dims(0).last().copied().unwrap_or(0);
    output_elements(outputs).saturating_mul(inner).saturating_mul(2)
}

fn transposed(dims: &[u64], flag: bool) -> Vec<u64> {
    let mut dims = dims.to_vec();
    if let (true, [.., a, b]) = (flag, &mut dims[..]) {
        std::mem::swap(a, b);
    }
    dims
}

fn fused_matmul(node: &Node) -> Outputs {
    let (a, b) = (node.input(0)?, node.input(1)?);
    let (a_dims, b_dims) = (transposed(&a.dims, node.flag("transA")), transposed(&b.dims, node.flag("transB")));
    Ok(vec![Value::new(a.dtype, matmul_dims(&a_dims, &b_dims)?)])
}

fn fused_matmul_flops(node: &Node, outputs: &[Value]) -> u64 {
    let inner = transposed(node.dims(0), node.flag("transA")).last().copied().unwrap_or(0);
    output_elements(outputs).saturating_mul(inner).saturating_mul(2)
}

fn gemm(node: &Node) -> Outputs {
    gemm_of(node, 1, node.input(0)?.dtype)
}

fn quantized_gemm(node: &Node) -> Outputs {
    let dtype = node.get(8).map_or(DType::F32, |zero_point| zero_point.dtype);
    gemm_of(node, 3, dtype)
}

fn gemm_of(node: &Node, right: usize, dtype: DType) -> Outputs {
    let (a, b) = (node.input(0)?, node.input(right)?);
    if a.rank() != 2 || b.rank() != 2 {
        return Err(format!("shapes {:?} and {:?} are not matrices", a.dims, b.dims));
    }
    let (a, b) = (transposed(&a.dims, node.flag("transA")), transposed(&b.dims, node.flag("transB")));
    Ok(vec![Value::new(dtype, matmul_dims(&a, &b)?)])
}

fn gemm_flops(node: &Node, outputs: &[Value]) -> u64 {
    let bias = if node.get(2).is_some() { output_elements(outputs) } else { 0 };
    fused_matmul_flops(node, outputs).saturating_add(bias)
}

/// Weights of `N` columns packed in blocks; the shape is in the attributes.
fn matmul_packed(node: &Node) -> Outputs {
    let a = node.input(0)?;
    let columns = node.int("N").and_then(|n| u64::try_from(n).ok()).ok_or("attribute 'N' is missing")?;
    let rows = a.dims.split_last().ok_or("the left operand is a scalar")?.1;
    Ok(vec![Value::new(a.dtype, [rows, &[columns]].concat())])
}

/// The product, and one multiply-add to unpack each weight.
fn packed_flops(node: &Node, outputs: &[Value]) -> u64 {
    let inner = node.dims(0).last().copied().unwrap_or(0);
    let columns = u64::try_from(node.int_or("N", 0)).unwrap_or(0);
    matmul_flops(node, outputs).saturating_add(inner.saturating_mul(columns).saturating_mul(2))
}

/// Axis labels of an einsum; the axes of an ellipsis get labels of their own, counted from the last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

struct Einsum {
    sizes: BTreeMap<Label, u64>,
    output: Vec<Label>,
    operands: usize,
}

fn parse_einsum(node: &Node) -> Result<Einsum, String> {
    let equation: String = node
        .text("equation")
        .ok_or("attribute 'equation' is missing")?
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    let (left, right) = equation.split_once("->").map_or((equation.as_str(), None), |(l, r)| (l, Some(r)));
    let mut sizes = BTreeMap::new();
    let mut uses: BTreeMap<Label, usize> = BTreeMap::new();
    let mut ellipsis = 0;
    let terms: Vec<&str> = left.split(',').collect();
    for (i, term) in terms.iter().enumerate() {
        let dims = &node.input(i)?.dims;
        let letters = term.chars().filter(|&c| c != '.').count();
        let hidden = dims.len().checked_sub(letters).ok_or_else(|| rank_error(term, dims))?;
        let labels = labels(term, hidden);
        if labels.len() != dims.len() {
            return Err(rank_error(term, dims));
        }
        ellipsis = ellipsis.max(if term.contains('.') { hidden } else { 0 });
        for (label, &dim) in labels.into_iter().zip(dims) {
            let size = sizes.entry(label).or_insert(dim);
            *size = (*size).max(dim);
            *uses.entry(label).or_default() += 1;
        }
    }
    let output = match right {
        Some(right) => labels(right, ellipsis),
        // The implicit output: the ellipsis, then the letters that occur once, in alphabetical order.
        None => (0..ellipsis).rev().map(Label::Ellipsis).chain(once_used(&uses)).collect(),
    };
    Ok(Einsum { sizes, output, operands: terms.len() })
}

fn rank_error(term: &str, dims: &[u64]) -> String {
    format!("einsum term '{term}' does not fit shape {dims:?}")
}

fn once_used(uses: &BTreeMap<Label, usize>) -> impl Iterator<Item = Label> {
    uses.iter().filter(|&(label, &count)| matches!(label, Label::Letter(_)) && count == 1).map(|(&label, _)| label)
}

fn labels(term: &str, hidden: usize) -> Vec<Label> {
    let mut labels = vec![];
    let mut rest = term;
    while let Some(c) = rest.chars().next() {
        match rest.strip_prefix("...") {
            Some(tail) => {
                labels.extend((0..hidden).rev().map(Label::Ellipsis));
                rest = tail;
            }
            None => {
                labels.push(Label::Letter(c));
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    labels
}

fn einsum(node: &Node) -> Outputs {
    let einsum = parse_einsum(node)?;
    let size = |label| einsum.sizes.get(label).copied().ok_or("an output label of the einsum is in no operand");
    let dims = einsum.output.iter().map(size).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![Value::new(node.input(0)?.dtype, dims)])
}

/// One multiply-add for each point of the index space and each operand after the first.
fn einsum_flops(node: &Node, _: &[Value]) -> u64 {
    let Ok(einsum) = parse_einsum(node) else { return 0 };
    let space: Vec<u64> = einsum.sizes.into_values().collect();
    product(&space).saturating_mul(2 * (einsum.operands.max(2) - 1) as u64)
}

fn determinant(node: &Node) -> Outputs {
    let matrix = node.input(0)?;
    match &matrix.dims[..] {
        [batch @ .., rows, columns] if rows == columns => Ok(vec![Value::new(matrix.dtype, batch)]),
        dims => Err(format!("shape {dims:?} is not a square matrix")),
    }
}

/// Gaussian elimination: 2/3 n^3 a matrix, rounded to n^3.
fn cubed(node: &Node) -> u64 {
    first_elements(node, &[]).saturating_mul(node.dims(0).last().copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_follow_numpy() {
        assert_eq!(matmul_dims(&[2, 3], &[3, 4]), Ok(vec![2, 4]));
        assert_eq!(matmul_dims(&[3], &[3, 4]), Ok(vec![4]));
        assert_eq!(matmul_dims(&[5, 1, 2, 3], &[7, 3]), Err("shapes [5, 1, 2, 3] and [7, 3] do not multiply".into()));
        assert_eq!(matmul_dims(&[5, 1, 2, 3], &[6, 3, 4]), Ok(vec![5, 6, 2, 4]));
        assert_eq!(matmul_dims(&[2, 3], &[3]), Ok(vec![2]));
        assert_eq!(matmul_dims(&[3], &[3]), Ok(vec![]));
    }
}
