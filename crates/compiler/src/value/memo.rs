//! Inference that computes nothing twice.
//!
//! After r rounds the state of a node depends on what is around it within r edges, and nothing else. Neighbouring states of
//! a search differ in one place, and combine the same few changes, so that nearly all of these surroundings were seen before.
//! Surroundings are known by a colour (Weisfeiler and Leman 1968): a hash of the node's colour after the round before, and of
//! those that messages come from, in the order in which messages are added up. So the result has the very bits of the network
//! without a memory, but for collisions of 64-bit hashes.

use super::encode::{Batch, EDGE_TYPES};
use super::net::ValueNet;
use labrys_nn::{EdgeArrays, Matrix, Segments, Tape};
use labrys_search::seed::splitmix;
use rustc_hash::FxHashMap;

/// States of nodes that are kept after each round; beyond, all are forgotten.
const MOST_ROWS: usize = 1 << 17;

/// What was computed so far, for one network.
#[derive(Default)]
pub struct Memo {
    /// Before the first round, and after each.
    levels: Vec<Level>,
    /// What the nodes of the last level add to the sums of their graphs.
    added: Matrix,
}

/// States of nodes after so many rounds.
#[derive(Default)]
struct Level {
    /// The row of each colour.
    rows: FxHashMap<u64, u32>,
    states: Matrix,
}

/// The nodes of a batch after so many rounds.
struct Nodes {
    colours: Vec<u64>,
    rows: Vec<u32>,
}

impl Memo {
    /// Values of all graphs of a batch, one row each: those of [`ValueNet::forward`].
    pub fn values(&mut self, net: &ValueNet, batch: &Batch) -> Matrix {
        if self.levels.last().is_none_or(|level| level.states.rows > MOST_ROWS) {
            let levels = (0..=net.graph().rounds()).map(|_| Level::default()).collect();
            *self = Self { levels, added: Matrix::default() };
        }
        let incoming = Incoming::new(batch);
        let first = self.start(net, batch);
        let mut nodes = Nodes { colours: first.colours.clone(), rows: first.rows.clone() };
        for round in 0..net.graph().rounds() {
            nodes = self.round(net, round, &incoming, &nodes);
        }
        self.add_up(net, &first, &nodes);
        self.read_out(net, &batch.graphs, &nodes)
    }

    /// Features of nodes.
    fn start(&mut self, net: &ValueNet, batch: &Batch) -> Nodes {
        let level = &mut self.levels[0];
        let (mut kinds, mut types, mut marks) = (vec![], vec![], vec![]);
        let mut nodes = Nodes::with_capacity(batch.kinds.len());
        for ((&kind, &ty), &mark) in batch.kinds.iter().zip(&batch.types).zip(&batch.marks) {
            let colour = splitmix(u64::from(kind) << 32 | u64::from(mark) << 8 | u64::from(ty));
            if nodes.push(level, colour, kinds.len()) {
                kinds.push(kind);
                types.push(ty);
                marks.push(mark);
            }
        }
        let mut tape = Tape::inference(&net.params);
        let fresh = net.features(&mut tape, kinds, types, &marks);
        append(&mut level.states, tape.take(fresh));
        nodes
    }

    fn round(&mut self, net: &ValueNet, round: usize, incoming: &Incoming, before: &Nodes) -> Nodes {
        let (done, next) = self.levels.split_at_mut(round + 1);
        let (last, level) = (&done[round].states, &mut next[0]);
        let mut edges = vec![EdgeArrays::default(); EDGE_TYPES];
        let mut own = vec![];
        let mut nodes = Nodes::with_capacity(before.rows.len());
        for (node, &colour) in before.colours.iter().enumerate() {
            let around = incoming.of(node);
            let step =
                |hash, &(ty, source): &(u32, u32)| splitmix(hash ^ before.colours[source as usize].rotate_left(ty));
            if nodes.push(level, around.iter().fold(splitmix(colour), step), own.len()) {
                for &(ty, source) in around {
                    edges[ty as usize].sources.push(before.rows[source as usize]);
                    edges[ty as usize].targets.push(own.len() as u32);
                }
                own.push(before.rows[node]);
            }
        }
        if !own.is_empty() {
            let mut tape = Tape::inference(&net.params);
            let h = tape.input(last);
            let own = tape.gather(h, own);
            let fresh = net.graph().round(&mut tape, h, own, &edges);
            append(&mut level.states, tape.take(fresh));
        }
        nodes
    }

    /// What nodes add to the sums of their graphs, where that is not known.
    fn add_up(&mut self, net: &ValueNet, first: &Nodes, last: &Nodes) {
        let (mut features, mut states) = (vec![], vec![]);
        for (&feature, &state) in first.rows.iter().zip(&last.rows) {
            // Rows are numbered in the order in which nodes come.
            if state as usize == self.added.rows + states.len() {
                features.push(feature);
                states.push(state);
            }
        }
        if states.is_empty() {
            return;
        }
        let mut tape = Tape::inference(&net.params);
        let x = tape.input(&self.levels[0].states);
        let x = tape.gather(x, features);
        let h = tape.input(&self.levels[self.levels.len() - 1].states);
        let h = tape.gather(h, states);
        let fresh = net.nodes(&mut tape, h, x);
        append(&mut self.added, tape.take(fresh));
    }

