//! Parameters by the names of the paper, and what is derived from them once a pass.

use super::{Model, ModelConfig, ModelKind};
use labrys_nn::{Init, Matrix, Params};
use labrys_search::Seed;

/// A unit of the sums over all nodes is 2^-20.
pub(crate) const FIXED: f32 = (1 << 20) as f32;

/// An embedding's value as an integer: sums of these depend neither on order nor on grouping, and a running sum stays exact.
#[inline]
pub(crate) fn fix(value: f32) -> i64 {
    /// Beyond it, a sum over 2^20 nodes might wrap around.
    const MOST: f32 = (1u64 << 42) as f32;
    (value * FIXED).min(MOST) as i64
}

/// Parameters ready for use: right factors of products with rows.
pub(crate) struct Weights<'p> {
    /// K.
    pub width: usize,
    /// Length of `x_v`.
    pub features: usize,
    /// L.
    pub layers: usize,
    /// Whether sums of neighbours are divided by their number.
    pub mean: bool,
    pub theta1: &'p [f32],
    /// `theta3 relu(theta2)` and `theta3 relu(-theta2)`: `sum_u relu(theta2 w(v, u))` is the first times the sum of
    /// positive weights plus the second times that of negative ones.
    pub edge: [Vec<f32>; 2],
    /// Weights for the neighbours, and for the node, of each round but the first.
    pub rounds: Vec<(&'p [f32], Option<&'p [f32]>)>,
    pub theta5: &'p [f32],
    pub theta6: &'p [f32],
    /// `theta7` for the state and for the node.
    pub theta7: (&'p [f32], &'p [f32]),
}

/// Name of the neighbours' weights in a round; rounds count from 2.
pub(super) fn near(config: &ModelConfig, round: usize) -> String {
    if config.own_rounds() { format!("theta4.{round}") } else { "theta4".into() }
}

/// Name of the node's own weights in a round.
pub(super) fn own(round: usize) -> String {
    format!("self.{round}")
}

/// Draws parameters. Those behind sums start small, as sums grow with degrees and with the graph.
pub(super) fn init(config: &ModelConfig, seed: Seed) -> Params {
    let (k, f) = (config.dimension, config.features);
    let mut rng = seed.stream("model", 0);
    let mut params = Params::new();
    let mut add = |name: &str, shape, scale: f32| {
        let id = params.add(name, shape, Init::Glorot, &mut rng);
        params.get_mut(id).data.iter_mut().for_each(|value| *value *= scale);
    };
    if config.kind == ModelKind::Linear {
        ["own", "near"].iter().for_each(|name| add(name, (f, 1), 0.1));
        return params;
    }
    add("theta1", (f, k), 1.0);
    add("theta2", (1, k), 1.0);
    add("theta3", (k, k), 0.1);
    if !config.own_rounds() {
        add("theta4", (k, k), 0.1);
    }
    for round in 2..=config.layers {
        if config.own_rounds() {
            add(&near(config, round), (k, k), if config.kind == ModelKind::GraphSage { 1.0 } else { 0.1 });
            add(&own(round), (k, k), 1.0);
        }
    }
    add("theta5", (k, k), 0.01);
    add("theta6", (k, k), 1.0);
    add("theta7", (2 * k, 1), 0.5);
    params
}

impl<'p> Weights<'p> {
    pub(crate) fn new(model: &'p Model) -> Self {
        let (config, params) = (&model.config, &model.params);
        let get = |name: &str| params.find(name).map_or(&[][..], |id| &params.get(id).data);
        let width = config.dimension;
        let rounds = (2..=config.layers).map(|round| {
            let own = config.own_rounds().then(|| get(&own(round)));
            (get(&near(config, round)), own)
        });
        Self {
            width,
            features: config.features,
            layers: config.layers,
            mean: config.kind == ModelKind::GraphSage,
            theta1: get("theta1"),
            edge: [1.0, -1.0].map(|sign| edge_row(get("theta2"), get("theta3"), sign)),
            rounds: rounds.collect(),
            theta5: get("theta5"),
            theta6: get("theta6"),
            theta7: get("theta7").split_at(width),
        }
    }

    /// `theta1 x_v` and the sum over edges' weights, added up in `row`.
    #[inline]
    pub(crate) fn base(&self, features: &[f32], weights: [f32; 2], row: &mut [f32]) {
        row.fill(0.0);
        for (&x, theta) in features.iter().zip(self.theta1.chunks_exact(self.width)) {
            add_scaled(row, x, theta);
        }
        for (&weight, theta) in weights.iter().zip(&self.edge) {
            add_scaled(row, weight, theta);
        }
    }
}

/// `relu(sign theta2) theta3` as a row.
fn edge_row(theta2: &[f32], theta3: &[f32], sign: f32) -> Vec<f32> {
    let mut row = vec![0.0; theta2.len()];
    for (&x, theta) in theta2.iter().zip(theta3.chunks_exact(theta2.len().max(1))) {
        add_scaled(&mut row, (x * sign).max(0.0), theta);
    }
    row
}

/// `row += factor other`; nothing is done for a factor of 0.
#[inline]
pub(crate) fn add_scaled(row: &mut [f32], factor: f32, other: &[f32]) {
    if factor != 0.0 {
        row.iter_mut().zip(other).for_each(|(sum, x)| *sum += factor * x);
    }
}

/// A square matrix the other way round.
pub(crate) fn transpose(matrix: &[f32], width: usize) -> Vec<f32> {
    let mut out = vec![0.0; matrix.len()];
    for (i, row) in matrix.chunks_exact(width).enumerate() {
        row.iter().enumerate().for_each(|(j, &value)| out[j * width + i] = value);
    }
    out
}

/// A parameter's gradient: a matrix of the parameter's shape.
pub(crate) fn set(gradients: &mut Params, name: &str, values: Vec<f32>) {
    if let Some(id) = gradients.find(name) {
        let (rows, cols) = gradients.get(id).shape();
        *gradients.get_mut(id) = Matrix::new(rows, cols, values);
    }
}
