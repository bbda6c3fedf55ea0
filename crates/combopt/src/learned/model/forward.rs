//! Equations 1 and 2 for a batch: the kernels NU, EG, EWG, ES, EM and NS of section 4.5, fused chunk by chunk.

use super::weights::{FIXED, Weights, add_scaled, fix};
use super::{Evaluation, Ranks};
use crate::learned::exchange::exchange;
use crate::learned::kernels::{add_product, dot, sum_neighbours};
use crate::learned::sample::{Batch, Chunk, split};
use labrys_comm::CommError;
use rayon::prelude::*;

/// Rows that go through the dense products together: their values stay in the nearest cache.
const TILE: usize = 64;

pub(super) fn evaluate(weights: &Weights<'_>, ranks: Ranks<'_>, batch: &Batch<'_>) -> Result<Evaluation, CommError> {
    let chunks = batch.chunks();
    let mut rounds = vec![];
    for round in 0..weights.layers {
        let before = rounds.last().map(|rows: &Vec<f32>| rows.as_slice());
        let buffer = before.map(|rows| exchange(ranks.comm, ranks.mode, batch, rows, weights.width)).transpose()?;
        let embeddings = embed(weights, batch, &chunks, round, before.zip(buffer.as_deref()));
        drop(buffer);
        rounds.push(embeddings);
    }
    let last = rounds.last().map_or(&[][..], |rows| rows.as_slice());
    let own = score(weights, &chunks, last);
    let sums = sum_up(weights.width, ranks, batch, &chunks, last)?;
    let common = sums.chunks_exact(weights.width).map(|sum| common(weights, sum)).collect();
    Ok(Evaluation { own, common, rounds, sums })
}

/// One round of equation 1 for all local rows.
fn embed(
    weights: &Weights<'_>,
    batch: &Batch<'_>,
    chunks: &[Chunk],
    round: usize,
    before: Option<(&[f32], &[f32])>,
) -> Vec<f32> {
    let mut embeddings = vec![0.0; batch.rows() * weights.width];
    let parts = split(&mut embeddings, chunks, weights.width);
    chunks.par_iter().zip(parts).for_each(|(chunk, out)| {
        let state = &batch.samples[chunk.sample];
        let rows: Vec<usize> = chunk.rows.clone().collect();
        for (rows, out) in rows.chunks(TILE).zip(out.chunks_mut(TILE * weights.width)) {
            let tile = Tile { weights, rows: rows[0]..rows[0] + rows.len(), chunk };
            let features = |row: usize| &state.features[row * weights.features..(row + 1) * weights.features];
            for (&row, out) in rows.iter().zip(out.chunks_exact_mut(weights.width)) {
                weights.base(features(row), state.weights[row], out);
            }
            if let Some((own, buffer)) = before {
                tile.add_messages(batch, round, own, buffer, out);
            }
            out.iter_mut().for_each(|value| *value = relu(*value));
        }
    });
    embeddings
}

/// A few rows of a chunk.
struct Tile<'t> {
    weights: &'t Weights<'t>,
    rows: std::ops::Range<usize>,
    chunk: &'t Chunk,
}

impl Tile<'_> {
    /// What comes from the round before: neighbours' rows, and the rows' own ones.
    fn add_messages(&self, batch: &Batch<'_>, round: usize, own: &[f32], buffer: &[f32], out: &mut [f32]) {
        let width = self.weights.width;
        let state = &batch.samples[self.chunk.sample];
        let buffer = &buffer[batch.positions[self.chunk.sample] * width..];
        let mut sums = vec![0.0; self.rows.len() * width];
        sum_neighbours(state.neighbours(&self.rows), buffer, width, &mut sums);
        if self.weights.mean {
            divide(&mut sums, &state.degrees[self.rows.clone()], width);
        }
        let (near, itself) = self.weights.rounds[round - 1];
        add_product(&sums, near, out, width, width);
        if let Some(itself) = itself {
            let start = (batch.starts[self.chunk.sample] + self.rows.start) * width;
            add_product(&own[start..start + out.len()], itself, out, width, width);
        }
    }
}

/// Rows divided by numbers of neighbours.
pub(crate) fn divide(rows: &mut [f32], degrees: &[u32], width: usize) {
    for (row, &degree) in rows.chunks_exact_mut(width).zip(degrees) {
        let factor = 1.0 / degree.max(1) as f32;
        row.iter_mut().for_each(|value| *value *= factor);
    }
}

#[inline]
pub(crate) fn relu(value: f32) -> f32 {
    if value > 0.0 { value } else { 0.0 }
}

/// The node's part of equation 2 for some rows.
pub(crate) fn score_rows(weights: &Weights<'_>, embeddings: &[f32], scores: &mut [f32]) {
    let mut hidden = vec![0.0; embeddings.len()];
    add_product(embeddings, weights.theta6, &mut hidden, weights.width, weights.width);
    hidden.iter_mut().for_each(|value| *value = relu(*value));
    for (score, row) in scores.iter_mut().zip(hidden.chunks_exact(weights.width)) {
        // Not -0, which an all-reduce would not keep.
        *score = dot(row, weights.theta7.1) + 0.0;
    }
}

fn score(weights: &Weights<'_>, chunks: &[Chunk], last: &[f32]) -> Vec<f32> {
    let mut scores = vec![0.0; last.len() / weights.width];
    let parts = split(&mut scores, chunks, 1);
    chunks.par_iter().zip(parts).for_each(|(chunk, scores)| {
        let rows = &last[chunk.stacked.start * weights.width..chunk.stacked.end * weights.width];
        for (rows, scores) in rows.chunks(TILE * weights.width).zip(scores.chunks_mut(TILE)) {
            score_rows(weights, rows, scores);
        }
    });
    scores
}

/// Sums of the last embeddings over all nodes of each state, on all ranks.
fn sum_up(
    width: usize,
    ranks: Ranks<'_>,
    batch: &Batch<'_>,
    chunks: &[Chunk],
    last: &[f32],
) -> Result<Vec<f32>, CommError> {
    let of_chunk = |chunk: &Chunk| {
        let mut sum = vec![0i64; width];
        for row in last[chunk.stacked.start * width..chunk.stacked.end * width].chunks_exact(width) {
            sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += fix(value));
        }
        sum
    };
    let parts: Vec<Vec<i64>> = chunks.par_iter().map(of_chunk).collect();
    let mut sums = vec![0i64; batch.samples.len() * width];
    for (chunk, part) in chunks.iter().zip(parts) {
        let sum = &mut sums[chunk.sample * width..(chunk.sample + 1) * width];
        sum.iter_mut().zip(part).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
    }
    ranks.comm.all_reduce_sum(&mut sums)?;
    Ok(sums.into_iter().map(|sum| sum as f32 / FIXED).collect())
}

/// `theta5` times the sum of a state, through the ReLU.
pub(super) fn hidden_sum(weights: &Weights<'_>, sum: &[f32]) -> Vec<f32> {
    let mut hidden = vec![0.0; weights.width];
    for (&x, theta) in sum.iter().zip(weights.theta5.chunks_exact(weights.width)) {
        add_scaled(&mut hidden, x, theta);
    }
    hidden.iter_mut().for_each(|value| *value = relu(*value));
    hidden
}

/// The part of equation 2 that all nodes of a state have in common.
pub(crate) fn common(weights: &Weights<'_>, sum: &[f32]) -> f32 {
    dot(&hidden_sum(weights, sum), weights.theta7.0)
}
