//! The linear model: `own x_v + near sum_u x_u`. Published comparisons find it as good as graph networks on max cut.

use super::{Evaluation, Model, Ranks};
use crate::learned::exchange::exchange;
use crate::learned::sample::Batch;
use labrys_comm::{CommError, ExactSum};
use labrys_nn::{Gradients, Params};

pub(super) fn evaluate(model: &Model, ranks: Ranks<'_>, batch: &Batch<'_>) -> Result<Evaluation, CommError> {
    let sums = near_features(model, ranks, batch)?;
    let features = model.config.features;
    let (own, near) = (parameter(model, "own"), parameter(model, "near"));
    let all = batch.samples.iter().flat_map(|state| state.features.chunks_exact(features));
    let score = |(x, sums): (&[f32], &[f32])| inner(own, x) + inner(near, sums) + 0.0;
    let own = all.zip(sums.chunks_exact(features)).map(score).collect();
    Ok(Evaluation { own, common: vec![0.0; batch.samples.len()], rounds: vec![], sums: vec![] })
}

pub(super) fn gradients(
    model: &Model,
    ranks: Ranks<'_>,
    batch: &Batch<'_>,
    by_score: &[f32],
) -> Result<Gradients, CommError> {
    let features = model.config.features;
    let sums = near_features(model, ranks, batch)?;
    let all = batch.samples.iter().flat_map(|state| state.features.chunks_exact(features));
    let mut total = ExactSum::zeros(2 * features);
    for ((x, sums), &by_score) in all.zip(sums.chunks_exact(features)).zip(by_score) {
        if by_score != 0.0 {
            let scaled = |values: &[f32]| values.iter().map(|value| value * by_score).collect::<Vec<f32>>();
            total.add(0, &scaled(x));
            total.add(features, &scaled(sums));
        }
    }
    ranks.comm.all_reduce_exact(&mut total)?;
    let mut all: Params = model.params.clone();
    for (name, start) in [("own", 0), ("near", features)] {
        let mut values = vec![0.0; features];
        total.read(start, &mut values);
        super::weights::set(&mut all, name, values);
    }
    Ok(Gradients::from_values(&all))
}

/// For each local row, the sum of its neighbours' features.
fn near_features(model: &Model, ranks: Ranks<'_>, batch: &Batch<'_>) -> Result<Vec<f32>, CommError> {
    let features = model.config.features;
    let local: Vec<f32> = batch.samples.iter().flat_map(|state| &state.features).copied().collect();
    let buffer = exchange(ranks.comm, ranks.mode, batch, &local, features)?;
    let mut sums = vec![0.0; local.len()];
    for (sample, state) in batch.samples.iter().enumerate() {
        let buffer = &buffer[batch.positions[sample] * features..];
        let out = &mut sums[batch.starts[sample] * features..batch.starts[sample + 1] * features];
        let alive = |position: usize| state.alive.as_ref().is_none_or(|alive| alive[position]);
        for (row, out) in out.chunks_exact_mut(features).enumerate() {
            let there = alive(state.graph.own_position() + row);
            for &column in state.graph.neighbours(row).iter().filter(|&&column| there && alive(column as usize)) {
                let row = &buffer[column as usize * features..(column as usize + 1) * features];
                out.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        }
    }
    Ok(sums)
}

fn parameter<'m>(model: &'m Model, name: &str) -> &'m [f32] {
    model.params.find(name).map_or(&[], |id| &model.params.get(id).data)
}

/// An inner product of a few values, in order.
fn inner(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
