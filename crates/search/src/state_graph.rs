//! What a search has seen of a space: states, steps between them, and how each was found.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// States and the steps between them, in the order in which a search came upon them. A number stands for a state: 0 is the root.
#[derive(Clone, Debug)]
pub struct StateGraph<S, A> {
    numbers: FxHashMap<S, u32>,
    nodes: Vec<Node<S>>,
    /// The steps of the states that were expanded, those of one state side by side, each with where it leads.
    edges: Vec<(A, u32)>,
    /// Rows of V_0..=V_H by state, if there is a guide.
    values: Vec<f32>,
    width: usize,
    expansions: u64,
    improvements: Vec<Improvement>,
}

#[derive(Clone, Debug)]
struct Node<S> {
    state: S,
    cost: f64,
    /// The most steps that were ever left here.
    left: Option<u32>,
    /// The state before it and the step from there, on the path on which the most steps were left.
    found: Option<(u32, u32)>,
    /// Whether that path was given, so that others may hang on it: it stays.
    is_given: bool,
    /// Where its steps are among the edges, once it is expanded.
    steps: Option<(u32, u32)>,
}

/// A state that was better than all before it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Improvement {
    /// States that were expanded before it was found.
    pub expansions: u64,
    /// States that had been seen, itself included; each is one query of the guide.
    pub states: u64,
    /// Its cost.
    pub cost: f64,
}

