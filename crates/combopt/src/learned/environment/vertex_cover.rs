//! Minimum vertex cover: pick nodes until every edge is covered.

use super::remainder::Remainder;
use super::{Environment, Features, Problem, Reward, RowState, owner_says, sample};
use crate::learned::blocks::LocalGraph;
use crate::learned::sample::Sample;
use labrys_comm::{CommError, Communicator};

/// The problem with its switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VertexCover {
    /// What a node says of itself.
    pub features: Features,
    /// What a step is worth.
    pub reward: Reward,
}

impl Problem for VertexCover {
    fn name(&self) -> &'static str {
        "vertex-cover"
    }

    fn features(&self) -> usize {
        self.features.of_degrees()
    }

    fn start<'g>(&self, graph: &'g LocalGraph<'g>) -> Box<dyn Environment<'g> + 'g> {
        Box::new(State { problem: *self, left: Remainder::whole(graph), picked: vec![] })
    }

    /// Without a message: what is left of a graph follows from the picked nodes.
    fn rebuild<'g>(
        &self,
        _: &Communicator,
        graph: &'g LocalGraph<'g>,
        actions: &[u32],
    ) -> Result<Sample<'g>, CommError> {
        let state = State { problem: *self, left: Remainder::without(graph, actions), picked: vec![] };
        Ok(sample(&state, self.features()))
    }
}

struct State<'g> {
    problem: VertexCover,
    /// Without the picked nodes.
    left: Remainder<'g>,
    picked: Vec<u32>,
}

impl<'g> Environment<'g> for State<'g> {
    fn graph(&self) -> &'g LocalGraph<'g> {
        self.left.graph
    }

    fn step(&mut self, comm: &Communicator, node: u32) -> Result<f32, CommError> {
        self.left.remove(comm, &[node])?;
        self.picked.push(node);
        Ok(match self.problem.reward {
            Reward::Steps => -1.0,
            Reward::CaroWei => self.left.freed(comm)? - 1.0,
        })
    }

    fn may_pick(&self, comm: &Communicator, node: u32) -> Result<bool, CommError> {
        owner_says(comm, self.left.graph, node, |row| self.left.degrees[row] > 0)
    }

    fn done(&self) -> bool {
        self.left.arcs == 0
    }

    fn row(&self, row: usize, features: &mut [f32]) -> RowState {
        let degree = self.left.degrees[row];
        self.problem.features.write(!self.left.has(row), degree, features);
        RowState { weights: [degree as f32, 0.0], degree, candidate: degree > 0 }
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
