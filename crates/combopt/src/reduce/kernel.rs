//! The graph that shrinks: nodes are removed and folded, edges are only ever added.

use super::{Log, Reduced, Rules, lift::Entry};
use labrys_graph::Graph;

/// A changing graph with its log. Rows may name removed nodes; they are swept when a rule looks at a node.
#[derive(Clone, Debug)]
pub struct Kernel {
    rows: Vec<Vec<u32>>,
    degree: Vec<u32>,
    alive: Vec<bool>,
    left: usize,
    pub(super) offset: usize,
    pub(super) log: Log,
    /// Nodes that a rule should look at, those of degree up to 2 first.
    low: Vec<u32>,
    dirty: std::collections::VecDeque<u32>,
    is_dirty: Vec<bool>,
    marks: Marks,
    pub(super) second_marks: Marks,
}

/// A set of nodes that is emptied in O(1).
#[derive(Clone, Debug)]
pub(super) struct Marks {
    stamp: Vec<u32>,
    now: u32,
}

impl Marks {
    fn new(nodes: usize) -> Self {
        Self { stamp: vec![0; nodes], now: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.stamp.fill(0);
            self.now = 1;
        }
    }

    pub(super) fn insert(&mut self, v: u32) -> bool {
        std::mem::replace(&mut self.stamp[v as usize], self.now) != self.now
    }

    pub(super) fn contains(&self, v: u32) -> bool {
        self.stamp[v as usize] == self.now
    }
}

impl Kernel {
    /// The whole graph, every node to be looked at.
    pub fn new(graph: &Graph) -> Self {
        let n = graph.nodes();
        let nodes = 0..n as u32;
        Self {
            rows: nodes.clone().map(|v| graph.neighbours(v).to_vec()).collect(),
            degree: nodes.clone().map(|v| graph.degree(v) as u32).collect(),
            alive: vec![true; n],
            left: n,
            offset: 0,
            log: Log::default(),
            low: nodes.clone().rev().filter(|&v| graph.degree(v) <= 2).collect(),
            dirty: nodes.collect(),
            is_dirty: vec![true; n],
            marks: Marks::new(n),
            second_marks: Marks::new(n),
        }
    }

    /// Applies the rules until none applies.
    pub fn exhaust(&mut self, rules: Rules, stop: &mut dyn FnMut() -> bool) {
        // Reading the clock costs more than the cheapest rules.
        const LOOKS_BETWEEN_STOPS: u32 = 64;
        let mut looks = 0u32;
        loop {
            let before = self.log.len();
            while let Some(v) = self.next() {
                looks += 1;
                if looks.is_multiple_of(LOOKS_BETWEEN_STOPS) && stop() {
                    return;
                }
                self.look_at(v, rules);
            }
            if self.left == 0 || stop() {
                return;
            }
            // Rules look further than the neighbours that a change touches: once more over all nodes, until nothing changes.
            if !(rules.linear && self.linear()) {
                if self.log.len() == before {
                    return;
                }
                let left: Vec<u32> = (0..self.capacity() as u32).filter(|&v| self.alive[v as usize]).collect();
                left.into_iter().for_each(|v| self.touch(v));
            }
        }
    }

    fn look_at(&mut self, v: u32, rules: Rules) {
        if self.degree(v) <= 2 {
            if rules.degree {
                self.low_degree(v);
            }
            return;
        }
        _ = (rules.unconfined && self.unconfined(v))
            || (rules.twin && self.twin(v))
            || (rules.alternative && (self.funnel(v) || self.desk(v)));
    }

    fn next(&mut self) -> Option<u32> {
        while let Some(v) = self.low.pop() {
            if self.alive[v as usize] && self.degree[v as usize] <= 2 {
                return Some(v);
            }
        }
        while let Some(v) = self.dirty.pop_front() {
            self.is_dirty[v as usize] = false;
            if self.alive[v as usize] {
                return Some(v);
            }
        }
        None
    }

    /// Rules should look at a node again.
    fn touch(&mut self, v: u32) {
        if self.degree[v as usize] <= 2 {
            self.low.push(v);
        } else if !std::mem::replace(&mut self.is_dirty[v as usize], true) {
            self.dirty.push_back(v);
        }
    }

    /// Degree among the nodes that are left.
    pub(super) fn degree(&self, v: u32) -> usize {
        self.degree[v as usize] as usize
    }

    /// Number of nodes of the original graph.
    pub(super) fn capacity(&self) -> usize {
        self.rows.len()
    }

