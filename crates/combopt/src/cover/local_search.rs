//! Local search by edge weights: NuMVC (Cai, Su, Luo, Sattar 2013), on large graphs with FastVC's sampling (Cai 2015).

use labrys_graph::Graph;
use labrys_search::seed::Rng;
use rand::RngExt as _;

/// Loss of a node that is not in the cover: it cannot be taken out.
const OUTSIDE: i32 = i32::MAX;
/// Weights are halved before sums come near the end of 32 bits.
const HIGHEST: i32 = 1 << 28;
/// Nodes are scanned in blocks, whose minima are found by vector instructions.
const BLOCK: usize = 64;
/// Up to so many nodes are scanned for the least loss; of more a sample is taken.
const MOST_SCANNED: usize = 6_000;
/// FastVC's sample.
const SAMPLE: usize = 50;

/// A search that can be continued at any time.
#[derive(Clone, Debug)]
pub struct LocalSearch {
    /// Row `v` of `arcs`: neighbours with the number of the edge.
    offsets: Vec<u32>,
    arcs: Vec<(u32, u32)>,
    ends: Vec<(u32, u32)>,
    weight: Vec<i32>,
    total_weight: u64,
    /// What taking a node out of the cover would uncover; [`OUTSIDE`] for nodes outside.
    loss: Vec<i32>,
    /// What adding a node would cover; 0 for nodes in the cover.
    gain: Vec<i32>,
    /// Whether something around a node has changed since it left the cover (configuration checking).
    changed: Vec<bool>,
    /// Step in which a node moved last.
    moved_at: Vec<u64>,
    cover: NodeSet,
    uncovered: NodeSet,
    best: Vec<bool>,
    best_size: usize,
    tabu: u32,
    step: u64,
    rng: Rng,
}

/// A set of small numbers with O(1) changes and random access.
#[derive(Clone, Debug)]
struct NodeSet {
    items: Vec<u32>,
    place: Vec<u32>,
}

impl NodeSet {
    fn new(capacity: usize) -> Self {
        Self { items: vec![], place: vec![u32::MAX; capacity] }
    }

    fn contains(&self, v: u32) -> bool {
        self.place[v as usize] != u32::MAX
    }

    fn insert(&mut self, v: u32) {
        self.place[v as usize] = self.items.len() as u32;
        self.items.push(v);
    }

    fn remove(&mut self, v: u32) {
        let place = std::mem::replace(&mut self.place[v as usize], u32::MAX);
        self.items.swap_remove(place as usize);
        if let Some(&moved) = self.items.get(place as usize) {
            self.place[moved as usize] = place;
        }
    }
}

impl LocalSearch {
    /// Begins with a cover. The graph has fewer than 2^31 edges.
    pub fn new(graph: &Graph, start: &[bool], rng: Rng) -> Self {
        let n = graph.nodes();
        let (offsets, arcs, ends) = with_edge_numbers(graph);
        let mut search = Self {
            weight: vec![1; ends.len()],
            total_weight: ends.len() as u64,
            loss: vec![OUTSIDE; n],
            gain: (0..n as u32).map(|v| graph.degree(v) as i32).collect(),
            changed: vec![true; n],
            moved_at: vec![0; n],
            cover: NodeSet::new(n),
            uncovered: NodeSet::new(ends.len()),
            best: start.to_vec(),
            best_size: start.iter().filter(|&&covered| covered).count(),
            tabu: u32::MAX,
            step: 1,
            rng,
            offsets,
            arcs,
            ends,
        };
        (0..search.ends.len() as u32).for_each(|edge| search.uncovered.insert(edge));
        (0..n as u32).filter(|&v| start[v as usize]).for_each(|v| search.add(v));
        search
    }

    /// The smallest cover so far.
    pub fn best(&self) -> &[bool] {
        &self.best
    }

    /// Its size.
    pub fn best_size(&self) -> usize {
        self.best_size
    }

    /// Makes so many steps, or fewer if the cover is as small as `enough`.
    pub fn run(&mut self, steps: u64, enough: usize) {
        for _ in 0..steps {
            if self.uncovered.items.is_empty() {
                self.keep();
                if self.best_size <= enough || self.cover.items.is_empty() {
                    return;
                }
                let v = self.least_loss();
                self.take_out(v);
            } else {
                self.exchange();
            }
        }
    }

    fn keep(&mut self) {
        if self.cover.items.len() < self.best_size {
            self.best_size = self.cover.items.len();
            self.best.fill(false);
            self.cover.items.iter().for_each(|&v| self.best[v as usize] = true);
        }
    }

    /// Takes out the node of least loss, adds an end of a random uncovered edge, makes uncovered edges heavier.
    fn exchange(&mut self) {
        if self.cover.items.len() > usize::from(self.cover_holds_tabu()) {
            let out = self.least_loss();
            self.take_out(out);
        }
        let edge = self.uncovered.items[self.rng.random_range(0..self.uncovered.items.len())];
        let v = self.better_end(edge);
        self.add(v);
        self.moved_at[v as usize] = self.step;
        self.tabu = v;
        self.step += 1;
        for i in 0..self.uncovered.items.len() {
            let edge = self.uncovered.items[i] as usize;
            self.weight[edge] += 1;
            let (a, b) = self.ends[edge];
            self.gain[a as usize] += 1;
            self.gain[b as usize] += 1;
        }
        self.total_weight += self.uncovered.items.len() as u64;
        // NuMVC's thresholds: mean weight 0.5 n, forgetting to 0.3.
        let heavy = self.total_weight > (self.loss.len() as u64).max(4) * self.ends.len() as u64 / 2;
        if heavy || self.gain[v as usize].max(self.loss[v as usize]) > HIGHEST {
            self.forget();
        }
    }