impl<S: Copy + Eq + Hash, A> StateGraph<S, A> {
    /// A graph that holds the root only.
    pub fn new(root: S, cost: f64) -> Self {
        let mut graph = Self {
            numbers: FxHashMap::default(),
            nodes: vec![],
            edges: vec![],
            values: vec![],
            width: 0,
            expansions: 0,
            improvements: vec![],
        };
        graph.insert(root, cost);
        graph
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the root is there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A state by its number.
    pub fn state(&self, node: u32) -> S {
        self.nodes[node as usize].state
    }

    /// The number of a state.
    pub fn number(&self, state: S) -> Option<u32> {
        self.numbers.get(&state).copied()
    }

    /// The cost of a state.
    pub fn cost(&self, node: u32) -> f64 {
        self.nodes[node as usize].cost
    }

    /// The most steps that were left at a state; none if it was never reached within the horizon.
    pub fn left(&self, node: u32) -> Option<u32> {
        self.nodes[node as usize].left
    }

    /// The steps of a state, each with where it leads, if it was expanded.
    pub fn steps(&self, node: u32) -> Option<&[(A, u32)]> {
        let (from, to) = self.nodes[node as usize].steps?;
        Some(&self.edges[from as usize..to as usize])
    }

    /// How many states were expanded.
    pub fn expansions(&self) -> u64 {
        self.expansions
    }

    /// Each state that was better than all before it, the root first.
    pub fn improvements(&self) -> &[Improvement] {
        &self.improvements
    }

    /// The state of least cost, the one that was found first where there are several.
    pub fn best(&self) -> u32 {
        (0..self.len() as u32).min_by(|a, b| self.cost(*a).total_cmp(&self.cost(*b))).unwrap_or(0)
    }

    /// The way from the root to a state: each step with the number of the state where it leads.
    pub fn path(&self, node: u32) -> Vec<(&A, u32)> {
        let (mut path, mut at) = (vec![], node);
        while let Some((before, edge)) = self.nodes[at as usize].found {
            path.push((&self.edges[edge as usize].0, at));
            at = before;
        }
        path.reverse();
        path
    }

    /// By how much the cost falls at most on the way from each state within t steps, for t = 0..=`horizon`, row by row, as far as was seen:
    /// divided by t it is what V_t should be (Algorithm 2, last lines).
    pub fn reductions(&self, horizon: u32) -> Vec<f32> {
        let costs: Vec<f64> = self.nodes.iter().map(|node| node.cost).collect();
        let width = horizon as usize + 1;
        let mut table = vec![0.0; self.len() * width];
        let mut best = costs.clone();
        for t in 1..width {
            let within = |node: u32| {
                let next = self.steps(node).unwrap_or(&[]).iter().map(|(_, to)| best[*to as usize]);
                next.fold(best[node as usize], f64::min)
            };
            best = (0..self.len() as u32).map(within).collect();
            for (node, (cost, best)) in costs.iter().zip(&best).enumerate() {
                table[node * width + t] = (cost - best) as f32;
            }
        }
        table
    }

    /// Forgets which steps there are and how many were left, for a search with other steps that goes on from here. Paths stay.
    pub fn forget_steps(&mut self) {
        for node in &mut self.nodes {
            node.steps = None;
            node.left = None;
        }
        self.values.clear();
    }

    /// Puts a state there whose path was found by other means: the steps from `before`, with the states after each, and their costs.
    pub fn insert_path(&mut self, before: u32, path: impl IntoIterator<Item = (A, S, f64)>) -> u32 {
        let mut at = before;
        for (step, state, cost) in path {
            let (node, is_new) = self.insert(state, cost);
            let edge = self.edges.len() as u32;
            self.edges.push((step, node));
            if is_new {
                let entry = &mut self.nodes[node as usize];
                (entry.found, entry.is_given) = (Some((at, edge)), true);
            }
            at = node;
        }
        at
    }

    /// The number of a state, which is added if it is new.
    pub(crate) fn insert(&mut self, state: S, cost: f64) -> (u32, bool) {
        if let Some(node) = self.numbers.get(&state) {
            return (*node, false);
        }
        let node = self.nodes.len() as u32;
        self.numbers.insert(state, node);
        self.nodes.push(Node { state, cost, left: None, found: None, is_given: false, steps: None });
        if self.improvements.last().is_none_or(|last| cost < last.cost) {
            let improvement = Improvement { expansions: self.expansions, states: self.nodes.len() as u64, cost };
            self.improvements.push(improvement);
        }
        (node, true)
    }

    /// Notes that a state is expanded; its steps are the edges that follow.
    pub(crate) fn start_steps(&mut self) -> u32 {
        self.expansions += 1;
        self.edges.len() as u32
    }

    /// A step of the state `from`, which leads to `to`. A new state is found by it.
    pub(crate) fn push_step(&mut self, from: u32, step: A, to: u32, is_new: bool) {
        if is_new {
            self.nodes[to as usize].found = Some((from, self.edges.len() as u32));
        }
        self.edges.push((step, to));
    }

    pub(crate) fn end_steps(&mut self, node: u32, from: u32) {
        self.nodes[node as usize].steps = Some((from, self.edges.len() as u32));
    }

    /// Where the steps of an expanded state are among the edges.
    pub(crate) fn step_range(&self, node: u32) -> Option<std::ops::Range<u32>> {
        self.nodes[node as usize].steps.map(|(from, to)| from..to)
    }

    pub(crate) fn target(&self, edge: u32) -> u32 {
        self.edges[edge as usize].1
    }

    /// Notes that a state was reached with more steps left than before; says whether it was so.
    pub(crate) fn reach(&mut self, node: u32, left: u32, found: Option<(u32, u32)>) -> bool {
        let entry = &mut self.nodes[node as usize];
        if entry.left.is_some_and(|before| before >= left) {
            return false;
        }
        // Roots keep the way by which they were found.
        if !entry.is_given {
            entry.found = found.or(entry.found);
        }
        entry.left = Some(left);
        true
    }

    /// Appends what a guide says of the states that have no row yet; anything but one full row for each is taken for nothing.
    pub(crate) fn push_values(&mut self, rows: &[f32], states: usize, horizon: u32) {
        self.width = horizon as usize + 1;
        if rows.len() == states * self.width {
            self.values.extend_from_slice(rows);
        } else {
            self.values.resize(self.values.len() + states * self.width, 0.0);
        }
    }

    /// How many states have values.
    pub(crate) fn valued(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// t V_t(s): by how much a guide believes that the cost falls within `left` steps; 0 without one.
    pub(crate) fn promise(&self, node: u32, left: u32) -> f64 {
        let value = self.values.get(node as usize * self.width + left as usize).copied().unwrap_or(0.0);
        if value.is_finite() { f64::from(left) * f64::from(value) } else { 0.0 }
    }
}
