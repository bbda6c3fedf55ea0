//! Ops that move whole blocks: transpose, join, cut, repeat, pad.

use super::super::node::{Node, axis};
use super::super::value::Value;
use super::elementwise::{broadcast, expand};
use super::views::shape_from;
use super::{Op, Outputs, Table, same_as_input};

pub(super) const OPS: Table = &[
    ("Transpose", Op::new(transpose).moves()),
    ("Concat", Op::new(concat).moves()),
    ("Split", Op::new(split).picks()),
    ("Slice", Op::new(slice).picks()),
    ("Expand", Op::new(expand_to).moves()),
    ("Tile", Op::new(tile).moves()),
    ("Pad", Op::new(pad).moves()),
    ("CenterCropPad", Op::new(center_crop_pad).picks()),
    ("ReverseSequence", Op::new(same_as_input).moves()),
    ("DepthToSpace", Op::new(depth_to_space).moves()),
    ("SpaceToDepth", Op::new(space_to_depth).moves()),
];

fn transpose(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let Some(perm) = node.ints("perm") else {
        return Ok(vec![Value::new(data.dtype, data.dims.iter().rev().copied().collect::<Vec<_>>())]);
    };
    let order = perm.iter().map(|&p| axis(p, data.rank())).collect::<Result<Vec<_>, _>>()?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..data.rank()) {
        return Err(format!("'perm' {perm:?} is no permutation of {} axes", data.rank()));
    }
    Ok(vec![Value::new(data.dtype, order.iter().map(|&i| data.dims[i]).collect::<Vec<_>>())])
}

fn concat(node: &Node) -> Outputs {
    let first = node.input(0)?;
    let axis = axis(node.int_or("axis", 1), first.rank())?;
    let mut dims = first.dims.clone();
    for value in node.present().skip(1) {
        let fits = value.rank() == dims.len() && (0..dims.len()).all(|i| i == axis || value.dims[i] == dims[i]);
        if !fits {
            return Err(format!("shapes {:?} and {:?} do not join along axis {axis}", first.dims, value.dims));
        }
        dims[axis] = dims[axis].saturating_add(value.dims[axis]);
    }
    let joined = || node.present().map(|v| v.known.as_deref()).collect::<Option<Vec<_>>>();
    let known = if first.rank() == 1 { joined() } else { None };
    Ok(vec![match known {
        Some(parts) => Value::constant(first.dtype, dims, parts.concat()),
        None => Value::new(first.dtype, dims),
    }])
}

fn split(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let axis = axis(node.int_or("axis", 0), data.rank())?;
    let sizes = match node.ints_or_input("split", 1)? {
        Some(sizes) => shape_from(&sizes)?,
        None => even_parts(data.dims[axis], node.proto.output.len().max(1) as u64),
    };
    let total = sizes.iter().fold(0u64, |sum, &s| sum.saturating_add(s));
    if total != data.dims[axis] {
        return Err(format!("parts {sizes:?} do not add up to axis {axis} of shape {:?}", data.dims));
    }
    let mut start = 0;
    let part = |size: u64| {
        let mut dims = data.dims.clone();
        dims[axis] = size;
        let range = start..start + size as usize;
        start = range.end;
        match data.known.as_ref().and_then(|known| known.get(range)) {
            Some(elements) if data.rank() == 1 => Value::constant(data.dtype, dims, elements.to_vec()),
            _ => Value::new(data.dtype, dims),
        }
    };
    Ok(sizes.into_iter().map(part).collect())
}

/// All parts equal but the last, which may be smaller.
fn even_parts(total: u64, parts: u64) -> Vec<u64> {
    let size = total.div_ceil(parts);
    (0..parts).map(|i| size.min(total.saturating_sub(size.saturating_mul(i)))).collect()
}

fn slice(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let starts = node.ints_or_input("starts", 1)?.ok_or("'starts' is missing")?;
    let ends = node.ints_or_input("ends", 2)?.ok_or("'ends' is missing")?;
    let axes = node.ints_or_input("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = node.known_ints(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()].iter().any(|&len| len != starts.len()) {
        return Err("'starts', 'ends', 'axes' and 'steps' differ in length".into());
    }
    let mut dims = data.dims.clone();
    let mut cut = (0, 1);
    for (i, &step) in steps.iter().enumerate() {
        let axis = axis(axes[i], data.rank())?;
        let (start, len) = slice_axis(data.dims[axis], starts[i], ends[i], step)?;
        dims[axis] = len;
        cut = (start, step);
    }
    let elements = if data.rank() == 1 && starts.len() == 1 { pick(data, cut, dims[0]) } else { None };
    Ok(vec![match elements {
        Some(elements) => Value::constant(data.dtype, dims, elements),
        None => Value::new(data.dtype, dims),
    }])
}

/// First index and number of elements of `start..end` by `step` on an axis of `size`, clamped as in numpy.
fn slice_axis(size: u64, start: i64, end: i64, step: i64) -> Result<(i64, u64), String> {
    if step == 0 {
        return Err("a slice has step 0".into());
    }
    let size = i64::try_from(size).map_err(|_| "an axis is too long")?;
    let from_front = |index: i64| if index < 0 { index.saturating_add(size) } else { index };
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let start = from_front(start).clamp(low, high);
    let end = from_front(end).clamp(low, high);
    let span = if step > 0 { end - start } else { start - end };
    Ok((start, (span.max(0) as u64).div_ceil(step.unsigned_abs())))
}

