//! Equations 1 and 2 for a batch: the kernels NU, EG, EWG, ES, EM and NS of section 4.5, fused tile by tile.

use super::weights::{Weights, add_scaled};
use super::{Evaluation, Ranks};
use crate::learned::buffers::Buffer;
use crate::learned::exchange::exchange;
use crate::learned::kernels::{add_fixed, add_product, dot, sum_neighbours, unfix};
use crate::learned::sample::{Batch, Chunk, TILE, split};
use labrys_comm::CommError;
use rayon::prelude::*;

pub(super) fn evaluate(weights: &Weights<'_>, ranks: Ranks<'_>, batch: &Batch<'_>) -> Result<Evaluation, CommError> {
    let (width, chunks) = (weights.width, batch.chunks());
    let mut rounds: Vec<Buffer> = vec![];
    let mut own = vec![0.0; batch.rows()];
    let mut sums = vec![0; batch.samples.len() * width];
    for index in 0..weights.layers {
        let before = rounds.last().map(|rows| &**rows);
        let buffer = before.map(|rows| exchange(ranks.comm, ranks.mode, batch, rows, width)).transpose()?;
        let round = Round { weights, batch, index, before: before.zip(buffer.as_deref()) };
        let mut embeddings = Buffer::of_anything(batch.rows() * width);
        let parts = split(&mut embeddings, &chunks, width);
        if index + 1 < weights.layers {
            chunks.par_iter().zip(parts).for_each(|(chunk, out)| round.embed(chunk, out, |_, _| ()));
        } else {
            round.last(&chunks, parts, &mut own, &mut sums);
        }
        drop(buffer);
        rounds.push(embeddings);
    }
    ranks.comm.all_reduce_sum(&mut sums)?;
    let sums: Vec<f32> = sums.into_iter().map(unfix).collect();
    let common = sums.chunks_exact(width).map(|sum| common(weights, sum)).collect();
    Ok(Evaluation { own, common, rounds, sums })
}

/// A round of equation 1.
struct Round<'r> {
    weights: &'r Weights<'r>,
    batch: &'r Batch<'r>,
    /// Counted from 0.
    index: usize,
    /// Embeddings of the round before: of local rows, and of all positions.
    before: Option<(&'r [f32], &'r [f32])>,
}

impl Round<'_> {
    /// New embeddings of a chunk, tile by tile; `finished` gets each with the index of its first row in the chunk.
    fn embed(&self, chunk: &Chunk, out: &mut [f32], mut finished: impl FnMut(usize, &[f32])) {
        let state = &self.batch.samples[chunk.sample];
        let mut sums = vec![0.0; TILE.min(chunk.rows.len()) * self.weights.width];
        for (tile, out) in chunk.tiles().zip(out.chunks_mut(TILE * self.weights.width)) {
            out.fill(0.0);
            self.weights.add_base(&state.inputs(&tile.rows), out);
            if let Some((own, buffer)) = self.before {
                self.add_messages(&tile, own, buffer, &mut sums[..out.len()], out);
            }
            out.iter_mut().for_each(|value| *value = relu(*value));
            finished(tile.rows.start - chunk.rows.start, out);
        }
    }

    /// What comes from the round before: neighbours' rows, and the rows' own ones.
    fn add_messages(&self, tile: &Chunk, own: &[f32], buffer: &[f32], sums: &mut [f32], out: &mut [f32]) {
        let width = self.weights.width;
        let state = &self.batch.samples[tile.sample];
        let buffer = &buffer[self.batch.positions[tile.sample] * width..];
        sum_neighbours(state.neighbours(&tile.rows), buffer, width, sums);
        if self.weights.mean {
            divide(sums, &state.degrees[tile.rows.clone()], width);
        }
        let (near, itself) = self.weights.rounds[self.index - 1];
        add_product(sums, near, out, width, width);
        if let Some(itself) = itself {
            add_product(&own[tile.stacked.start * width..tile.stacked.end * width], itself, out, width, width);
        }
    }

    /// The last round, with what is made of its embeddings: the nodes' parts of equation 2, and sums over all nodes.
    fn last(&self, chunks: &[Chunk], parts: Vec<&mut [f32]>, own: &mut [f32], sums: &mut [i64]) {
        let width = self.weights.width;
        let embed = |((chunk, out), scores): ((&Chunk, &mut [f32]), &mut [f32])| {
            let mut sum = vec![0i64; width];
            self.embed(chunk, out, |first, rows| {
                score_rows(self.weights, rows, &mut scores[first..first + rows.len() / width]);
                add_fixed(rows, &mut sum);
            });
            sum
        };
        let of_chunks: Vec<Vec<i64>> = chunks.par_iter().zip(parts).zip(split(own, chunks, 1)).map(embed).collect();
        for (chunk, part) in chunks.iter().zip(of_chunks) {
            let sum = &mut sums[chunk.sample * width..(chunk.sample + 1) * width];
            sum.iter_mut().zip(part).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
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
