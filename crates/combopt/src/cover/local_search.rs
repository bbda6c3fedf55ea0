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
    arcs: Arcs,
    /// Of all edges.
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

/// Arcs by the node that they leave. An edge's weight stands at both of its arcs: moving a node then reads memory in order,
/// which is most of the work, and only edges that are uncovered, a few at a time, become heavier.
#[derive(Clone, Debug)]
struct Arcs {
    offsets: Vec<u32>,
    to: Vec<u32>,
    weight: Vec<i32>,
    /// The number of each arc's edge.
    edge: Vec<u32>,
    /// Both arcs of each edge.
    of_edge: Vec<[u32; 2]>,
}

impl Arcs {
    fn new(graph: &Graph) -> Self {
        let offsets: Vec<u32> = graph.adjacency().offsets().iter().map(|&offset| offset as u32).collect();
        let (mut next, count) = (offsets.clone(), 2 * graph.edge_count());
        let (mut to, mut edge, mut of_edge) = (vec![0; count], vec![0; count], Vec::with_capacity(count / 2));
        for (a, b) in graph.edges() {
            let arcs = [a, b].map(|from| {
                next[from as usize] += 1;
                next[from as usize] - 1
            });
            for (arc, end) in arcs.into_iter().zip([b, a]) {
                (to[arc as usize], edge[arc as usize]) = (end, of_edge.len() as u32);
            }
            of_edge.push(arcs);
        }
        Self { offsets, to, weight: vec![1; count], edge, of_edge }
    }

    fn of_node(&self, v: u32) -> std::ops::Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    fn ends(&self, edge: u32) -> [u32; 2] {
        self.of_edge[edge as usize].map(|arc| self.to[arc as usize])
    }

    fn edges(&self) -> usize {
        self.of_edge.len()
    }

    fn set_weight(&mut self, edge: u32, change: impl Fn(i32) -> i32) -> i32 {
        let [first, second] = self.of_edge[edge as usize];
        let weight = change(self.weight[first as usize]);
        (self.weight[first as usize], self.weight[second as usize]) = (weight, weight);
        weight
    }
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
        let (n, arcs) = (graph.nodes(), Arcs::new(graph));
        let mut search = Self {
            total_weight: arcs.edges() as u64,
            loss: vec![OUTSIDE; n],
            gain: (0..n as u32).map(|v| graph.degree(v) as i32).collect(),
            changed: vec![true; n],
            moved_at: vec![0; n],
            cover: NodeSet::new(n),
            uncovered: NodeSet::new(arcs.edges()),
            best: start.to_vec(),
            best_size: start.iter().filter(|&&covered| covered).count(),
            tabu: u32::MAX,
            step: 1,
            rng,
            arcs,
        };
        (0..search.arcs.edges() as u32).for_each(|edge| search.uncovered.insert(edge));
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
            let edge = self.uncovered.items[i];
            self.arcs.set_weight(edge, |weight| weight + 1);
            self.arcs.ends(edge).into_iter().for_each(|v| self.gain[v as usize] += 1);
        }
        self.total_weight += self.uncovered.items.len() as u64;
        // NuMVC's thresholds: mean weight 0.5 n, forgetting to 0.3.
        let heavy = self.total_weight > (self.loss.len() as u64).max(4) * self.arcs.edges() as u64 / 2;
        if heavy || self.gain[v as usize].max(self.loss[v as usize]) > HIGHEST {
            self.forget();
        }
    }

    fn cover_holds_tabu(&self) -> bool {
        self.tabu != u32::MAX && self.cover.contains(self.tabu)
    }

    fn better_end(&self, edge: u32) -> u32 {
        let [b, a] = self.arcs.ends(edge);
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
        let range = self.arcs.of_node(v);
        let arcs = self.arcs.to[range.clone()].iter().zip(&self.arcs.weight[range.clone()]).zip(range);
        for ((&u, &weight), arc) in arcs {
            let loss = &mut self.loss[u as usize];
            if *loss != OUTSIDE {
                *loss += weight;
            } else {
                self.gain[u as usize] += weight;
                self.changed[u as usize] = true;
                self.uncovered.insert(self.arcs.edge[arc]);
            }
        }
    }

    fn add(&mut self, v: u32) {
        self.cover.insert(v);
        self.loss[v as usize] = std::mem::take(&mut self.gain[v as usize]);
        let range = self.arcs.of_node(v);
        let arcs = self.arcs.to[range.clone()].iter().zip(&self.arcs.weight[range.clone()]).zip(range);
        for ((&u, &weight), arc) in arcs {
            let loss = &mut self.loss[u as usize];
            if *loss != OUTSIDE {
                *loss -= weight;
            } else {
                self.gain[u as usize] -= weight;
                self.changed[u as usize] = true;
                self.uncovered.remove(self.arcs.edge[arc]);
            }
        }
    }

    /// Makes all weights smaller, so that old difficulties count less.
    fn forget(&mut self) {
        self.total_weight = 0;
        self.gain.fill(0);
        self.loss.iter_mut().filter(|loss| **loss != OUTSIDE).for_each(|loss| *loss = 0);
        for edge in 0..self.arcs.edges() as u32 {
            let weight = self.arcs.set_weight(edge, |weight| weight * 3 / 10);
            self.total_weight += weight as u64;
            let [b, a] = self.arcs.ends(edge);
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