fn pick(data: &Value, (start, step): (i64, i64), len: u64) -> Option<Vec<f64>> {
    let known = data.known.as_ref()?;
    let at = |i| known.get(usize::try_from(start.checked_add(step.checked_mul(i)?)?).ok()?).copied();
    (0..len as i64).map(at).collect()
}

fn expand_to(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let shape = shape_from(&node.known_ints(1)?.ok_or("input 1 is missing")?)?;
    let dims = broadcast(&data.dims, &shape)?;
    Ok(vec![match expand(data, &dims) {
        Some(elements) => Value::constant(data.dtype, dims, elements),
        None => Value::new(data.dtype, dims),
    }])
}

fn tile(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let repeats = shape_from(&node.known_ints(1)?.ok_or("input 1 is missing")?)?;
    if repeats.len() != data.rank() {
        return Err(format!("{} repeats for a tensor of rank {}", repeats.len(), data.rank()));
    }
    let dims = data.dims.iter().zip(&repeats).map(|(&d, &r)| d.saturating_mul(r)).collect::<Vec<_>>();
    Ok(vec![Value::new(data.dtype, dims)])
}

fn pad(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let pads = node.ints_or_input(if node.opset < 2 { "paddings" } else { "pads" }, 1)?.ok_or("'pads' is missing")?;
    let axes = match node.known_ints(3)? {
        Some(axes) => axes.iter().map(|&a| axis(a, data.rank())).collect::<Result<Vec<_>, _>>()?,
        None => (0..data.rank()).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(format!("'pads' has {} entries; expected {}", pads.len(), 2 * axes.len()));
    }
    let mut dims = data.dims.clone();
    for (i, &axis) in axes.iter().enumerate() {
        let size = i128::from(data.dims[axis]) + i128::from(pads[i]) + i128::from(pads[i + axes.len()]);
        dims[axis] = u64::try_from(size).map_err(|_| format!("axis {axis} would have size {size}"))?;
    }
    Ok(vec![Value::new(data.dtype, dims)])
}

fn center_crop_pad(node: &Node) -> Outputs {
    let data = node.input(0)?;
    let sizes = shape_from(&node.known_ints(1)?.ok_or("input 1 is missing")?)?;
    let mut dims = data.dims.clone();
    for (i, size) in sizes.into_iter().enumerate() {
        let position = node.ints("axes").map_or(Some(i as i64), |axes| axes.get(i).copied());
        dims[axis(position.ok_or("'axes' is too short")?, data.rank())?] = size;
    }
    Ok(vec![Value::new(data.dtype, dims)])
}

/// Batch, channels, height, width and block size.
fn blocks<'n>(node: &'n Node) -> Result<(&'n Value, [u64; 4], u64), String> {
    let data = node.input(0)?;
    let dims =
        <[u64; 4]>::try_from(&data.dims[..]).map_err(|_| format!("shape {:?} is not N x C x H x W", data.dims))?;
    let block = node.int("blocksize").and_then(|b| u64::try_from(b).ok()).filter(|&b| (1..1 << 20).contains(&b));
    Ok((data, dims, block.ok_or("attribute 'blocksize' is missing or out of range")?))
}

fn depth_to_space(node: &Node) -> Outputs {
    let (data, [n, c, h, w], block) = blocks(node)?;
    Ok(vec![Value::new(data.dtype, [n, c / (block * block), h.saturating_mul(block), w.saturating_mul(block)])])
}

fn space_to_depth(node: &Node) -> Outputs {
    let (data, [n, c, h, w], block) = blocks(node)?;
    Ok(vec![Value::new(data.dtype, [n, c.saturating_mul(block * block), h / block, w / block])])
}

#[cfg(test)]
mod tests {
    use super::{even_parts, slice_axis};

    #[test]
    fn slices_clamp_as_in_numpy() {
        let cases = [
            ((10, 2, 5, 1), (2, 3)),
            ((10, 0, i64::MAX, 1), (0, 10)),
            ((10, -3, i64::MAX, 2), (7, 2)),
            ((10, -1, i64::MIN, -1), (9, 10)),
            ((10, 8, 2, 1), (8, 0)),
            ((0, 0, 5, 1), (0, 0)),
            ((0, -1, i64::MIN, -1), (-1, 0)),
        ];
        for ((size, start, end, step), expected) in cases {
            assert_eq!(slice_axis(size, start, end, step), Ok(expected), "{size} {start}:{end}:{step}");
        }
        assert!(slice_axis(10, 0, 1, 0).is_err());
    }

    #[test]
    fn the_last_part_of_an_uneven_split_is_smaller() {
        assert_eq!(even_parts(7, 3), [3, 3, 1]);
        assert_eq!(even_parts(6, 3), [2, 2, 2]);
        assert_eq!(even_parts(1, 3), [1, 0, 0]);
    }
}
