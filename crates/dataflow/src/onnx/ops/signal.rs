//! Fourier transforms and windows.

use super::super::node::{Node, axis};
use super::super::value::{Value, product};
use super::views::scalar;
use super::{Op, Outputs, Table};
use crate::graph::DType;

pub(super) const OPS: Table = &[
    ("DFT", Op::new(dft).flops(fft_flops)),
    ("STFT", Op::new(stft).flops(fft_flops)),
    ("MelWeightMatrix", Op::new(mel)),
    ("HannWindow", Op::new(window)),
    ("HammingWindow", Op::new(window)),
    ("BlackmanWindow", Op::new(window)),
];

fn count(node: &Node, input: usize) -> Result<u64, String> {
    let value = node.input(input)?;
    scalar(value)
        .filter(|&x| x >= 0.0)
        .map(|x| x as u64)
        .ok_or_else(|| format!("input {input} is computed at run time"))
}

fn one_sided(node: &Node, length: u64) -> u64 {
    if node.flag("onesided") { length / 2 + 1 } else { length }
}

/// The last axis holds the real and imaginary parts.
fn dft(node: &Node) -> Outputs {
    let signal = node.input(0)?;
    let given = match node.known_ints(2)? {
        Some(axis) => axis.first().copied(),
        None => node.int("axis"),
    };
    let along = axis(given.unwrap_or(if node.opset < 20 { 1 } else { -2 }), signal.rank())?;
    let back_to_reals = node.flag("inverse") && node.flag("onesided");
    let mut dims = signal.dims.clone();
    let length = match node.get(1) {
        Some(_) => count(node, 1)?,
        None if back_to_reals => dims[along].saturating_sub(1).saturating_mul(2),
        None => dims[along],
    };
    dims[along] = if back_to_reals { length } else { one_sided(node, length) };
    if let Some(last) = dims.last_mut() {
        *last = if back_to_reals { 1 } else { 2 };
    }
    Ok(vec![Value::new(signal.dtype, dims)])
}

/// Batch x frames x frequencies x 2.
fn stft(node: &Node) -> Outputs {
    let signal = node.input(0)?;
    let [batch, length, ..] = signal.dims[..] else { return Err("the signal is not batch x length".into()) };
    let step = count(node, 1)?;
    let frame = match node.get(3) {
        Some(_) => count(node, 3)?,
        None => node.input(2)?.dims.first().copied().ok_or("the window is a scalar")?,
    };
    let room = length.checked_sub(frame).ok_or("the signal is shorter than a frame")?;
    let frames = room.checked_div(step).ok_or("the frame step is 0")? + 1;
    let onesided = if node.int_or("onesided", 1) != 0 { frame / 2 + 1 } else { frame };
    Ok(vec![Value::new(signal.dtype, [batch, frames, onesided, 2])])
}

/// 5 n log2 n, the usual count for a fast Fourier transform.
fn fft_flops(_: &Node, outputs: &[Value]) -> u64 {
    let Some(output) = outputs.first() else { return 0 };
    let longest = output.dims.iter().copied().max().unwrap_or(1).max(2);
    product(&output.dims).saturating_mul(5 * u64::from(longest.ilog2()))
}

fn mel(node: &Node) -> Outputs {
    let (bins, length) = (count(node, 0)?, count(node, 1)?);
    Ok(vec![Value::new(node.dtype("output_datatype")?.unwrap_or(DType::F32), [length / 2 + 1, bins])])
}

fn window(node: &Node) -> Outputs {
    Ok(vec![Value::new(node.dtype("output_datatype")?.unwrap_or(DType::F32), [count(node, 0)?])])
}
