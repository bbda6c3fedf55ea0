//! Unary, binary and variadic ops on elements, with numpy broadcasting, and with constant folding for shape arithmetic.

use super::super::dtype::is_integer;
use super::super::node::Node;
use super::super::value::{MAX_KNOWN, Value};
use super::{Op, Outputs, Table, first_elements, same_as_input};
use crate::graph::DType;

/// Operations counted for one transcendental function: the polynomial of a vectorised `exp`.
const TRANSCENDENTAL: u64 = 8;

const SIMPLE: Op = Op::new(same_as_input);
const COSTLY: Op =
    Op::new(same_as_input).flops(|node, outputs| first_elements(node, outputs).saturating_mul(TRANSCENDENTAL));
const PREDICATE: Op = Op::new(|node| Ok(vec![Value::new(DType::Bool, node.input(0)?.dims.clone())]));

#[rustfmt::skip]
pub(super) const OPS: Table = &[
    ("Abs", Op::new(|n| map(n, f64::abs))), ("Neg", Op::new(|n| map(n, |x| -x))),
    ("Ceil", Op::new(|n| map(n, f64::ceil))), ("Floor", Op::new(|n| map(n, f64::floor))),
    ("Round", Op::new(|n| map(n, f64::round_ties_even))), ("Sqrt", Op::new(|n| map(n, f64::sqrt))),
    ("Not", Op::new(|n| map(n, |x| f64::from(x == 0.0)))),
    ("Relu", Op::new(|n| map(n, |x| x.max(0.0)))), ("LeakyRelu", SIMPLE), ("ThresholdedRelu", SIMPLE), ("Clip", SIMPLE), ("Shrink", SIMPLE),
    ("HardSigmoid", SIMPLE), ("HardSwish", SIMPLE), ("Reciprocal", SIMPLE), ("Sign", SIMPLE), ("BitwiseNot", SIMPLE),
    ("Trilu", SIMPLE), ("CumSum", SIMPLE), ("CumProd", SIMPLE), ("Softsign", SIMPLE),
    ("Acos", COSTLY), ("Acosh", COSTLY), ("Asin", COSTLY), ("Asinh", COSTLY), ("Atan", COSTLY), ("Atanh", COSTLY),
    ("Celu", COSTLY), ("Cos", COSTLY), ("Cosh", COSTLY), ("Elu", COSTLY), ("Erf", COSTLY), ("Exp", COSTLY),
    ("Gelu", COSTLY), ("Log", COSTLY), ("Mish", COSTLY), ("Selu", COSTLY), ("Sigmoid", COSTLY), ("Sin", COSTLY),
    ("Sinh", COSTLY), ("Softplus", COSTLY), ("Swish", COSTLY), ("Tan", COSTLY), ("Tanh", COSTLY),
    ("IsInf", PREDICATE), ("IsNaN", PREDICATE),
    ("Add", Op::new(|n| fold(n, |a, b| a + b))), ("Sub", Op::new(|n| fold(n, |a, b| a - b))),
    ("Mul", Op::new(|n| fold(n, |a, b| a * b))), ("Div", Op::new(divide)),
    ("Mod", Op::new(modulo)), ("Pow", Op::new(|n| fold(n, f64::powf))),
    ("Max", Op::new(|n| fold(n, f64::max))), ("Min", Op::new(|n| fold(n, f64::min))),
    ("Sum", Op::new(|n| fold(n, |a, b| a + b)).flops(every_input)), ("Mean", Op::new(broadcast_all).flops(every_input)),
    ("PRelu", Op::new(broadcast_all)), ("BitShift", Op::new(broadcast_all)), ("BitwiseAnd", Op::new(broadcast_all)),
    ("BitwiseOr", Op::new(broadcast_all)), ("BitwiseXor", Op::new(broadcast_all)),
    ("And", Op::new(|n| compare(n, |a, b| a != 0.0 && b != 0.0))), ("Or", Op::new(|n| compare(n, |a, b| a != 0.0 || b != 0.0))),
    ("Xor", Op::new(|n| compare(n, |a, b| (a != 0.0) != (b != 0.0)))), ("Equal", Op::new(|n| compare(n, |a, b| a == b))),
    ("Greater", Op::new(|n| compare(n, |a, b| a > b))), ("GreaterOrEqual", Op::new(|n| compare(n, |a, b| a >= b))),
    ("Less", Op::new(|n| compare(n, |a, b| a < b))), ("LessOrEqual", Op::new(|n| compare(n, |a, b| a <= b))),
    ("Where", Op::new(choose)), ("Cast", Op::new(cast)), ("CastLike", Op::new(cast_like)), ("BitCast", Op::new(bit_cast).view()),
    ("Dropout", Op::new(dropout)), ("SwiGLU", COSTLY),
];

