//! Vertex cover (RL4GO section 4.4): a picked node takes its edges away, nodes left isolated are no candidates any more.

use crate::problem::{Environment, Step};
use labrys_graph::Graph;

/// Reward -1 a step until every edge is covered.
#[derive(Clone, Debug)]
pub struct VertexCoverEnv<'g> {
    graph: &'g Graph,
    /// Edges of each node that are not covered; 0 for picked nodes.
    uncovered_degree: Vec<u32>,
    uncovered: usize,
    picked: Vec<u32>,
    in_cover: Vec<bool>,
}

impl<'g> VertexCoverEnv<'g> {
    /// The empty cover of a graph.
    pub fn new(graph: &'g Graph) -> Self {
        let n = graph.nodes();
        let mut environment =
            Self { graph, uncovered_degree: vec![0; n], uncovered: 0, picked: vec![], in_cover: vec![false; n] };
        environment.reset();
        environment
    }

    /// Edges of a node that are not covered yet.
    pub fn uncovered_degree(&self, node: u32) -> u32 {
        self.uncovered_degree[node as usize]
    }

    /// Edges that are not covered yet.
    pub fn uncovered(&self) -> usize {
        self.uncovered
    }

    /// Whether a node was picked.
    pub fn is_picked(&self, node: u32) -> bool {
        self.in_cover[node as usize]
    }
}

impl Environment for VertexCoverEnv<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn reset(&mut self) {
        self.picked.clear();
        self.in_cover.fill(false);
        self.uncovered = self.graph.edge_count();
        (0..self.graph.nodes()).for_each(|v| self.uncovered_degree[v] = self.graph.degree(v as u32) as u32);
    }

    fn step(&mut self, node: u32) -> Step {
        if !self.is_candidate(node) {
            return Step { reward: 0, done: self.is_done() };
        }
        self.picked.push(node);
        self.in_cover[node as usize] = true;
        self.uncovered -= self.uncovered_degree[node as usize] as usize;
        self.uncovered_degree[node as usize] = 0;
        for &u in self.graph.neighbours(node).iter().filter(|&&u| !self.in_cover[u as usize]) {
            self.uncovered_degree[u as usize] -= 1;
        }
        Step { reward: -1, done: self.is_done() }
    }

    fn is_candidate(&self, node: u32) -> bool {
        self.uncovered_degree.get(node as usize).is_some_and(|&degree| degree > 0)
    }

    fn is_done(&self) -> bool {
        self.uncovered == 0
    }

    fn picked(&self) -> &[u32] {
        &self.picked
    }

    fn value(&self) -> i64 {
        -(self.picked.len() as i64)
    }
}
