//! Maximum flow and minimum cut by Dinic's algorithm: blocking flows in networks layered by distance to the sink.

use crate::Id;

/// Capacity of an arc that no minimum cut crosses; far above any sum of sizes (those stay below 2^60).
pub const INFINITE: u64 = 1 << 62;

crate::define_id!(
    /// A node of a flow network.
    FlowNode
);

const UNREACHED: u32 = u32::MAX;

/// A directed network with capacities, built arc by arc. Buffers are kept from one use to the next.
#[derive(Default)]
pub struct FlowNetwork {
    nodes: usize,
    arcs: Vec<(u32, u32, u64)>,
    /// Arcs out of node `v`, forward and backward ones, lie at `offsets[v]..offsets[v + 1]`.
    offsets: Vec<u32>,
    head: Vec<u32>,
    /// The same arc seen from its head.
    twin: Vec<u32>,
    residual: Vec<u64>,
    distance: Vec<u32>,
    /// First arc of each node that may still be of use in this layered network.
    cursor: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<u32>,
}

impl FlowNetwork {
    /// Forgets all arcs and starts over with `nodes` nodes.
    pub fn reset(&mut self, nodes: usize) {
        self.nodes = nodes;
        self.arcs.clear();
    }

    /// Adds a node and returns it.
    pub fn node(&mut self) -> FlowNode {
        self.nodes += 1;
        FlowNode::new(self.nodes - 1)
    }

    /// Adds an arc.
    pub fn arc(&mut self, from: FlowNode, to: FlowNode, capacity: u64) {
        self.arcs.push((from.0, to.0, capacity));
    }

    /// Value of a maximum flow, which is the capacity of a minimum cut.
    ///
    /// Looks at about `budget` arcs, and counts them down; when they are used up it returns the flow found so far, a lower
    /// bound on every cut.
    pub fn max_flow(&mut self, source: FlowNode, sink: FlowNode, budget: &mut u64) -> u64 {
        self.lay_out();
        let mut flow = 0u64;
        while *budget > 0 && self.measure_distances(source.0, sink.0, budget) {
            self.cursor.clear();
            self.cursor.extend_from_slice(&self.offsets[..self.nodes]);
            flow = flow.saturating_add(self.blocking_flow(source.0, sink.0, budget));
        }
        flow
    }

    /// Sorts the arcs by tail (a counting sort), each next to the other backward and forward arcs of its node.
    fn lay_out(&mut self) {
        self.offsets.clear();
        self.offsets.resize(self.nodes + 1, 0);
        for &(from, to, _) in &self.arcs {
            self.offsets[from as usize + 1] += 1;
            self.offsets[to as usize + 1] += 1;
        }
        for v in 0..self.nodes {
            self.offsets[v + 1] += self.offsets[v];
        }
        self.cursor.clear();
        self.cursor.extend_from_slice(&self.offsets[..self.nodes]);
        let halves = 2 * self.arcs.len();
        for buffer in [&mut self.head, &mut self.twin] {
            buffer.resize(halves, 0);
        }
        self.residual.resize(halves, 0);
        for &(from, to, capacity) in &self.arcs {
            let forward = take(&mut self.cursor[from as usize]);
            let backward = take(&mut self.cursor[to as usize]);
            (self.head[forward], self.twin[forward], self.residual[forward]) = (to, backward as u32, capacity);
            (self.head[backward], self.twin[backward], self.residual[backward]) = (from, forward as u32, 0);
        }
    }

    fn arcs_of(&self, v: u32) -> std::ops::Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    /// Breadth-first search backwards from the sink; says whether the source was reached.
    fn measure_distances(&mut self, source: u32, sink: u32, budget: &mut u64) -> bool {
        self.distance.clear();
        self.distance.resize(self.nodes, UNREACHED);
        self.distance[sink as usize] = 0;
        self.queue.clear();
        self.queue.push(sink);
        let mut next = 0;
        while next < self.queue.len() && self.distance[source as usize] == UNREACHED {
            let v = self.queue[next];
            next += 1;
            for arc in self.arcs_of(v) {
                let w = self.head[arc] as usize;
                if self.distance[w] == UNREACHED && self.residual[self.twin[arc] as usize] > 0 {
                    self.distance[w] = self.distance[v as usize] + 1;
                    self.queue.push(w as u32);
                }
            }
            *budget = budget.saturating_sub(self.arcs_of(v).len() as u64);
        }
        self.distance[source as usize] != UNREACHED
    }

