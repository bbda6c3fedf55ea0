//! Minimum vertex cover: pick nodes until every edge is covered.

use super::{Environment, Features, Problem, RowState, from_owner, owner_says, sample};
use crate::learned::blocks::LocalGraph;
use crate::learned::sample::Sample;
use labrys_comm::{CommError, Communicator};
use serde::{Deserialize, Serialize};

/// What a step is worth. Both add up to minus the size of the cover, up to a constant of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// -1 a step, as in the paper.
    Steps,
    /// -1, and what the step takes from the sum of d / (d + 1) over degrees d, which is what remains to be picked if the
    /// independent set is as large as Caro and Wei guarantee. Good steps are rewarded at once.
    #[default]
    CaroWei,
}

/// The problem with its switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VertexCover {
    /// What a node says of itself.
    pub features: Features,
    /// What a step is worth.
    pub reward: Reward,
}

/// Features of a node that has some edges left; a node without is all zero.
pub fn degree_features(degree: u32) -> [f32; 5] {
    if degree == 0 {
        return [0.0; 5];
    }
    let d = degree as f32;
    [1.0, 1.0 / (d + 1.0), 4.0 / (d * (d + 1.0)), 0.25 * d.ln_1p(), if degree == 1 { 1.0 } else { 0.0 }]
}

/// A unit of what remains is 2^-32, so that its sums are exact.
const UNIT: f64 = (1u64 << 32) as f64;

/// Share of a node in what remains to be picked.
fn remaining(degree: u32) -> i64 {
    (f64::from(degree) / (f64::from(degree) + 1.0) * UNIT) as i64
}

impl Problem for VertexCover {
    fn name(&self) -> &'static str {
        "vertex-cover"
    }

    fn features(&self) -> usize {
        match self.features {
            Features::Paper => 1,
            Features::State => degree_features(1).len(),
        }
    }

    fn start<'g>(&self, graph: &'g LocalGraph<'g>) -> Box<dyn Environment<'g> + 'g> {
        let degrees = (0..graph.rows()).map(|row| graph.neighbours(row).len() as u32).collect();
        Box::new(State::new(*self, graph, vec![true; graph.positions()], degrees))
    }

    fn rebuild<'g>(&self, graph: &'g LocalGraph<'g>, actions: &[u32]) -> Sample<'g> {
        let mut alive = vec![true; graph.positions()];
        actions.iter().filter_map(|&v| graph.position_of(v)).for_each(|position| alive[position] = false);
        let own = graph.own_position();
        let degree = |row: usize| match alive[own + row] {
            true => graph.neighbours(row).iter().filter(|&&column| alive[column as usize]).count() as u32,
            false => 0,
        };
        let degrees = (0..graph.rows()).map(degree).collect();
        sample(&State::new(*self, graph, alive, degrees), self.features())
    }
}

struct State<'g> {
    problem: VertexCover,
    graph: &'g LocalGraph<'g>,
    /// By position.
    alive: Vec<bool>,
    /// Remaining edges of each local row.
    degrees: Vec<u32>,
    /// Remaining arcs of the whole graph.
    arcs: u64,
    picked: Vec<u32>,
    touched: Vec<u32>,
}

impl<'g> State<'g> {
    fn new(problem: VertexCover, graph: &'g LocalGraph<'g>, alive: Vec<bool>, degrees: Vec<u32>) -> Self {
        Self { problem, graph, alive, degrees, arcs: graph.arcs(), picked: vec![], touched: vec![] }
    }

    /// Remaining neighbours of a node, on all ranks.
    fn neighbours(&self, comm: &Communicator, node: u32) -> Result<Vec<u32>, CommError> {
        from_owner(comm, self.graph.owner(node), || {
            let row = self.graph.row_of(node).map_or(&[][..], |row| self.graph.neighbours(row));
            let there = row.iter().filter(|&&position| self.alive[position as usize]);
            there.map(|&position| self.graph.node_at(position)).collect()
        })
    }
}

impl<'g> Environment<'g> for State<'g> {
    fn graph(&self) -> &'g LocalGraph<'g> {
        self.graph
    }

    fn step(&mut self, comm: &Communicator, node: u32) -> Result<f32, CommError> {
        let neighbours = self.neighbours(comm, node)?;
        let mut gain = 0;
        self.touched.clear();
        for row in neighbours.iter().filter_map(|&u| self.graph.row_of(u)) {
            gain += remaining(self.degrees[row]) - remaining(self.degrees[row] - 1);
            self.degrees[row] -= 1;
            self.touched.push(row as u32);
        }
        if let Some(row) = self.graph.row_of(node) {
            gain += remaining(self.degrees[row]);
            self.degrees[row] = 0;
            self.touched.push(row as u32);
        }
        if let Some(position) = self.graph.position_of(node) {
            self.alive[position] = false;
        }
        self.arcs -= 2 * neighbours.len() as u64;
        self.picked.push(node);
        if self.problem.reward == Reward::Steps {
            return Ok(-1.0);
        }
        let mut total = [gain];
        comm.all_reduce_sum(&mut total)?;
        Ok((total[0] as f64 / UNIT) as f32 - 1.0)
    }

    fn may_pick(&self, comm: &Communicator, node: u32) -> Result<bool, CommError> {
        owner_says(comm, self.graph, node, |row| self.degrees[row] > 0)
    }

    fn done(&self) -> bool {
        self.arcs == 0
    }

    fn row(&self, row: usize, features: &mut [f32]) -> RowState {
        let degree = self.degrees[row];
        match self.problem.features {
            Features::Paper => features[0] = f32::from(u8::from(!self.alive[self.graph.own_position() + row])),
            Features::State => features.copy_from_slice(&degree_features(degree)),
        }
        RowState { weights: [degree as f32, 0.0], degree, candidate: degree > 0 }
    }

    fn alive(&self) -> Option<&[bool]> {
        Some(&self.alive)
    }

    fn touched(&self) -> &[u32] {
        &self.touched
    }

    fn actions(&self) -> &[u32] {
        &self.picked
    }

    fn objective(&self) -> i64 {
        self.picked.len() as i64
    }
}