pub(super) const MICROSOFT: Table = &[
    ("BiasGelu", Op::new(broadcast_all).flops(|n, o| first_elements(n, o).saturating_mul(TRANSCENDENTAL))),
    ("FastGelu", COSTLY),
    ("QuickGelu", COSTLY),
    ("Inverse", SIMPLE),
];

/// Shape of the numpy broadcast of two shapes.
pub(super) fn broadcast(a: &[u64], b: &[u64]) -> Result<Vec<u64>, String> {
    let rank = a.len().max(b.len());
    let at = |dims: &[u64], i: usize| (i + dims.len()).checked_sub(rank).map_or(1, |i| dims[i]);
    let pair = |i| match (at(a, i), at(b, i)) {
        (x, y) if x == y || y == 1 => Ok(x),
        (1, y) => Ok(y),
        _ => Err(format!("shapes {a:?} and {b:?} do not broadcast")),
    };
    (0..rank).map(pair).collect()
}

/// Shape of the broadcast of all inputs.
fn broadcast_dims(node: &Node) -> Result<Vec<u64>, String> {
    let (first, mut rest) = (node.input(0)?, node.present().skip(1));
    rest.try_fold(first.dims.clone(), |dims, value| broadcast(&dims, &value.dims))
}

fn broadcast_all(node: &Node) -> Outputs {
    Ok(vec![Value::new(node.input(0)?.dtype, broadcast_dims(node)?)])
}

fn every_input(node: &Node, _: &[Value]) -> u64 {
    node.present().fold(0, |sum, value| sum.saturating_add(value.elements()))
}

fn map(node: &Node, f: impl Fn(f64) -> f64) -> Outputs {
    let input = node.input(0)?;
    let known = input.known.as_ref().map(|known| known.iter().map(|&x| f(x)).collect());
    Ok(vec![Value { known, ..input.forget() }])
}

/// Left fold of all inputs; its elements are known where those of all inputs are.
fn fold(node: &Node, f: impl Fn(f64, f64) -> f64) -> Outputs {
    if node.flag("broadcast") {
        return same_as_input(node); // before version 7: the second operand stretches to the first, from an axis given
    }
    let mut result = node.input(0)?.clone();
    for value in node.present().skip(1) {
        result = binary(&result, value, result.dtype, &f)?;
    }
    Ok(vec![result])
}

fn binary(a: &Value, b: &Value, dtype: DType, f: impl Fn(f64, f64) -> f64) -> Result<Value, String> {
    let result = Value::new(dtype, broadcast(&a.dims, &b.dims)?);
    let (Some(x), Some(y)) = (expand(a, &result.dims), expand(b, &result.dims)) else { return Ok(result) };
    Ok(Value::constant(dtype, result.dims, x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect()))
}

