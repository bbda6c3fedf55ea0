//! What the model sees of a state: numbers for each node, and which nodes still have edges.

use super::blocks::LocalGraph;
use super::kernels::Neighbours;
use super::model::push_inputs;
use std::ops::Range;

/// A state of one graph, on one rank.
#[derive(Clone, Debug)]
pub struct Sample<'g> {
    /// The graph.
    pub graph: &'g LocalGraph<'g>,
    /// Whether the node at a position still has edges; without it, all have.
    pub alive: Option<Vec<bool>>,
    /// x_v of equation 1, row by row.
    pub features: Vec<f32>,
    /// Sums of the positive and of minus the negative weights of each local row's remaining edges.
    pub weights: Vec<[f32; 2]>,
    /// Number of remaining edges of each local row.
    pub degrees: Vec<u32>,
    /// Whether each local node may be picked.
    pub candidates: Vec<bool>,
}

impl Sample<'_> {
    /// What some rows bring into equation 1 besides their neighbours.
    pub(crate) fn inputs(&self, rows: &Range<usize>) -> Vec<f32> {
        let width = self.features.len() / self.graph.rows().max(1);
        let mut inputs = Vec::with_capacity(rows.len() * (width + 2));
        let features = self.features[rows.start * width..rows.end * width].chunks_exact(width.max(1));
        features.zip(&self.weights[rows.clone()]).for_each(|(x, &weights)| push_inputs(&mut inputs, x, weights));
        inputs
    }

    /// The arcs of some rows.
    pub(crate) fn neighbours(&self, rows: &Range<usize>) -> Neighbours<'_> {
        Neighbours {
            offsets: &self.graph.offsets()[rows.start..=rows.end],
            columns: self.graph.columns(),
            alive: self.alive.as_deref(),
            own: self.graph.own_position() + rows.start,
        }
    }
}

/// States of several graphs that go through the model together: `B x N x K` of the paper, rows back to back.
#[derive(Clone, Debug)]
pub struct Batch<'g> {
    /// The states.
    pub samples: Vec<Sample<'g>>,
    /// Where each state's rows begin among all local rows; one more than there are states.
    pub(crate) starts: Vec<usize>,
    /// Where each state's positions begin in the exchanged buffer; one more than there are states.
    pub(crate) positions: Vec<usize>,
}

/// Rows of one state that are computed together; the same rows whatever the number of ranks.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub sample: usize,
    /// Rows within the state.
    pub rows: Range<usize>,
    /// Rows within the batch.
    pub stacked: Range<usize>,
}

/// Rows that go through the dense products together: their values stay in the nearest cache.
pub(crate) const TILE: usize = 64;

impl Chunk {
    /// The chunk in parts of [`TILE`] rows.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Self> + '_ {
        let part = move |begin: usize| {
            let length = TILE.min(self.rows.len() - begin);
            let [rows, stacked] = [&self.rows, &self.stacked].map(|all| all.start + begin..all.start + begin + length);
            Self { sample: self.sample, rows, stacked }
        };
        (0..self.rows.len()).step_by(TILE).map(part)
    }
}

impl<'g> Batch<'g> {
    /// Puts states together.
    pub fn new(samples: Vec<Sample<'g>>) -> Self {
        let ends = |length: fn(&Sample) -> usize| {
            let mut starts = vec![0];
            for sample in &samples {
                starts.push(starts[starts.len() - 1] + length(sample));
            }
            starts
        };
        let (starts, positions) = (ends(|sample| sample.graph.rows()), ends(|sample| sample.graph.positions()));
        Self { samples, starts, positions }
    }

    /// Local rows of all states.
    pub fn rows(&self) -> usize {
        self.starts[self.samples.len()]
    }

    pub(crate) fn chunks(&self) -> Vec<Chunk> {
        let mut chunks = vec![];
        for (sample, state) in self.samples.iter().enumerate() {
            let (rows, length) = (state.graph.rows(), super::blocks::chunk_length(state.graph.nodes()));
            for begin in (0..rows).step_by(length) {
                let rows = begin..rows.min(begin + length);
                let stacked = self.starts[sample] + rows.start..self.starts[sample] + rows.end;
                chunks.push(Chunk { sample, rows, stacked });
            }
        }
        chunks
    }
}

/// Splits values that lie row by row into those of each chunk.
pub(crate) fn split<'v, T>(mut values: &'v mut [T], chunks: &[Chunk], width: usize) -> Vec<&'v mut [T]> {
    let mut parts = vec![];
    for chunk in chunks {
        let (part, rest) = values.split_at_mut(chunk.rows.len() * width);
        parts.push(part);
        values = rest;
    }
    parts
}
