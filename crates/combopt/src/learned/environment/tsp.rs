//! Travelling salesman: insert nodes where they add least to a partial tour.

use super::{Environment, Features, Problem, RowState, from_owner};
use crate::learned::blocks::LocalGraph;
use labrys_comm::{CommError, Communicator};

/// The problem with its switch. Graphs are complete, weights are distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TravellingSalesman {
    /// What a node says of itself.
    pub features: Features,
}

/// Distance from a local row's node to another node of a complete graph.
fn distance(graph: &LocalGraph<'_>, row: usize, to: u32) -> f32 {
    let node = graph.block().start + row;
    let arc = to as usize - usize::from(to as usize > node);
    if to as usize == node { 0.0 } else { graph.arc_weights(row).map_or(1.0, |weights| weights[arc]) }
}

/// Mean distance of a local row: a unit of length that needs no message.
fn scale(graph: &LocalGraph<'_>, row: usize) -> f32 {
    (graph.weights[row][0] / (graph.nodes().max(2) - 1) as f32).max(f32::MIN_POSITIVE)
}

/// Where a node fits best: the added length and the place in the tour.
fn insertion(graph: &LocalGraph<'_>, row: usize, tour: &[u32], lengths: &[f32]) -> (f32, usize) {
    let to: Vec<f32> = tour.iter().map(|&u| distance(graph, row, u)).collect();
    let added = |place: usize| to[place] + to[(place + 1) % to.len()] - lengths[place];
    let better = |best: (f32, usize), place: usize| if added(place) < best.0 { (added(place), place) } else { best };
    (0..to.len()).fold((f32::INFINITY, 0), better)
}

/// A tour as it grows.
#[derive(Clone, Debug, Default)]
struct Tour {
    nodes: Vec<u32>,
    /// From each node to the next.
    lengths: Vec<f32>,
}

impl Tour {
    /// Puts a node after a place; `to` are its distances to the nodes there and next.
    fn insert(&mut self, node: u32, place: usize, to: [f32; 2]) {
        if self.nodes.is_empty() {
            (self.nodes, self.lengths) = (vec![node], vec![0.0]);
            return;
        }
        self.nodes.insert(place + 1, node);
        self.lengths[place] = to[0];
        self.lengths.insert(place + 1, to[1]);
    }

    /// What the owner of a node says about its insertion: added length, place, and the two distances.
    fn best(&self, graph: &LocalGraph<'_>, row: usize) -> Vec<f32> {
        if self.nodes.is_empty() {
            return vec![0.0; 4];
        }
        let (added, place) = insertion(graph, row, &self.nodes, &self.lengths);
        let next = self.nodes[(place + 1) % self.nodes.len()];
        vec![added, place as f32, distance(graph, row, self.nodes[place]), distance(graph, row, next)]
    }
}

impl Problem for TravellingSalesman {
    fn name(&self) -> &'static str {
        "tsp"
    }

    fn features(&self) -> usize {
        if self.features == Features::Paper { 1 } else { 4 }
    }

    fn start<'g>(&self, graph: &'g LocalGraph<'g>) -> Box<dyn Environment<'g> + 'g> {
        Box::new(State::new(*self, graph))
    }
}

struct State<'g> {
    problem: TravellingSalesman,
    graph: &'g LocalGraph<'g>,
    tour: Tour,
    /// Local rows.
    visited: Vec<bool>,
    length: f64,
    picked: Vec<u32>,
    /// All local rows: a new edge of the tour may change any insertion.
    touched: Vec<u32>,
}

impl<'g> State<'g> {
    fn new(problem: TravellingSalesman, graph: &'g LocalGraph<'g>) -> Self {
        let (visited, touched) = (vec![false; graph.rows()], (0..graph.rows() as u32).collect());
        Self { problem, graph, tour: Tour::default(), visited, length: 0.0, picked: vec![], touched }
    }

    fn insertion_features(&self, row: usize, side: f32) -> [f32; 4] {
        if side > 0.0 || self.tour.nodes.is_empty() {
            return [side, 1.0 - side, 0.0, 0.0];
        }
        let (added, place) = insertion(self.graph, row, &self.tour.nodes, &self.tour.lengths);
        let (unit, near) = (scale(self.graph, row), distance(self.graph, row, self.tour.nodes[place]));
        [side, 1.0 - side, added / unit, near / unit]
    }
}

impl<'g> Environment<'g> for State<'g> {
    fn graph(&self) -> &'g LocalGraph<'g> {
        self.graph
    }

    /// The reward is minus the added length, in tenths of the mean distance from the node to all others.
    fn step(&mut self, comm: &Communicator, node: u32) -> Result<f32, CommError> {
        let row = self.graph.row_of(node);
        let best = from_owner(comm, self.graph.owner(node), || {
            let mut best = row.map_or(vec![0.0; 4], |row| self.tour.best(self.graph, row));
            best.push(row.map_or(1.0, |row| scale(self.graph, row)));
            best
        })?;
        self.tour.insert(node, best[1] as usize, [best[2], best[3]]);
        self.length += f64::from(best[0]);
        self.picked.push(node);
        if let Some(row) = row {
            self.visited[row] = true;
        }
        Ok(-10.0 * best[0] / best[4])
    }

    fn may_pick(&self, _: &Communicator, node: u32) -> Result<bool, CommError> {
        Ok(!self.picked.contains(&node))
    }

    fn done(&self) -> bool {
        self.picked.len() == self.graph.nodes()
    }

    fn row(&self, row: usize, features: &mut [f32]) -> RowState {
        let visited = self.visited[row];
        let side = f32::from(u8::from(visited));
        match self.problem.features {
            Features::Paper => features[0] = side,
            Features::State => features.copy_from_slice(&self.insertion_features(row, side)),
        }
        // Weights are distances to all others: their sum is the unit of length.
        RowState { weights: [1.0, 0.0], degree: self.graph.neighbours(row).len() as u32, candidate: !visited }
    }

    fn alive(&self) -> Option<&[bool]> {
        None
    }

    fn touched(&self) -> &[u32] {
        &self.touched
    }

    fn actions(&self) -> &[u32] {
        &self.picked
    }

    fn objective(&self) -> i64 {
        self.length.round() as i64
    }

    fn solution(&self) -> Vec<u32> {
        self.tour.nodes.clone()
    }
}
