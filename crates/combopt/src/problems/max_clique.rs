//! Max clique: candidates know every node picked so far. The complement graph is never made.

use crate::problem::{Environment, Step};
use labrys_graph::Graph;

/// Reward 1 a step until no node knows all others.
#[derive(Clone, Debug)]
pub struct MaxCliqueEnv<'g> {
    graph: &'g Graph,
    /// How many of the picked nodes each node knows.
    known: Vec<u32>,
    /// Nodes that know all picked ones, themselves not picked.
    left: usize,
    in_clique: Vec<bool>,
    picked: Vec<u32>,
}

impl<'g> MaxCliqueEnv<'g> {
    /// The empty clique.
    pub fn new(graph: &'g Graph) -> Self {
        let n = graph.nodes();
        Self { graph, known: vec![0; n], left: n, in_clique: vec![false; n], picked: vec![] }
    }
}

impl Environment for MaxCliqueEnv<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn reset(&mut self) {
        self.known.fill(0);
        self.left = self.graph.nodes();
        self.in_clique.fill(false);
        self.picked.clear();
    }

    fn step(&mut self, node: u32) -> Step {
        if !self.is_candidate(node) {
            return Step { reward: 0, done: self.is_done() };
        }
        let before = self.picked.len() as u32;
        self.picked.push(node);
        self.in_clique[node as usize] = true;
        self.left = 0;
        for &u in self.graph.neighbours(node) {
            let known = &mut self.known[u as usize];
            self.left += usize::from(*known == before && !self.in_clique[u as usize]);
            *known += 1;
        }
        Step { reward: 1, done: self.is_done() }
    }

    fn is_candidate(&self, node: u32) -> bool {
        let known = self.known.get(node as usize);
        known.is_some_and(|&known| known as usize == self.picked.len()) && !self.in_clique[node as usize]
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