    /// Depth-first search from the source along shortest paths; every dead end is entered once.
    fn blocking_flow(&mut self, source: u32, sink: u32, budget: &mut u64) -> u64 {
        let mut flow = 0u64;
        self.path.clear();
        let mut v = source;
        while *budget > 0 {
            if v == sink {
                flow = flow.saturating_add(self.augment());
                v = self.path.last().map_or(source, |&arc| self.head[arc as usize]);
            } else if let Some(arc) = self.admissible_arc(v, budget) {
                self.path.push(arc);
                v = self.head[arc as usize];
            } else {
                let Some(arc) = self.path.pop() else { break };
                v = self.head[self.twin[arc as usize] as usize];
                self.cursor[v as usize] += 1;
            }
        }
        flow
    }

    fn admissible_arc(&mut self, v: u32, budget: &mut u64) -> Option<u32> {
        let (start, end) = (self.cursor[v as usize], self.offsets[v as usize + 1]);
        let closer = self.distance[v as usize].wrapping_sub(1);
        let usable =
            |&arc: &u32| self.residual[arc as usize] > 0 && self.distance[self.head[arc as usize] as usize] == closer;
        let found = (start..end).find(usable);
        let cursor = found.unwrap_or(end);
        self.cursor[v as usize] = cursor;
        *budget = budget.saturating_sub(u64::from(cursor - start) + 1);
        found
    }

    /// Sends what the path can take, and cuts the path back to before its first full arc.
    fn augment(&mut self) -> u64 {
        let amount = self.path.iter().map(|&arc| self.residual[arc as usize]).min().unwrap_or(0);
        let mut keep = self.path.len();
        for (i, &arc) in self.path.iter().enumerate().rev() {
            let arc = arc as usize;
            self.residual[arc] -= amount;
            self.residual[self.twin[arc] as usize] += amount;
            if self.residual[arc] == 0 {
                keep = i;
            }
        }
        self.path.truncate(keep);
        amount
    }
}

fn take(cursor: &mut u32) -> usize {
    *cursor += 1;
    *cursor as usize - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt as _;

    type Arcs = Vec<(u32, u32, u64)>;

    fn flow(nodes: usize, arcs: &Arcs, budget: u64) -> u64 {
        let mut network = FlowNetwork::default();
        network.reset(nodes);
        for &(from, to, capacity) in arcs {
            network.arc(FlowNode(from), FlowNode(to), capacity);
        }
        network.max_flow(FlowNode(0), FlowNode(nodes as u32 - 1), &mut budget.clone())
    }

    /// The least capacity over all sets with the source and without the sink.
    fn brute_force_cut(nodes: usize, arcs: &Arcs) -> u64 {
        let has = |set: u32, v: u32| set >> v & 1 == 1;
        let cut = |set: u32| arcs.iter().filter(|a| has(set, a.0) && !has(set, a.1)).map(|a| a.2).sum();
        (0..1u32 << nodes).filter(|&set| has(set, 0) && !has(set, nodes as u32 - 1)).map(cut).min().unwrap()
    }

    fn random_network(seed: u128) -> (usize, Arcs) {
        let mut rng = rand_pcg::Pcg64Mcg::new(seed);
        let nodes = rng.random_range(2..9usize);
        let arc = |_| {
            let (from, to) = (rng.random_range(0..nodes as u32), rng.random_range(0..nodes as u32));
            (from, to, if rng.random_bool(0.1) { 1 << 40 } else { rng.random_range(0..20) })
        };
        (nodes, (0..nodes * 3).map(arc).collect())
    }

    #[test]
    fn maximum_flow_is_minimum_cut() {
        for seed in 0..2_000 {
            let (nodes, arcs) = random_network(seed);
            assert_eq!(flow(nodes, &arcs, u64::MAX), brute_force_cut(nodes, &arcs), "seed {seed}: {arcs:?}");
        }
    }

    #[test]
    fn a_small_budget_gives_a_lower_bound() {
        for seed in 0..200 {
            let (nodes, arcs) = random_network(seed);
            let cut = brute_force_cut(nodes, &arcs);
            assert!((0..60).all(|budget| flow(nodes, &arcs, budget) <= cut));
        }
    }

    #[test]
    fn a_long_path_needs_no_recursion() {
        let arcs = (0..200_000).map(|v| (v, v + 1, u64::from(v) + 7)).collect();
        assert_eq!(flow(200_001, &arcs, u64::MAX), 7);
    }
}