/// The known elements of a value as they stand in the shape that it broadcasts to.
pub(super) fn expand(value: &Value, dims: &[u64]) -> Option<Vec<f64>> {
    let known = value.known.as_ref()?;
    let total = super::super::value::product(dims);
    if total > MAX_KNOWN {
        return None;
    }
    let pick = |flat: u64| {
        let (mut flat, mut index, mut stride) = (flat, 0, 1);
        for (i, &dim) in dims.iter().enumerate().rev() {
            let own = (i + value.rank()).checked_sub(dims.len()).map_or(1, |i| value.dims[i]);
            index += if own == 1 { 0 } else { flat % dim * stride };
            (flat, stride) = (flat / dim, stride * own);
        }
        known.get(index as usize).copied()
    };
    (0..total).map(pick).collect()
}

fn divide(node: &Node) -> Outputs {
    let integer = is_integer(node.input(0)?.dtype);
    let known = node.get(1).and_then(|b| b.known.as_ref());
    if integer && known.is_some_and(|b| b.contains(&0.0)) {
        return Err("division by a constant zero".into());
    }
    fold(node, |a, b| if integer { (a / b).trunc() } else { a / b })
}

fn modulo(node: &Node) -> Outputs {
    let fmod = node.flag("fmod");
    fold(node, |a, b| if fmod { a % b } else { a - b * (a / b).floor() })
}

fn compare(node: &Node, f: impl Fn(f64, f64) -> bool) -> Outputs {
    if node.flag("broadcast") {
        return Ok(vec![Value::new(DType::Bool, node.input(0)?.dims.clone())]);
    }
    Ok(vec![binary(node.input(0)?, node.input(1)?, DType::Bool, |a, b| f64::from(f(a, b)))?])
}

fn choose(node: &Node) -> Outputs {
    let (condition, yes, no) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let dims = broadcast(&condition.dims, &broadcast(&yes.dims, &no.dims)?)?;
    let parts = [condition, yes, no].map(|value| expand(value, &dims));
    let [Some(c), Some(y), Some(n)] = parts else { return Ok(vec![Value::new(yes.dtype, dims)]) };
    let elements = c.iter().zip(y.iter().zip(&n)).map(|(&c, (&y, &n))| if c != 0.0 { y } else { n }).collect();
    Ok(vec![Value::constant(yes.dtype, dims, elements)])
}

fn cast(node: &Node) -> Outputs {
    let to = node.dtype("to")?.ok_or("attribute 'to' is missing")?;
    Ok(vec![cast_to(node.input(0)?, to)])
}

fn cast_like(node: &Node) -> Outputs {
    Ok(vec![cast_to(node.input(0)?, node.input(1)?.dtype)])
}

fn cast_to(value: &Value, dtype: DType) -> Value {
    let convert = |&x: &f64| match dtype {
        DType::Bool => f64::from(x != 0.0),
        _ if is_integer(dtype) => x.trunc(),
        _ => x,
    };
    let known = value.known.as_ref().map(|known| known.iter().map(convert).collect());
    Value { dtype, dims: value.dims.clone(), known }
}

fn bit_cast(node: &Node) -> Outputs {
    let to = node.dtype("to")?.ok_or("attribute 'to' is missing")?;
    Ok(vec![Value::new(to, node.input(0)?.dims.clone())])
}

fn dropout(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let mask = if node.opset < 10 { data.dtype } else { DType::Bool };
    Ok(vec![data.clone(), Value::new(mask, data.dims.clone())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_as_in_numpy() {
        assert_eq!(broadcast(&[3, 1], &[2, 1, 4]), Ok(vec![2, 3, 4]));
        assert_eq!(broadcast(&[], &[5]), Ok(vec![5]));
        assert_eq!(broadcast(&[0], &[1]), Ok(vec![0]));
        assert!(broadcast(&[2], &[3]).is_err());
    }

    #[test]
    fn known_elements_repeat_along_broadcast_axes() {
        let column = Value::constant(DType::I64, [2, 1], vec![1.0, 2.0]);
        assert_eq!(expand(&column, &[2, 3]), Some(vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0]));
        let row = Value::constant(DType::I64, [2], vec![1.0, 2.0]);
        assert_eq!(expand(&row, &[2, 2]), Some(vec![1.0, 2.0, 1.0, 2.0]));
    }
}
