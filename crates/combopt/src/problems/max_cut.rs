//! Max cut: a picked node moves to the other side; the reward is the change of the cut.

use crate::problem::{Environment, Step};
use labrys_graph::Graph;

/// All nodes begin on one side, each may move once; the episode is over when no move helps.
#[derive(Clone, Debug)]
pub struct MaxCutEnv<'g> {
    graph: &'g Graph,
    moved: Vec<bool>,
    /// What moving a node adds to the cut.
    gain: Vec<i64>,
    /// Nodes that have not moved and would add to the cut.
    helpful: usize,
    picked: Vec<u32>,
    cut: i64,
}

impl<'g> MaxCutEnv<'g> {
    /// All nodes on one side.
    pub fn new(graph: &'g Graph) -> Self {
        let n = graph.nodes();
        let mut environment =
            Self { graph, moved: vec![false; n], gain: vec![0; n], helpful: 0, picked: vec![], cut: 0 };
        environment.reset();
        environment
    }

    /// What moving a node would add to the cut.
    pub fn gain(&self, node: u32) -> i64 {
        self.gain[node as usize]
    }
}

impl Environment for MaxCutEnv<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn reset(&mut self) {
        self.moved.fill(false);
        self.picked.clear();
        self.cut = 0;
        for v in 0..self.graph.nodes() as u32 {
            self.gain[v as usize] = self.graph.weighted_neighbours(v).map(|(_, weight)| weight).sum();
        }
        self.helpful = self.gain.iter().filter(|&&gain| gain > 0).count();
    }

    fn step(&mut self, node: u32) -> Step {
        if !self.is_candidate(node) {
            return Step { reward: 0, done: self.is_done() };
        }
        let reward = self.gain[node as usize];
        self.cut += reward;
        self.picked.push(node);
        self.helpful -= usize::from(reward > 0);
        self.moved[node as usize] = true;
        self.gain[node as usize] = -reward;
        for (u, weight) in self.graph.weighted_neighbours(node) {
            let gain = &mut self.gain[u as usize];
            let before = *gain;
            *gain += if self.moved[u as usize] { 2 * weight } else { -2 * weight };
            if !self.moved[u as usize] {
                self.helpful = self.helpful + usize::from(*gain > 0) - usize::from(before > 0);
            }
        }
        Step { reward, done: self.is_done() }
    }

    fn is_candidate(&self, node: u32) -> bool {
        self.moved.get(node as usize).is_some_and(|&moved| !moved)
    }

    fn is_done(&self) -> bool {
        self.helpful == 0
    }

    fn picked(&self) -> &[u32] {
        &self.picked
    }

    fn value(&self) -> i64 {
        self.cut
    }
}
