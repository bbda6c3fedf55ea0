//! Sliding windows: what convolutions and poolings share.

use super::super::node::Node;

/// Kernel, strides, dilations and padding over the spatial axes of `N x C x spatial...`.
pub(super) struct Window {
    pub(super) kernel: Vec<u64>,
    strides: Vec<u64>,
    dilations: Vec<u64>,
    /// Padding before and after each axis.
    pads: Vec<(i64, i64)>,
    /// `SAME_UPPER` or `SAME_LOWER`.
    same: bool,
    ceil: bool,
}

impl Window {
    /// Reads the attributes; `kernel` is the fallback where `kernel_shape` is absent.
    pub(super) fn new(node: &Node, spatial: usize, kernel: Option<&[u64]>) -> Result<Self, String> {
        let kernel = match (positive(node, "kernel_shape", spatial)?, kernel) {
            (Some(own), _) => own,
            (None, Some(fallback)) => fallback.to_vec(),
            (None, None) => return Err("attribute 'kernel_shape' is missing".into()),
        };
        let auto_pad = node.text("auto_pad").unwrap_or("NOTSET");
        Ok(Self {
            kernel,
            strides: positive(node, "strides", spatial)?.unwrap_or_else(|| vec![1; spatial]),
            dilations: positive(node, "dilations", spatial)?.unwrap_or_else(|| vec![1; spatial]),
            pads: if matches!(auto_pad, "NOTSET" | "") { pads(node, spatial)? } else { vec![(0, 0); spatial] },
            same: auto_pad.starts_with("SAME"),
            ceil: node.flag("ceil_mode"),
        })
    }

    /// Spatial shape after a convolution or pooling.
    pub(super) fn forward(&self, input: &[u64]) -> Result<Vec<u64>, String> {
        input.iter().enumerate().map(|(axis, &size)| self.forward_axis(axis, size)).collect()
    }

    fn forward_axis(&self, axis: usize, size: u64) -> Result<u64, String> {
        let stride = i128::from(self.strides[axis]);
        if self.same {
            return Ok(size.div_ceil(self.strides[axis]));
        }
        let (before, after) = self.pads[axis];
        let start_limit = i128::from(size) + i128::from(before);
        let room = start_limit + i128::from(after) - self.extent(axis);
        if room < 0 {
            return Err(format!(
                "the window does not fit: {size} elements and padding {before}+{after} along spatial axis {axis}"
            ));
        }
        let mut steps = room / stride;
        if self.ceil && room % stride != 0 && (steps + 1) * stride < start_limit {
            steps += 1; // a window may end in the padding, but must not start there
        }
        to_size(steps + 1)
    }

    /// Spatial shape after a transposed convolution or unpooling.
    pub(super) fn backward(&self, input: &[u64], output_padding: &[i64]) -> Result<Vec<u64>, String> {
        let size = |(axis, &size): (usize, &u64)| {
            let stride = i128::from(self.strides[axis]);
            if self.same {
                return to_size(i128::from(size) * stride);
            }
            let (before, after) = self.pads[axis];
            let extra = i128::from(output_padding.get(axis).copied().unwrap_or(0));
            to_size(
                stride * (i128::from(size) - 1) + extra + self.extent(axis) - i128::from(before) - i128::from(after),
            )
        };
        input.iter().enumerate().map(size).collect()
    }

    /// Elements that the dilated kernel spans.
    fn extent(&self, axis: usize) -> i128 {
        i128::from(self.dilations[axis]) * (i128::from(self.kernel[axis]) - 1) + 1
    }
}

fn to_size(size: i128) -> Result<u64, String> {
    u64::try_from(size).map_err(|_| format!("a spatial axis of the output would have size {size}"))
}

/// A list of positive integers, one a spatial axis.
fn positive(node: &Node, name: &str, spatial: usize) -> Result<Option<Vec<u64>>, String> {
    let Some(list) = node.ints(name) else { return Ok(None) };
    if list.len() != spatial || list.iter().any(|&x| x < 1) {
        return Err(format!("attribute '{name}' is {list:?}; expected {spatial} positive integers"));
    }
    Ok(Some(list.iter().map(|&x| x as u64).collect()))
}

fn pads(node: &Node, spatial: usize) -> Result<Vec<(i64, i64)>, String> {
    let Some(list) = node.ints("pads") else { return Ok(vec![(0, 0); spatial]) };
    if list.len() != 2 * spatial {
        return Err(format!("attribute 'pads' has {} entries; expected {}", list.len(), 2 * spatial));
    }
    Ok((0..spatial).map(|axis| (list[axis], list[axis + spatial])).collect())
}
