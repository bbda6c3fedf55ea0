//! Maximum independent set: a picked node takes its neighbours away, until no node is left.

use super::remainder::Remainder;
use super::{Environment, Features, Problem, Reward, RowState, owner_says};
use crate::learned::blocks::LocalGraph;
use labrys_comm::{CommError, Communicator};

/// The problem with its switches. On the complement of a graph it is the maximum clique.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IndependentSet {
    /// What a node says of itself.
    pub features: Features,
    /// What a step is worth.
    pub reward: Reward,
}

impl Problem for IndependentSet {
    fn name(&self) -> &'static str {
        "independent-set"
    }

    fn features(&self) -> usize {
        self.features.of_degrees()
    }

    fn start<'g>(&self, graph: &'g LocalGraph<'g>) -> Box<dyn Environment<'g> + 'g> {
        let chosen = vec![false; graph.rows()];
        Box::new(State { problem: *self, left: Remainder::whole(graph), nodes: graph.nodes(), chosen, picked: vec![] })
    }

    fn minimises(&self) -> bool {
        false
    }
}

struct State<'g> {
    problem: IndependentSet,
    /// Without the picked nodes and their neighbours.
    left: Remainder<'g>,
    /// Number of nodes that are left.
    nodes: usize,
    /// Whether each local row's node is picked.
    chosen: Vec<bool>,
    picked: Vec<u32>,
}

impl<'g> Environment<'g> for State<'g> {
    fn graph(&self) -> &'g LocalGraph<'g> {
        self.left.graph
    }

    fn step(&mut self, comm: &Communicator, node: u32) -> Result<f32, CommError> {
        let mut gone = self.left.neighbours(comm, node)?;
        gone.push(node);
        self.left.remove(comm, &gone)?;
        self.nodes -= gone.len();
        self.picked.push(node);
        if let Some(row) = self.left.graph.row_of(node) {
            self.chosen[row] = true;
        }
        Ok(match self.problem.reward {
            Reward::Steps => 1.0,
            Reward::CaroWei => 1.0 - gone.len() as f32 + self.left.freed(comm)?,
        })
    }

    fn may_pick(&self, comm: &Communicator, node: u32) -> Result<bool, CommError> {
        owner_says(comm, self.left.graph, node, |row| self.left.has(row))
    }

    fn done(&self) -> bool {
        self.nodes == 0
    }

    fn row(&self, row: usize, features: &mut [f32]) -> RowState {
        let degree = self.left.degrees[row];
        self.problem.features.write(self.chosen[row], degree, features);
        RowState { weights: [degree as f32, 0.0], degree, candidate: self.left.has(row) }
    }

    fn alive(&self) -> Option<&[bool]> {
        Some(&self.left.alive)
    }

    fn touched(&self) -> &[u32] {
        &self.left.touched
    }

    fn actions(&self) -> &[u32] {
        &self.picked
    }

    fn objective(&self) -> i64 {
        self.picked.len() as i64
    }
}