    /// Whether a node is left.
    pub(super) fn is_alive(&self, v: u32) -> bool {
        self.alive[v as usize]
    }

    /// Neighbours that are left.
    pub(super) fn row(&mut self, v: u32) -> &[u32] {
        let row = &mut self.rows[v as usize];
        if row.len() > self.degree[v as usize] as usize {
            let alive = &self.alive;
            row.retain(|&u| alive[u as usize]);
        }
        row
    }

    /// Like [`row`](Self::row) without sweeping: removed nodes may be listed.
    pub(super) fn unswept_row(&self, v: u32) -> &[u32] {
        &self.rows[v as usize]
    }

    /// Sweeps the row of a node and takes it out, for a rule that changes the graph while it looks at it.
    pub(super) fn neighbours(&mut self, v: u32) -> Vec<u32> {
        self.row(v).to_vec()
    }

    /// A set of nodes for one rule at a time.
    pub(super) fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    /// Marks the neighbours of a node, and nothing else.
    pub(super) fn mark_neighbours(&mut self, v: u32) {
        self.marks.clear();
        for &u in &self.rows[v as usize] {
            self.marks.insert(u);
        }
    }

    pub(super) fn is_marked(&self, v: u32) -> bool {
        self.marks.contains(v)
    }

    /// Whether two nodes that are left are neighbours.
    pub(super) fn has_edge(&self, a: u32, b: u32) -> bool {
        let (a, b) = if self.rows[a as usize].len() <= self.rows[b as usize].len() { (a, b) } else { (b, a) };
        self.rows[a as usize].contains(&b)
    }

    /// Takes a node out; its neighbours lose one degree.
    fn remove(&mut self, v: u32) {
        self.alive[v as usize] = false;
        self.left -= 1;
        let row = std::mem::take(&mut self.rows[v as usize]);
        for u in row {
            if self.alive[u as usize] {
                self.degree[u as usize] -= 1;
                self.touch(u);
            }
        }
        self.degree[v as usize] = 0;
    }

    /// Puts a node into the cover.
    pub(super) fn cover(&mut self, v: u32) {
        self.offset += 1;
        self.log.push(Entry::Cover(v));
        self.remove(v);
    }

    /// Leaves a node out of the cover, so that its neighbours go in.
    pub(super) fn free(&mut self, v: u32) {
        for u in self.neighbours(v) {
            self.cover(u);
        }
        self.remove(v);
    }

    /// Takes a node out that something in the log decides about.
    pub(super) fn set_aside(&mut self, v: u32) {
        self.remove(v);
    }

    /// Contracts all neighbours of `v` into it: `v` is then joined to whatever any of them was joined to.
    pub(super) fn contract(&mut self, v: u32, others: &[u32]) {
        let joined: Vec<u32> = others.iter().flat_map(|&other| self.neighbours(other)).collect();
        others.iter().for_each(|&other| self.remove(other));
        self.marks.clear();
        self.marks.insert(v);
        let mut row = vec![];
        for u in joined {
            if self.alive[u as usize] && self.marks.insert(u) {
                row.push(u);
                self.rows[u as usize].push(v);
                self.degree[u as usize] += 1;
                self.touch(u);
            }
        }
        self.degree[v as usize] = row.len() as u32;
        self.rows[v as usize] = row;
        self.touch(v);
    }

    /// Joins every node of one list to every node of the other.
    pub(super) fn join(&mut self, left: &[u32], right: &[u32]) {
        for &a in left {
            self.row(a);
            self.mark_neighbours(a);
            for &b in right {
                if !self.marks.contains(b) {
                    self.rows[a as usize].push(b);
                    self.rows[b as usize].push(a);
                    self.degree[a as usize] += 1;
                    self.degree[b as usize] += 1;
                }
            }
        }
        left.iter().chain(right).for_each(|&v| self.touch(v));
    }

    /// What is left as a graph, with the log.
    pub fn finish(mut self) -> Reduced {
        let ids: Vec<u32> = (0..self.capacity() as u32).filter(|&v| self.alive[v as usize]).collect();
        let mut number = vec![u32::MAX; self.capacity()];
        ids.iter().zip(0..).for_each(|(&id, i)| number[id as usize] = i);
        let mut edges = vec![];
        for &id in &ids {
            let row = self.row(id);
            edges.extend(row.iter().filter(|&&u| id < u).map(|&u| (number[id as usize], number[u as usize])));
        }
        let kernel = Graph::from_edges(ids.len() as u32, edges);
        Reduced { kernel, offset: self.offset, log: self.log, ids, nodes: self.rows.len() }
    }
}
