//! A cut that changes by moving one node: O(degree) a move.

use labrys_graph::Graph;

/// Two sides, with what moving each node would add to the cut.
#[derive(Clone, Debug)]
pub struct State {
    offsets: Vec<u32>,
    arcs: Vec<(u32, i64)>,
    side: Vec<bool>,
    gain: Vec<i64>,
    cut: i64,
}

impl State {
    /// The cut between the marked nodes and the others.
    pub fn new(graph: &Graph, side: &[bool]) -> Self {
        let n = graph.nodes();
        let mut offsets = vec![0u32; n + 1];
        let mut arcs = Vec::with_capacity(2 * graph.edge_count());
        for v in 0..n {
            arcs.extend(graph.weighted_neighbours(v as u32));
            offsets[v + 1] = arcs.len() as u32;
        }
        let mut state = Self { offsets, arcs, side: vec![], gain: vec![0; n], cut: 0 };
        state.reset(side);
        state
    }

    /// Starts from another cut.
    pub fn reset(&mut self, side: &[bool]) {
        self.side.clear();
        self.side.extend_from_slice(side);
        self.cut = 0;
        for v in 0..self.side.len() {
            self.gain[v] = 0;
            for &(u, weight) in &self.arcs[self.offsets[v] as usize..self.offsets[v + 1] as usize] {
                let across = side[v] != side[u as usize];
                self.gain[v] += if across { -weight } else { weight };
                self.cut += if across && (u as usize) < v { weight } else { 0 };
            }
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.side.len()
    }

    /// Weight of every arc.
    pub fn weights(&self) -> impl Iterator<Item = i64> + '_ {
        self.arcs.iter().map(|&(_, weight)| weight)
    }

    /// Weight of the edges between the sides.
    #[inline]
    pub fn cut(&self) -> i64 {
        self.cut
    }

    /// What moving a node would add.
    #[inline]
    pub fn gain(&self, v: u32) -> i64 {
        self.gain[v as usize]
    }

    /// What moving each node would add.
    pub fn gains(&self) -> &[i64] {
        &self.gain
    }

    /// Which nodes are on the second side.
    pub fn side(&self) -> &[bool] {
        &self.side
    }

    /// Moves a node to the other side.
    #[inline]
    pub fn flip(&mut self, v: u32) {
        let v = v as usize;
        let gain = self.gain[v];
        self.cut += gain;
        self.gain[v] = -gain;
        self.side[v] = !self.side[v];
        let here = self.side[v];
        for &(u, weight) in &self.arcs[self.offsets[v] as usize..self.offsets[v + 1] as usize] {
            let change = if self.side[u as usize] == here { 2 * weight } else { -2 * weight };
            self.gain[u as usize] += change;
        }
    }

    /// Moves nodes as long as that helps.
    pub fn descend(&mut self) {
        let mut helped = true;
        while helped {
            helped = false;
            for v in 0..self.side.len() as u32 {
                if self.gain(v) > 0 {
                    self.flip(v);
                    helped = true;
                }
            }
        }
    }
}
