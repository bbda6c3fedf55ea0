//! Derivatives of equations 1 and 2, by hand.
//!
//! Adjacency is symmetric, so that the derivative by the neighbours' rows is again a sum of neighbours' rows: the backward
//! pass exchanges as the forward pass does, and needs no reduce-scatter. Sums over rows are [`ExactSum`]s of chunks.

use super::forward::{divide, hidden_sum};
use super::weights::{Weights, add_scaled, near, own, set, transpose};
use super::{Evaluation, Model, Ranks};
use crate::learned::buffers::Buffer;
use crate::learned::exchange::exchange;
use crate::learned::kernels::{add_product, add_transposed_product, dot, sum_neighbours};
use crate::learned::sample::{Batch, Chunk, TILE, split};
use labrys_comm::{CommError, ExactSum};
use labrys_nn::{Gradients, Params};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

pub(super) fn gradients(
    model: &Model,
    weights: &Weights<'_>,
    ranks: Ranks<'_>,
    batch: &Batch<'_>,
    evaluation: &Evaluation,
    by_score: &[f32],
) -> Result<Gradients, CommError> {
    let pass = Pass { weights, batch, evaluation, by_score, chunks: batch.chunks(), slots: Slots::new(weights) };
    let totals = pass.score_totals(ranks)?;
    let (by_sum, state) = pass.common(&totals);
    let mut sum = ExactSum::zeros(pass.slots.len);
    let mut rows = pass.last_round(&by_sum, &mut sum);
    for round in (1..weights.layers).rev() {
        let messages = if weights.mean { Cow::Owned(pass.divided(&rows)) } else { Cow::Borrowed(&*rows) };
        let buffer = exchange(ranks.comm, ranks.mode, batch, &messages, weights.width)?;
        rows = pass.round(round, &rows, &buffer, &mut sum);
    }
    ranks.comm.all_reduce_exact(&mut sum)?;
    let mut values = vec![0.0; pass.slots.len];
    sum.read(0, &mut values);
    Ok(pass.collect(model, &values, &state))
}

/// Where the sums over rows of each parameter stand.
struct Slots {
    /// Derivatives by [`Weights::base`].
    base: Range<usize>,
    /// Those of the neighbours' and the node's own weights, by round; the same slot if rounds share them.
    rounds: Vec<(Range<usize>, Option<Range<usize>>)>,
    theta6: Range<usize>,
    theta7: Range<usize>,
    len: usize,
}

impl Slots {
    fn new(weights: &Weights<'_>) -> Self {
        let (k, mut len) = (weights.width, 0);
        let mut next = |size: usize| {
            len += size;
            len - size..len
        };
        let base = next(weights.base.len());
        let shared = weights.rounds.first().is_some_and(|round| round.1.is_none()).then(|| next(k * k));
        let slot = |round: &(&[f32], Option<&[f32]>)| match &shared {
            Some(shared) => (shared.clone(), None),
            None => (next(k * k), round.1.map(|_| next(k * k))),
        };
        let rounds = weights.rounds.iter().map(slot).collect();
        let (theta6, theta7) = (next(k * k), next(k));
        Self { base, rounds, theta6, theta7, len }
    }
}

/// Derivatives by what only the sums of states lead to.
struct StateGradients {
    theta5: Vec<f32>,
    theta7: Vec<f32>,
}

struct Pass<'p> {
    weights: &'p Weights<'p>,
    batch: &'p Batch<'p>,
    evaluation: &'p Evaluation,
    by_score: &'p [f32],
    chunks: Vec<Chunk>,
    slots: Slots,
}

