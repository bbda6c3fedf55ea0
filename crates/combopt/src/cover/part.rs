//! One connected component of the kernel, on its way to its smallest cover.

use super::bound::lower_bound;
use super::branch::smallest_cover;
use super::local_search::LocalSearch;
use super::size;
use labrys_graph::Graph;
use labrys_search::seed::Rng;

pub(super) struct Part {
    pub(super) graph: Graph,
    /// Nodes of the kernel.
    pub(super) nodes: Vec<u32>,
    pub(super) best: Vec<bool>,
    pub(super) bound: usize,
    search: Option<LocalSearch>,
    rng: Rng,
    /// How often exact search gave up.
    failures: u32,
    /// Visits of its last try, and those saved up for the next one.
    last_try: u64,
    saved: u64,
    /// Whether it may come to an end, by what it had looked at when it gave up.
    hopeful: bool,
}

/// A search is hopeful if it has looked at so much of its tree.
const HOPE: f64 = 1.0 / 256.0;

impl Part {
    pub(super) fn new(kernel: &Graph, nodes: Vec<u32>, start: &[bool], rng: Rng) -> Self {
        let graph = kernel.subgraph(&nodes);
        let best = nodes.iter().map(|&v| start[v as usize]).collect();
        let bound = lower_bound(&graph);
        Self { graph, nodes, best, bound, search: None, rng, failures: 0, last_try: 0, saved: 0, hopeful: true }
    }

    pub(super) fn size(&self) -> usize {
        size(&self.best)
    }

    pub(super) fn is_proven(&self) -> bool {
        self.size() <= self.bound
    }

    /// Visits of arcs that a step of local search costs, roughly.
    pub(super) fn step_cost(&self) -> u64 {
        4 + 4 * (self.graph.edge_count() / self.graph.nodes().max(1)) as u64
            + (self.graph.nodes() as u64).min(6_000) / 16
    }

    /// Continues local search until `stop`, which is asked every few microseconds; says how many steps it made.
    pub(super) fn improve(&mut self, steps: u64, stop: &mut dyn FnMut() -> bool) -> u64 {
        let (graph, best, rng) = (&self.graph, &self.best, &self.rng);
        let search = self.search.get_or_insert_with(|| LocalSearch::new(graph, best, rng.clone()));
        let chunk = 128;
        let mut made = 0;
        while made < steps && search.best_size() > self.bound && !stop() {
            search.run(chunk.min(steps - made), self.bound);
            made += chunk.min(steps - made);
        }
        if search.best_size() < size(&self.best) {
            self.best.copy_from_slice(search.best());
        }
        made
    }

    /// Share of the visits that exact search gets: what has no hope, or did not end after several doublings, hardly ever ends.
    pub(super) fn exact_share(&self) -> f64 {
        const DOUBLINGS: u32 = 9;
        if self.is_hopeful() && self.failures < DOUBLINGS { 0.3 } else { 0.03 }
    }

    /// Whether exact search may come to an end.
    pub(super) fn is_hopeful(&self) -> bool {
        self.hopeful
    }

    /// Tries to prove the best cover smallest, or to find a smaller one, once enough visits are saved up for it.
    pub(super) fn prove(&mut self, visits: u64, stop: &mut dyn FnMut() -> bool) {
        self.saved = self.saved.saturating_add(visits);
        // The first reductions and bounds alone take a few visits of each arc; and what took too long once does so again.
        let least = 64 * (2 * self.graph.edge_count() + self.graph.nodes()) as u64;
        if self.failures > 0 && self.saved < least.max(self.last_try.saturating_mul(2)) {
            return;
        }
        self.last_try = std::mem::take(&mut self.saved);
        match smallest_cover(&self.graph, self.size(), self.last_try, stop) {
            Ok(Some(cover)) => {
                self.best = cover;
                self.bound = self.size();
            }
            Ok(None) => self.bound = self.size(),
            Err(gave_up) => {
                self.failures += 1;
                // A try that hardly began says nothing.
                self.hopeful = self.last_try < least || gave_up.explored >= HOPE;
            }
        }
    }
}
