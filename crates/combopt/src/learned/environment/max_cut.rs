//! Maximum cut: move nodes to the other side until no move helps.

use super::{Environment, Features, Problem, RowState, from_owner, owner_says, sample};
use crate::learned::blocks::LocalGraph;
use crate::learned::sample::Sample;
use labrys_comm::{CommError, Communicator};

/// The problem with its switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MaxCut {
    /// What a node says of itself.
    pub features: Features,
}

/// By how much the cut grows when a local row's node changes sides.
fn gain(graph: &LocalGraph<'_>, row: usize, moved: &[bool]) -> f32 {
    let here = moved[graph.own_position() + row];
    let weights = graph.arc_weights(row);
    let arcs = graph.neighbours(row).iter().enumerate();
    arcs.map(|(arc, &column)| {
        let weight = weights.map_or(1.0, |weights| weights[arc]);
        if moved[column as usize] == here { weight } else { -weight }
    })
    .sum()
}

impl Problem for MaxCut {
    fn name(&self) -> &'static str {
        "max-cut"
    }

    fn features(&self) -> usize {
        if self.features == Features::Paper { 1 } else { 5 }
    }

    fn start<'g>(&self, graph: &'g LocalGraph<'g>) -> Box<dyn Environment<'g> + 'g> {
        Box::new(State::new(*self, graph, vec![false; graph.positions()]))
    }

    /// Without a message: gains follow from the sides.
    fn rebuild<'g>(
        &self,
        _: &Communicator,
        graph: &'g LocalGraph<'g>,
        actions: &[u32],
    ) -> Result<Sample<'g>, CommError> {
        let mut moved = vec![false; graph.positions()];
        actions.iter().filter_map(|&v| graph.position_of(v)).for_each(|position| moved[position] = true);
        Ok(sample(&State::new(*self, graph, moved), self.features()))
    }

    fn minimises(&self) -> bool {
        false
    }
}

struct State<'g> {
    problem: MaxCut,
    graph: &'g LocalGraph<'g>,
    /// By position.
    moved: Vec<bool>,
    /// Of local rows.
    gains: Vec<f32>,
    cut: i64,
    picked: Vec<u32>,
    /// The best gain of a candidate, on any rank.
    best: f32,
    touched: Vec<u32>,
}

impl<'g> State<'g> {
    fn new(problem: MaxCut, graph: &'g LocalGraph<'g>, moved: Vec<bool>) -> Self {
        let gains = (0..graph.rows()).map(|row| gain(graph, row, &moved)).collect();
        Self { problem, graph, moved, gains, cut: 0, picked: vec![], best: f32::INFINITY, touched: vec![] }
    }
}

impl<'g> Environment<'g> for State<'g> {
    fn graph(&self) -> &'g LocalGraph<'g> {
        self.graph
    }

    fn step(&mut self, comm: &Communicator, node: u32) -> Result<f32, CommError> {
        let owner = self.graph.owner(node);
        let row = self.graph.row_of(node);
        let reward = from_owner(comm, owner, || row.map(|row| self.gains[row]).into_iter().collect::<Vec<f32>>())?;
        let neighbours = from_owner(comm, owner, || {
            let row = row.map_or(&[][..], |row| self.graph.neighbours(row));
            row.iter().map(|&position| self.graph.node_at(position)).collect::<Vec<u32>>()
        })?;
        let reward = reward.first().copied().unwrap_or_default();
        if let Some(position) = self.graph.position_of(node) {
            self.moved[position] = true;
        }
        self.touched.clear();
        for row in neighbours.iter().chain([&node]).filter_map(|&u| self.graph.row_of(u)) {
            self.gains[row] = gain(self.graph, row, &self.moved);
            self.touched.push(row as u32);
        }
        self.cut += reward as i64;
        self.picked.push(node);
        let own = self.graph.own_position();
        let candidates = self.gains.iter().zip(&self.moved[own..]).filter(|(_, moved)| !**moved);
        let best = candidates.fold(f32::NEG_INFINITY, |best, (&gain, _)| best.max(gain));
        let all = comm.all_gather(&[best], &vec![1; comm.size()])?;
        self.best = all.into_iter().fold(f32::NEG_INFINITY, f32::max);
        Ok(reward)
    }

    fn may_pick(&self, comm: &Communicator, node: u32) -> Result<bool, CommError> {
        owner_says(comm, self.graph, node, |row| !self.moved[self.graph.own_position() + row] && self.gains[row] > 0.0)
    }

    fn done(&self) -> bool {
        self.best <= 0.0 || self.graph.nodes() == 0
    }

    fn row(&self, row: usize, features: &mut [f32]) -> RowState {
        let moved = self.moved[self.graph.own_position() + row];
        let (side, gain, weights) = (f32::from(u8::from(moved)), self.gains[row], self.graph.weights[row]);
        match self.problem.features {
            Features::Paper => features[0] = side,
            Features::State => {
                let share = gain / (weights[0] + weights[1]).max(1.0);
                features.copy_from_slice(&[side, 1.0 - side, share, gain.max(0.0), (-gain).max(0.0)]);
            }
        }
        RowState { weights, degree: self.graph.neighbours(row).len() as u32, candidate: !moved }
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
        self.cut
    }
}