impl Pass<'_> {
    /// The sum of each state's derivatives by scores.
    fn score_totals(&self, ranks: Ranks<'_>) -> Result<Vec<f32>, CommError> {
        let mut sums = ExactSum::zeros(self.batch.samples.len());
        for sample in 0..self.batch.samples.len() {
            let rows = self.batch.starts[sample]..self.batch.starts[sample + 1];
            self.by_score[rows].iter().filter(|&&x| x != 0.0).for_each(|&x| sums.add(sample, &[x]));
        }
        ranks.comm.all_reduce_exact(&mut sums)?;
        let mut totals = vec![0.0; self.batch.samples.len()];
        sums.read(0, &mut totals);
        Ok(totals)
    }

    /// Derivatives by the sums of the last embeddings, and by `theta5` and the state's half of `theta7`.
    fn common(&self, totals: &[f32]) -> (Vec<f32>, StateGradients) {
        let k = self.weights.width;
        let mut by_sum = vec![0.0; totals.len() * k];
        let mut state = StateGradients { theta5: vec![0.0; k * k], theta7: vec![0.0; k] };
        for ((sample, &total), out) in totals.iter().enumerate().zip(by_sum.chunks_exact_mut(k)) {
            let sum = &self.evaluation.sums[sample * k..(sample + 1) * k];
            let hidden = hidden_sum(self.weights, sum);
            add_scaled(&mut state.theta7, total, &hidden);
            let by_hidden: Vec<f32> =
                (0..k).map(|i| if hidden[i] > 0.0 { total * self.weights.theta7.0[i] } else { 0.0 }).collect();
            for (i, theta) in self.weights.theta5.chunks_exact(k).enumerate() {
                add_scaled(&mut state.theta5[i * k..(i + 1) * k], sum[i], &by_hidden);
                out[i] = dot(theta, &by_hidden);
            }
        }
        (by_sum, state)
    }

    /// From scores to derivatives by the last round's values before the ReLU.
    fn last_round(&self, by_sum: &[f32], sum: &mut ExactSum) -> Buffer {
        let (k, round) = (self.weights.width, self.weights.layers - 1);
        let theta6 = transpose(self.weights.theta6, k);
        self.each_tile(sum, |tile, partial, out| {
            for row in out.chunks_exact_mut(k) {
                row.copy_from_slice(&by_sum[tile.sample * k..(tile.sample + 1) * k]);
            }
            self.add_scores(tile, &theta6, partial, out);
            self.through_relu(tile, round, partial, out);
        })
    }

    /// The node's part of equation 2, for rows whose score matters.
    fn add_scores(&self, tile: &Chunk, theta6: &[f32], partial: &mut [f32], out: &mut [f32]) {
        let k = self.weights.width;
        let scored: Vec<usize> =
            (0..tile.rows.len()).filter(|&i| self.by_score[tile.stacked.start + i] != 0.0).collect();
        if scored.is_empty() {
            return;
        }
        let last = self.rows_of(self.weights.layers - 1, tile);
        let mut embeddings = Vec::with_capacity(scored.len() * k);
        scored.iter().for_each(|&i| embeddings.extend_from_slice(&last[i * k..(i + 1) * k]));
        let mut hidden = vec![0.0; embeddings.len()];
        add_product(&embeddings, self.weights.theta6, &mut hidden, k, k);
        for (&i, row) in scored.iter().zip(hidden.chunks_exact_mut(k)) {
            let by_score = self.by_score[tile.stacked.start + i];
            let sums = &mut partial[self.slots.theta7.clone()];
            for ((value, &theta), sum) in row.iter_mut().zip(self.weights.theta7.1).zip(sums) {
                *sum += by_score * value.max(0.0);
                *value = if *value > 0.0 { by_score * theta } else { 0.0 };
            }
        }
        add_transposed_product(&embeddings, &hidden, &mut partial[self.slots.theta6.clone()], k, k);
        let mut back = vec![0.0; embeddings.len()];
        add_product(&hidden, theta6, &mut back, k, k);
        for (&i, row) in scored.iter().zip(back.chunks_exact(k)) {
            add_scaled(&mut out[i * k..(i + 1) * k], 1.0, row);
        }
    }

    /// Through the ReLU of a round, and on to `theta1` and the edges' weights.
    fn through_relu(&self, tile: &Chunk, round: usize, partial: &mut [f32], out: &mut [f32]) {
        let embeddings = self.rows_of(round, tile);
        out.iter_mut().zip(embeddings).for_each(|(x, &e)| *x = if e > 0.0 { *x } else { 0.0 });
        let inputs = self.batch.samples[tile.sample].inputs(&tile.rows);
        let base = &mut partial[self.slots.base.clone()];
        add_transposed_product(&inputs, out, base, self.weights.features + 2, self.weights.width);
    }

    /// From one round's values before the ReLU to those of the round before.
    fn round(&self, round: usize, rows: &[f32], buffer: &[f32], sum: &mut ExactSum) -> Buffer {
        let k = self.weights.width;
        let (near, itself) = self.weights.rounds[round - 1];
        let (near, itself) = (transpose(near, k), itself.map(|own| transpose(own, k)));
        let (near_slot, own_slot) = &self.slots.rounds[round - 1];
        self.each_tile(sum, |tile, partial, out| {
            out.fill(0.0);
            let mut sums = vec![0.0; out.len()];
            let buffer = &buffer[self.batch.positions[tile.sample] * k..];
            sum_neighbours(self.batch.samples[tile.sample].neighbours(&tile.rows), buffer, k, &mut sums);
            let before = self.rows_of(round - 1, tile);
            add_transposed_product(before, &sums, &mut partial[near_slot.clone()], k, k);
            add_product(&sums, &near, out, k, k);
            if let (Some(itself), Some(slot)) = (&itself, own_slot) {
                let rows = &rows[tile.stacked.start * k..tile.stacked.end * k];
                add_transposed_product(before, rows, &mut partial[slot.clone()], k, k);
                add_product(rows, itself, out, k, k);
            }
            self.through_relu(tile, round - 1, partial, out);
        })
    }

    /// Computes new rows tile by tile; what each chunk adds to the parameters' sums is added up exactly.
    fn each_tile(&self, sum: &mut ExactSum, body: impl Fn(&Chunk, &mut [f32], &mut [f32]) + Sync) -> Buffer {
        let k = self.weights.width;
        let mut rows = Buffer::of_anything(self.batch.rows() * k);
        let parts = split(&mut rows, &self.chunks, k);
        let empty = || (ExactSum::zeros(self.slots.len), vec![0.0; self.slots.len]);
        let total = self.chunks.par_iter().zip(parts).fold(empty, |(mut total, mut partial), (chunk, out)| {
            partial.fill(0.0);
            chunk.tiles().zip(out.chunks_mut(TILE * k)).for_each(|(tile, out)| body(&tile, &mut partial, out));
            total.add(0, &partial);
            (total, partial)
        });
        let merged = total.map(|(total, _)| total).reduce_with(|mut a, b| {
            a.merge(&b);
            a
        });
        if let Some(merged) = merged {
            sum.merge(&merged);
        }
        rows
    }

    /// Embeddings of a chunk after a round, counted from 0.
    fn rows_of(&self, round: usize, chunk: &Chunk) -> &[f32] {
        &self.evaluation.rounds[round][chunk.stacked.start * self.weights.width..chunk.stacked.end * self.weights.width]
    }

    /// Rows divided by numbers of neighbours.
    fn divided(&self, rows: &[f32]) -> Vec<f32> {
        let mut rows = rows.to_vec();
        for (chunk, part) in self.chunks.iter().zip(split(&mut rows, &self.chunks, self.weights.width)) {
            divide(part, &self.batch.samples[chunk.sample].degrees[chunk.rows.clone()], self.weights.width);
        }
        rows
    }

    /// Gradients by the names of the parameters.
    fn collect(&self, model: &Model, values: &[f32], state: &StateGradients) -> Gradients {
        let part = |slot: &Range<usize>| values[slot.clone()].to_vec();
        let mut all: Params = model.params.clone();
        let (theta1, edges) = values[self.slots.base.clone()].split_at(self.weights.features * self.weights.width);
        set(&mut all, "theta1", theta1.to_vec());
        let (positive, negative) = edges.split_at(self.weights.width);
        let (theta2, theta3) = self.edge_gradients(model, positive, negative);
        set(&mut all, "theta2", theta2);
        set(&mut all, "theta3", theta3);
        if self.slots.rounds.is_empty() {
            set(&mut all, "theta4", vec![0.0; self.weights.width * self.weights.width]);
        }
        for (round, (near_slot, own_slot)) in (2..).zip(&self.slots.rounds) {
            set(&mut all, &near(&model.config, round), part(near_slot));
            if let Some(slot) = own_slot {
                set(&mut all, &own(round), part(slot));
            }
        }
        set(&mut all, "theta5", state.theta5.clone());
        set(&mut all, "theta6", part(&self.slots.theta6));
        set(&mut all, "theta7", [&state.theta7[..], &values[self.slots.theta7.clone()]].concat());
        Gradients::from_values(&all)
    }

    /// From the rows of [`Weights::base`] that belong to edges to `theta2` and `theta3`.
    fn edge_gradients(&self, model: &Model, positive: &[f32], negative: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let k = self.weights.width;
        let get = |name: &str| model.params.find(name).map_or(&[][..], |id| &model.params.get(id).data);
        let (theta2, theta3) = (get("theta2"), get("theta3"));
        let (mut by2, mut by3) = (vec![0.0; k], vec![0.0; k * k]);
        for i in 0..k {
            let (x, theta) = (theta2[i], &theta3[i * k..(i + 1) * k]);
            add_scaled(&mut by3[i * k..(i + 1) * k], x.max(0.0), positive);
            add_scaled(&mut by3[i * k..(i + 1) * k], (-x).max(0.0), negative);
            by2[i] = match x {
                x if x > 0.0 => dot(theta, positive),
                x if x < 0.0 => -dot(theta, negative),
                _ => 0.0,
            };
        }
        (by2, by3)
    }
}
