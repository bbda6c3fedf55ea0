//! Graph problems as environments (section 4.1): states, actions that pick a node, rewards.
//!
//! Each rank keeps what concerns its rows; all ranks take the same steps. Another problem is another file with one
//! implementation of [`Problem`] and one of [`Environment`].

mod independent_set;
mod max_cut;
mod remainder;
mod tsp;
mod vertex_cover;

pub use independent_set::IndependentSet;
pub use max_cut::MaxCut;
pub use tsp::TravellingSalesman;
pub use vertex_cover::VertexCover;

use super::blocks::LocalGraph;
use super::sample::Sample;
use labrys_comm::{CommError, Communicator};
use serde::{Deserialize, Serialize};

/// What a node says of itself: `x_v` of equation 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// As in the paper: whether the node is in the partial solution.
    Paper,
    /// Numbers of the state around the node, such as functions of its degree.
    #[default]
    State,
}

impl Features {
    /// Length of `x_v` where the state around a node is its degree.
    fn of_degrees(self) -> usize {
        match self {
            Self::Paper => 1,
            Self::State => degree_features(1).len(),
        }
    }

    /// Writes `x_v` of a node: whether it is in the partial solution, or what its remaining degree says.
    fn write(self, is_picked: bool, degree: u32, features: &mut [f32]) {
        match self {
            Self::Paper => features[0] = f32::from(u8::from(is_picked)),
            Self::State => features.copy_from_slice(&degree_features(degree)),
        }
    }
}

/// What a step of a cover or an independent set is worth. Both add up to its size, up to a constant of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// -1 a step of a cover, as in the paper, and 1 a step of an independent set.
    Steps,
    /// That, and what the step takes from the sum of d / (d + 1) over degrees d, which is what remains to be picked if the
    /// independent set is as large as Caro and Wei guarantee. Good steps are rewarded at once.
    #[default]
    CaroWei,
}

/// Features of a node that has some edges left; a node without is all zero.
pub fn degree_features(degree: u32) -> [f32; 5] {
    if degree == 0 {
        return [0.0; 5];
    }
    let d = degree as f32;
    [1.0, 1.0 / (d + 1.0), 4.0 / (d * (d + 1.0)), 0.25 * d.ln_1p(), if degree == 1 { 1.0 } else { 0.0 }]
}

/// A graph problem.
pub trait Problem: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Length of `x_v`.
    fn features(&self) -> usize;

    /// The empty solution of a graph.
    fn start<'g>(&self, graph: &'g LocalGraph<'g>) -> Box<dyn Environment<'g> + 'g>;

    /// What the model sees after some steps: `Tuples2Graphs` of section 5.1. All ranks must call it with the same ones.
    ///
    /// The steps are taken again, unless a problem knows a shorter way.
    fn rebuild<'g>(
        &self,
        comm: &Communicator,
        graph: &'g LocalGraph<'g>,
        actions: &[u32],
    ) -> Result<Sample<'g>, CommError> {
        let mut environment = self.start(graph);
        for &node in actions {
            environment.step(comm, node)?;
        }
        Ok(sample(&*environment, self.features()))
    }

    /// Whether a smaller objective is better.
    fn minimises(&self) -> bool {
        true
    }
}

/// What the model sees of one local row, besides its features.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RowState {
    /// Sums of the positive and of minus the negative weights of the remaining edges.
    pub weights: [f32; 2],
    /// Number of remaining edges.
    pub degree: u32,
    /// Whether the node may be picked.
    pub candidate: bool,
}

/// A problem in progress. All ranks call [`step`](Self::step) with the same node.
pub trait Environment<'g> {
    /// The rank's part of the graph.
    fn graph(&self) -> &'g LocalGraph<'g>;

    /// Picks a node and returns the reward.
    fn step(&mut self, comm: &Communicator, node: u32) -> Result<f32, CommError>;

    /// Whether a node is still a candidate.
    fn may_pick(&self, comm: &Communicator, node: u32) -> Result<bool, CommError>;

    /// Whether the solution is complete.
    fn done(&self) -> bool;

    /// What the model sees of a local row; its features are written to a slice.
    fn row(&self, row: usize, features: &mut [f32]) -> RowState;

    /// Whether the node at a position still has edges; none if all have.
    fn alive(&self) -> Option<&[bool]>;

    /// Local rows that the last step changed, once each.
    fn touched(&self) -> &[u32];

    /// The picked nodes, oldest first.
    fn actions(&self) -> &[u32];

    /// Size of the cover, weight of the cut, length of the tour.
    fn objective(&self) -> i64;

    /// The picked nodes as a solution: the cover, one side, or the tour in its order.
    fn solution(&self) -> Vec<u32> {
        self.actions().to_vec()
    }
}

/// What the model sees of all local rows; `features` is the length of `x_v`.
pub fn sample<'g>(environment: &(dyn Environment<'g> + 'g), features: usize) -> Sample<'g> {
    let graph = environment.graph();
    let rows = graph.rows();
    let mut sample = Sample {
        graph,
        alive: environment.alive().map(<[bool]>::to_vec),
        features: vec![0.0; rows * features],
        weights: Vec::with_capacity(rows),
        degrees: Vec::with_capacity(rows),
        candidates: Vec::with_capacity(rows),
    };
    for (row, x) in sample.features.chunks_exact_mut(features).enumerate() {
        let state = environment.row(row, x);
        sample.weights.push(state.weights);
        sample.degrees.push(state.degree);
        sample.candidates.push(state.candidate);
    }
    sample
}

/// Whether the owner of a node says yes, on all ranks.
fn owner_says(
    comm: &Communicator,
    graph: &LocalGraph<'_>,
    node: u32,
    yes: impl Fn(usize) -> bool,
) -> Result<bool, CommError> {
    let mut votes = [u32::from(graph.row_of(node).is_some_and(yes))];
    comm.all_reduce_sum(&mut votes)?;
    Ok(votes[0] > 0)
}

/// The values that the owner of a node has, on all ranks.
fn from_owner<T: labrys_comm::Element>(
    comm: &Communicator,
    owner: usize,
    values: impl FnOnce() -> Vec<T>,
) -> Result<Vec<T>, CommError> {
    let mut own = if comm.rank() == owner { values() } else { vec![] };
    if comm.size() > 1 {
        let mut length = [own.len() as u64];
        comm.broadcast(&mut length, owner)?;
        own.resize(length[0] as usize, T::zeroed());
        comm.broadcast(&mut own, owner)?;
    }
    Ok(own)
}