    fn read_out(&self, net: &ValueNet, graphs: &Segments, nodes: &Nodes) -> Matrix {
        let mut sums = Matrix::zeros(graphs.len(), self.added.cols);
        for (graph, range) in graphs.iter().enumerate() {
            for &row in &nodes.rows[range] {
                let added = self.added.row(row as usize);
                sums.row_mut(graph).iter_mut().zip(added).for_each(|(sum, x)| *sum += x);
            }
        }
        let mut tape = Tape::inference(&net.params);
        let sums = tape.input(&sums);
        let values = net.read_out(&mut tape, sums, None);
        tape.take(values)
    }
}

impl Nodes {
    fn with_capacity(nodes: usize) -> Self {
        Self { colours: Vec::with_capacity(nodes), rows: Vec::with_capacity(nodes) }
    }

    /// Adds a node; whether its state is yet to be computed, behind `fresh` others.
    fn push(&mut self, level: &mut Level, colour: u64, fresh: usize) -> bool {
        let next = (level.states.rows + fresh) as u32;
        let row = *level.rows.entry(colour).or_insert(next);
        self.colours.push(colour);
        self.rows.push(row);
        // A row that is being computed for an earlier node of the batch is below `next`.
        row == next
    }
}

/// Edges by the node that they lead to, in the order in which messages are added up: by type, then as they come.
struct Incoming {
    offsets: Vec<u32>,
    /// (type, source).
    edges: Vec<(u32, u32)>,
}

impl Incoming {
    fn new(batch: &Batch) -> Self {
        let nodes = batch.kinds.len();
        let mut offsets = vec![0u32; nodes + 1];
        let targets = batch.edges.iter().flat_map(|edges| &edges.targets);
        targets.for_each(|&target| offsets[target as usize + 1] += 1);
        (0..nodes).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut next = offsets.clone();
        let mut edges = vec![(0, 0); offsets[nodes] as usize];
        for (ty, of_type) in batch.edges.iter().enumerate() {
            for (&source, &target) in of_type.sources.iter().zip(&of_type.targets) {
                let slot = &mut next[target as usize];
                edges[*slot as usize] = (ty as u32, source);
                *slot += 1;
            }
        }
        Self { offsets, edges }
    }

    fn of(&self, node: usize) -> &[(u32, u32)] {
        &self.edges[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

fn append(to: &mut Matrix, rows: Matrix) {
    to.cols = rows.cols;
    to.rows += rows.rows;
    to.data.extend_from_slice(&rows.data);
}

#[cfg(test)]
mod tests {
    use super::super::encode::ExprGraph;
    use super::super::net::Shape;
    use super::*;
    use crate::ir::{ExprId, Prim, Store, TypeId};
    use labrys_search::Seed;
    use rand::RngExt as _;

    /// A random expression over two variables, with lets and repeated parts.
    fn random(store: &mut Store, rng: &mut labrys_search::seed::Rng, known: &mut Vec<ExprId>, depth: u32) -> ExprId {
        if depth == 0 || rng.random_range(0..5) == 0 {
            return known[rng.random_range(0..known.len())];
        }
        let a = random(store, rng, known, depth - 1);
        match rng.random_range(0..4) {
            0 => store.prim(Prim::Exp, &[a]),
            1 => {
                let var = store.fresh("x", TypeId::FLOAT);
                known.push(store.var(var));
                let body = random(store, rng, known, depth - 1);
                known.pop();
                store.let_(var, a, body)
            }
            op => {
                let b = random(store, rng, known, depth - 1);
                store.prim(if op == 2 { Prim::Add } else { Prim::Mul }, &[a, b])
            }
        }
    }

    fn graphs(count: usize) -> Vec<ExprGraph> {
        let mut store = Store::default();
        let mut rng = Seed(4).stream("expressions", 0);
        let mut known: Vec<ExprId> = ["a", "b"]
            .map(|name| {
                let var = store.fresh(name, TypeId::FLOAT);
                store.var(var)
            })
            .to_vec();
        let made = (0..count).map(|_| random(&mut store, &mut rng, &mut known, 5)).collect::<Vec<_>>();
        made.into_iter().filter_map(|expr| ExprGraph::new(&store, expr)).collect()
    }

    #[test]
    fn what_is_remembered_has_the_bits_of_what_is_computed() {
        for (rounds, readout, price) in [(0, 8, 0.0), (1, 0, 1.0), (3, 8, 0.0)] {
            let shape = Shape { hidden: 8, readout, rounds, price, ..Shape::default() };
            let mut net = ValueNet::new(shape, Seed(1)).unwrap();
            // An untrained network says nothing.
            for id in net.params.ids() {
                net.params.get_mut(id).data.iter_mut().enumerate().for_each(|(i, x)| *x += 0.01 * (i % 7) as f32);
            }
            let (mut memo, graphs) = (Memo::default(), graphs(60));
            for graphs in graphs.chunks(7).chain(graphs.chunks(5)) {
                let batch = Batch::new(graphs.iter(), net.rows());
                let remembered = memo.values(&net, &batch);
                let mut tape = Tape::inference(&net.params);
                let computed = net.forward(&mut tape, &batch, None);
                assert_eq!(&remembered, tape.value(computed));
            }
        }
    }
}
