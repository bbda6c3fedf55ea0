//! Independent set: a picked node takes its neighbours away.

use crate::problem::{Environment, Step};
use labrys_graph::Graph;

/// Reward 1 a step until no node is left.
#[derive(Clone, Debug)]
pub struct IndependentSetEnv<'g> {
    graph: &'g Graph,
    free: Vec<bool>,
    left: usize,
    picked: Vec<u32>,
}

impl<'g> IndependentSetEnv<'g> {
    /// The empty set.
    pub fn new(graph: &'g Graph) -> Self {
        Self { graph, free: vec![true; graph.nodes()], left: graph.nodes(), picked: vec![] }
    }
}

impl Environment for IndependentSetEnv<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn reset(&mut self) {
        self.free.fill(true);
        self.left = self.graph.nodes();
        self.picked.clear();
    }

    fn step(&mut self, node: u32) -> Step {
        if !self.is_candidate(node) {
            return Step { reward: 0, done: self.is_done() };
        }
        self.picked.push(node);
        for &u in self.graph.neighbours(node).iter().chain([&node]) {
            self.left -= usize::from(std::mem::replace(&mut self.free[u as usize], false));
        }
        Step { reward: 1, done: self.is_done() }
    }

    fn is_candidate(&self, node: u32) -> bool {
        self.free.get(node as usize).is_some_and(|&free| free)
    }

    fn is_done(&self) -> bool {
        self.left == 0
    }

    fn picked(&self) -> &[u32] {
        &self.picked
    }

    fn value(&self) -> i64 {
        self.picked.len() as i64
    }
}