    fn cover_holds_tabu(&self) -> bool {
        self.tabu != u32::MAX && self.cover.contains(self.tabu)
    }

    fn better_end(&self, edge: u32) -> u32 {
        let (a, b) = self.ends[edge as usize];
        let key =
            |v: u32| (self.changed[v as usize], self.gain[v as usize], std::cmp::Reverse(self.moved_at[v as usize]));
        if key(a) >= key(b) { a } else { b }
    }

    /// The node of the cover whose loss is least, the oldest of equals; not the one that was added last.
    fn least_loss(&mut self) -> u32 {
        let tabu_loss = (self.cover_holds_tabu() && self.cover.items.len() > 1)
            .then(|| std::mem::replace(&mut self.loss[self.tabu as usize], OUTSIDE));
        let v = if self.loss.len() <= MOST_SCANNED { self.scan() } else { self.sample() };
        if let Some(loss) = tabu_loss {
            self.loss[self.tabu as usize] = loss;
        }
        v
    }

    fn scan(&self) -> u32 {
        const MOST_BLOCKS: usize = MOST_SCANNED / BLOCK + 1;
        let mut minima = [OUTSIDE; MOST_BLOCKS];
        let mut least = OUTSIDE;
        for (block, minimum) in self.loss.chunks(BLOCK).zip(&mut minima) {
            *minimum = block.iter().copied().fold(OUTSIDE, i32::min);
            least = least.min(*minimum);
        }
        let (mut oldest, mut oldest_at) = (self.cover.items[0], u64::MAX);
        for (i, block) in self.loss.chunks(BLOCK).enumerate().filter(|&(i, _)| minima[i] == least) {
            for (j, _) in block.iter().enumerate().filter(|&(_, &loss)| loss == least) {
                let v = i * BLOCK + j;
                if self.moved_at[v] < oldest_at && least != OUTSIDE {
                    (oldest, oldest_at) = (v as u32, self.moved_at[v]);
                }
            }
        }
        oldest
    }

    fn sample(&mut self) -> u32 {
        let key = |search: &Self, v: u32| (search.loss[v as usize], search.moved_at[v as usize]);
        let mut best = self.cover.items[self.rng.random_range(0..self.cover.items.len())];
        for _ in 1..SAMPLE {
            let v = self.cover.items[self.rng.random_range(0..self.cover.items.len())];
            if key(self, v) < key(self, best) {
                best = v;
            }
        }
        best
    }

    fn take_out(&mut self, v: u32) {
        self.cover.remove(v);
        self.gain[v as usize] = std::mem::replace(&mut self.loss[v as usize], OUTSIDE);
        self.changed[v as usize] = false;
        self.moved_at[v as usize] = self.step;
        for i in self.offsets[v as usize]..self.offsets[v as usize + 1] {
            let (u, edge) = self.arcs[i as usize];
            let weight = self.weight[edge as usize];
            if self.loss[u as usize] != OUTSIDE {
                self.loss[u as usize] += weight;
            } else {
                self.gain[u as usize] += weight;
                self.changed[u as usize] = true;
                self.uncovered.insert(edge);
            }
        }
    }

    fn add(&mut self, v: u32) {
        self.cover.insert(v);
        self.loss[v as usize] = std::mem::take(&mut self.gain[v as usize]);
        for i in self.offsets[v as usize]..self.offsets[v as usize + 1] {
            let (u, edge) = self.arcs[i as usize];
            let weight = self.weight[edge as usize];
            if self.loss[u as usize] != OUTSIDE {
                self.loss[u as usize] -= weight;
            } else {
                self.gain[u as usize] -= weight;
                self.changed[u as usize] = true;
                self.uncovered.remove(edge);
            }
        }
    }

    /// Makes all weights smaller, so that old difficulties count less.
    fn forget(&mut self) {
        self.total_weight = 0;
        self.gain.fill(0);
        self.loss.iter_mut().filter(|loss| **loss != OUTSIDE).for_each(|loss| *loss = 0);
        for (edge, &(a, b)) in self.ends.iter().enumerate() {
            let weight = self.weight[edge] * 3 / 10;
            self.weight[edge] = weight;
            self.total_weight += weight as u64;
            match (self.cover.contains(a), self.cover.contains(b)) {
                (false, false) => {
                    self.gain[a as usize] += weight;
                    self.gain[b as usize] += weight;
                }
                (true, false) => self.loss[a as usize] += weight,
                (false, true) => self.loss[b as usize] += weight,
                (true, true) => {}
            }
        }
    }
}

/// Rows of (neighbour, edge number), and the ends of each edge.
#[allow(clippy::type_complexity)]
fn with_edge_numbers(graph: &Graph) -> (Vec<u32>, Vec<(u32, u32)>, Vec<(u32, u32)>) {
    let n = graph.nodes();
    let mut offsets = vec![0u32; n + 1];
    for v in 0..n {
        offsets[v + 1] = offsets[v] + graph.degree(v as u32) as u32;
    }
    let mut next = offsets.clone();
    let mut arcs = vec![(0, 0); 2 * graph.edge_count()];
    let mut ends = Vec::with_capacity(graph.edge_count());
    for (a, b) in graph.edges() {
        let edge = ends.len() as u32;
        ends.push((a, b));
        for (from, to) in [(a, b), (b, a)] {
            arcs[next[from as usize] as usize] = (to, edge);
            next[from as usize] += 1;
        }
    }
    (offsets, arcs, ends)
}
