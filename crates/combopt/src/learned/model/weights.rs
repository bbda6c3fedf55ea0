//! Parameters by the names of the paper, and what is derived from them once a pass.

use super::{Model, ModelConfig, ModelKind};
use crate::learned::kernels::add_product;
use labrys_nn::{Init, Matrix, Params};
use labrys_search::Seed;

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
    /// `theta1`, then rows for the sum of a node's positive weights and that of its negative ones: `theta3 relu(theta2)`
    /// and `theta3 relu(-theta2)`, so that their sum is `theta3 sum_u relu(theta2 w(v, u))`.
    pub base: Vec<f32>,
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
            base: [
                get("theta1").to_vec(),
                edge_row(get("theta2"), get("theta3"), 1.0),
                edge_row(get("theta2"), get("theta3"), -1.0),
            ]
            .concat(),
            rounds: rounds.collect(),
            theta5: get("theta5"),
            theta6: get("theta6"),
            theta7: get("theta7").split_at(width),
        }
    }

    /// Adds `theta1 x_v` and the sum over edges' weights; each row of `inputs` is what [`push_inputs`] makes.
    pub(crate) fn add_base(&self, inputs: &[f32], rows: &mut [f32]) {
        add_product(inputs, &self.base, rows, self.features + 2, self.width);
    }
}

/// What a node brings into equation 1 besides its neighbours: `x_v`, and the sums of its edges' weights.
pub(crate) fn push_inputs(inputs: &mut Vec<f32>, features: &[f32], weights: [f32; 2]) {
    inputs.extend_from_slice(features);
    inputs.extend_from_slice(&weights);
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
