//! Ops that only give a tensor another shape or name: no element moves.

use super::super::node::{Node, axes, axis};
use super::super::value::{Value, product};
use super::{Op, Outputs, Table};

pub(super) const OPS: Table = &[
    ("Identity", Op::new(|n| Ok(vec![n.input(0)?.clone()])).view()),
    ("Reshape", Op::new(reshape).view()),
    ("Flatten", Op::new(flatten).view()),
    ("Squeeze", Op::new(squeeze).view()),
    ("Unsqueeze", Op::new(unsqueeze).view()),
];

fn reshape(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let target = node.ints_or_input("shape", 1)?.unwrap_or_default();
    Ok(vec![data.reshaped(reshaped_dims(&data.dims, &target, node.flag("allowzero"))?)])
}

/// `-1` stands for what is left over, `0` for the size of the same axis of the input unless zeros are allowed.
fn reshaped_dims(dims: &[u64], target: &[i64], allow_zero: bool) -> Result<Vec<u64>, String> {
    let mismatch = || format!("shape {dims:?} cannot become {target:?}");
    let mut inferred = None;
    let mut result = Vec::with_capacity(target.len());
    for (i, &size) in target.iter().enumerate() {
        result.push(match size {
            -1 if inferred.is_none() => {
                inferred = Some(i);
                1
            }
            0 if !allow_zero => *dims.get(i).ok_or_else(mismatch)?,
            _ => u64::try_from(size).map_err(|_| mismatch())?,
        });
    }
    let (from, to) = (product(dims), product(&result));
    match inferred {
        Some(i) => result[i] = from.checked_div(to).unwrap_or(0),
        None => return if from == to { Ok(result) } else { Err(mismatch()) },
    }
    if product(&result) == from { Ok(result) } else { Err(mismatch()) }
}

fn flatten(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let at = match node.int_or("axis", 1) {
        end if end == data.rank() as i64 => data.rank(),
        inner => axis(inner, data.rank())?,
    };
    let (outer, inner) = data.dims.split_at(at);
    Ok(vec![data.reshaped(vec![product(outer), product(inner)])])
}

fn squeeze(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let dropped = match node.ints_or_input("axes", 1)? {
        Some(list) => axes(&list, data.rank())?,
        None => (0..data.rank()).filter(|&i| data.dims[i] == 1).collect(),
    };
    if let Some(&bad) = dropped.iter().find(|&&i| data.dims[i] != 1) {
        return Err(format!("axis {bad} of shape {:?} is not 1", data.dims));
    }
    let dims = (0..data.rank()).filter(|i| !dropped.contains(i)).map(|i| data.dims[i]).collect();
    Ok(vec![data.reshaped(dims)])
}

fn unsqueeze(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let list = node.ints_or_input("axes", 1)?.ok_or("'axes' is missing")?;
    let rank = data.rank() + list.len();
    let added = axes(&list, rank)?;
    if added.len() != list.len() {
        return Err(format!("axes {list:?} repeat"));
    }
    let mut rest = data.dims.iter();
    let dims = (0..rank).map(|i| if added.contains(&i) { 1 } else { rest.next().copied().unwrap_or(1) }).collect();
    Ok(vec![data.reshaped(dims)])
}

/// Shape of a value that holds a shape, for rules elsewhere.
pub(super) fn shape_from(list: &[i64]) -> Result<Vec<u64>, String> {
    list.iter().map(|&d| u64::try_from(d).map_err(|_| format!("negative dimension in shape {list:?}"))).collect()
}

/// A scalar constant.
pub(super) fn scalar(value: &Value) -> Option<f64> {
    value.known.as_ref()?.first().copied()
}

#[cfg(test)]
mod tests {
    use super::reshaped_dims;

    #[test]
    fn reshape_resolves_minus_one_and_zero() {
        assert_eq!(reshaped_dims(&[2, 3, 4], &[0, -1], false), Ok(vec![2, 12]));
        assert_eq!(reshaped_dims(&[0, 3], &[0, 3], true), Ok(vec![0, 3]));
        assert_eq!(reshaped_dims(&[], &[-1], false), Ok(vec![1]));
        assert!(reshaped_dims(&[2, 3], &[-1, -1], false).is_err());
        assert!(reshaped_dims(&[2, 3], &[4, -1], false).is_err());
        assert!(reshaped_dims(&[2, 3], &[7], false).is_err());
    }
}
