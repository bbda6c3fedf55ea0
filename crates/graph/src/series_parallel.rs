//! Series-parallel decomposition of a DAG whose nodes carry the work (*vertex series-parallel*).
//!
//! Every node becomes an arc, every dependency an arc without a node, and the result is reduced as a *two-terminal* series-parallel
//! graph: Valdes, Tarjan & Lawler, "The recognition of series parallel digraphs", SIAM J. Computing 11(2), 1982. Where all of
//! some nodes precede all of some others, both meet in a hub, which stands for their |P| x |S| arcs.
//!
//! The arcs are taken as given: a redundant arc that spans a whole part (a skip connection) is found, one that starts inside a
//! part and ends outside of it hides an otherwise series-parallel graph. Every transitively reduced one is found.

use crate::{Csr, Id};
use std::collections::HashMap;

/// One node of a decomposition tree; children are positions in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<T> {
    /// A node of the graph.
    Node(T),
    /// All of the first part precedes all of the second.
    Series(u32, u32),
    /// No node of one part precedes one of the other.
    Parallel(u32, u32),
}

/// The decomposition tree of an acyclic graph, children before their parents and the root last, or `None` if none was found.
///
/// Takes O(n + m) expected time.
pub fn decompose<T: Id>(succs: &Csr<T>) -> Option<Vec<Part<T>>> {
    let nodes = succs.rows();
    u32::try_from(4 * nodes + succs.arcs() + 2).ok()?;
    let preds: Csr<T> = succs.transpose(nodes);
    let mut reduction = Reduction::new(nodes);
    reduction.connect(&preds.transpose(nodes), &preds);
    reduction.reduce();
    reduction.finish()
}

/// An arc of the two-terminal graph, with what it stands for: nothing or a part of the tree.
#[derive(Clone, Copy)]
struct Arc {
    tail: u32,
    head: u32,
    part: Option<u32>,
}

/// The arcs on one side of a vertex: enough to tell which one it is when there is only one.
#[derive(Clone, Copy, Default)]
struct Side {
    count: u32,
    xor: u32,
}

impl Side {
    fn add(&mut self, arc: u32) {
        self.count += 1;
        self.xor ^= arc;
    }

    fn remove(&mut self, arc: u32) {
        self.count -= 1;
        self.xor ^= arc;
    }

    fn only(self) -> Option<u32> {
        (self.count == 1).then_some(self.xor)
    }
}

const SOURCE: u32 = 0;
const SINK: u32 = 1;

/// Where the arc of a node starts.
fn start<T: Id>(node: T) -> u32 {
    2 + 2 * node.index() as u32
}

/// Where the arc of a node ends.
fn end<T: Id>(node: T) -> u32 {
    start(node) + 1
}

/// The two-terminal graph while it shrinks: at most one arc from one vertex to another.
struct Reduction<T> {
    tree: Vec<Part<T>>,
    arcs: Vec<Arc>,
    between: HashMap<(u32, u32), u32>,
    into: Vec<Side>,
    out_of: Vec<Side>,
}

impl<T: Id> Reduction<T> {
    /// The arcs of the nodes, yet unconnected.
    fn new(nodes: usize) -> Self {
        let sides = vec![Side::default(); 2 + 2 * nodes];
        let tree = (0..nodes).map(|node| Part::Node(T::new(node))).collect();
        let mut reduction = Self { tree, arcs: vec![], between: HashMap::new(), into: sides.clone(), out_of: sides };
        for node in 0..nodes {
            reduction.insert(start(T::new(node)), end(T::new(node)), Some(node as u32));
        }
        reduction
    }

    fn connect(&mut self, succs: &Csr<T>, preds: &Csr<T>) {
        let mut is_connected = vec![false; succs.rows()];
        for node in (0..succs.rows()).map(T::new) {
            if preds.row(node.index()).is_empty() {
                self.insert(SOURCE, start(node), None);
            }
            if succs.row(node.index()).is_empty() {
                self.insert(end(node), SINK, None);
            } else if is_connected[node.index()] {
                continue;
            } else if let Some((before, after)) = block(succs, preds, node) {
                before.iter().for_each(|b| is_connected[b.index()] = true);
                self.connect_all(before, after);
            } else {
                succs.row(node.index()).iter().for_each(|&s| self.insert(end(node), start(s), None));
            }
        }
    }

    /// Connects all of `before` to all of `after` through a new vertex.
    fn connect_all(&mut self, before: &[T], after: &[T]) {
        let hub = self.into.len() as u32;
        self.into.push(Side::default());
        self.out_of.push(Side::default());
        before.iter().for_each(|&b| self.insert(end(b), hub, None));
        after.iter().for_each(|&a| self.insert(hub, start(a), None));
    }

    /// Adds an arc, by parallel reduction if there is one already.
    fn insert(&mut self, tail: u32, head: u32, part: Option<u32>) {
        if let Some(&arc) = self.between.get(&(tail, head)) {
            self.arcs[arc as usize].part = self.compose(Part::Parallel, self.arcs[arc as usize].part, part);
            return;
        }
        let arc = self.arcs.len() as u32;
        self.arcs.push(Arc { tail, head, part });
        self.between.insert((tail, head), arc);
        self.out_of[tail as usize].add(arc);
        self.into[head as usize].add(arc);
    }

    fn remove(&mut self, id: u32) -> Arc {
        let arc = self.arcs[id as usize];
        self.between.remove(&(arc.tail, arc.head));
        self.out_of[arc.tail as usize].remove(id);
        self.into[arc.head as usize].remove(id);
        arc
    }

    fn compose(&mut self, how: fn(u32, u32) -> Part<T>, first: Option<u32>, second: Option<u32>) -> Option<u32> {
        let (Some(a), Some(b)) = (first, second) else { return first.or(second) };
        self.tree.push(how(a, b));
        Some(self.tree.len() as u32 - 1)
    }

    /// Series reductions, as long as a vertex has one arc on either side.
    fn reduce(&mut self) {
        let mut candidates: Vec<u32> = (0..self.into.len() as u32).collect();
        while let Some(vertex) = candidates.pop() {
            let sides = (self.into[vertex as usize].only(), self.out_of[vertex as usize].only());
            // The same arc twice is a loop, which no acyclic graph leads to.
            if let (Some(a), Some(b)) = sides
                && a != b
            {
                let (first, second) = (self.remove(a), self.remove(b));
                let part = self.compose(Part::Series, first.part, second.part);
                self.insert(first.tail, second.head, part);
                candidates.extend([first.tail, second.head]);
            }
        }
    }

    /// The tree, if a single arc from source to sink is left.
    fn finish(self) -> Option<Vec<Part<T>>> {
        (self.between.len() == 1 && self.between.contains_key(&(SOURCE, SINK))).then_some(self.tree)
    }
}

/// The nodes with the same successors as `node`, and these successors, if they have no other predecessors and `node` is the first.
///
/// Only the first node of a block compares more than one row, so that all calls together take O(n + m).
fn block<'a, T: Id>(succs: &'a Csr<T>, preds: &'a Csr<T>, node: T) -> Option<(&'a [T], &'a [T])> {
    let after = succs.row(node.index());
    let before = preds.row(after.first()?.index());
    let is_block = before.len() > 1
        && after.len() > 1
        && before[0] == node
        && before.iter().all(|b| succs.row(b.index()) == after)
        && after.iter().all(|a| preds.row(a.index()) == before);
    is_block.then_some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt as _, SeedableRng as _};
    crate::define_id!(
        /// A test id.
        Node
    );

    type Relation = Vec<Vec<bool>>;

    fn graph(nodes: usize, arcs: &[(u32, u32)]) -> Csr<Node> {
        let row = |v: usize| arcs.iter().filter(move |arc| arc.0 as usize == v).map(|arc| Node(arc.1));
        Csr::from_rows((0..nodes).map(row))
    }

    fn reachability(succs: &Csr<Node>) -> Relation {
        let n = succs.rows();
        let mut reach = vec![vec![false; n]; n];
        for v in crate::dag::topological_order(succs).unwrap().into_iter().rev() {
            for s in succs.row(v.index()) {
                let below = reach[s.index()].clone();
                reach[v.index()].iter_mut().zip(below).for_each(|(r, b)| *r |= b);
                reach[v.index()][s.index()] = true;
            }
        }
        reach
    }

    /// What precedes what according to a tree, which must hold every node once.
    fn precedence(n: usize, tree: &[Part<Node>]) -> Relation {
        let mut precedes = vec![vec![false; n]; n];
        let mut members: Vec<Vec<Node>> = vec![];
        for &part in tree {
            let held = match part {
                Part::Node(node) => vec![node],
                Part::Series(a, b) | Part::Parallel(a, b) => {
                    let (a, b) = (std::mem::take(&mut members[a as usize]), std::mem::take(&mut members[b as usize]));
                    for (x, y) in a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))) {
                        precedes[x.index()][y.index()] = matches!(part, Part::Series(..));
                    }
                    [a, b].concat()
                }
            };
            members.push(held);
        }
        assert_eq!(members.last().unwrap().len(), n, "the root holds all nodes");
        precedes
    }

    /// Arcs of a random transitively reduced series-parallel graph over the nodes `low..high`.
    fn random_arcs(low: u32, high: u32, rng: &mut impl Rng) -> Vec<(u32, u32)> {
        if high - low == 1 {
            return vec![];
        }
        let middle = rng.random_range(low + 1..high);
        let (first, second) = (random_arcs(low, middle, rng), random_arcs(middle, high, rng));
        let mut arcs = vec![];
        if rng.random_bool(0.6) {
            let is_last = |v: &u32| first.iter().all(|arc| arc.0 != *v);
            let is_first = |v: &u32| second.iter().all(|arc| arc.1 != *v);
            let firsts: Vec<u32> = (middle..high).filter(is_first).collect();
            arcs.extend((low..middle).filter(is_last).flat_map(|a| firsts.iter().map(move |&b| (a, b))));
        }
        [first, second, arcs].concat()
    }

    #[test]
    fn series_parallel_graphs_are_found_with_their_precedence() {
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        for _ in 0..500 {
            let n = rng.random_range(1..=14);
            let succs = graph(n, &random_arcs(0, n as u32, &mut rng));
            let tree = decompose(&succs).expect("series-parallel by construction");
            assert_eq!(precedence(n, &tree), reachability(&succs));
        }
    }

    #[test]
    fn whatever_is_found_in_a_random_graph_has_its_precedence() {
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(2);
        let mut found = 0;
        for _ in 0..500 {
            let arcs: Vec<_> = crate::generate::erdos_renyi(6, 0.4, &mut rng);
            let succs = graph(6, &arcs);
            if let Some(tree) = decompose(&succs) {
                found += 1;
                assert_eq!(precedence(6, &tree), reachability(&succs));
            }
        }
        assert!((50..450).contains(&found), "{found}");
    }

    #[test]
    fn skip_connections_are_found_and_the_n_is_not() {
        let skip = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (0, 4)];
        assert!(decompose(&graph(5, &skip)).is_some());
        assert_eq!(decompose(&graph(4, &[(0, 2), (0, 3), (1, 3)])), None);
        assert_eq!(decompose(&graph(2, &[(0, 1), (1, 0)])), None, "a cycle");
        assert_eq!(decompose(&graph(0, &[])), None);
    }

    #[test]
    fn long_chains_and_wide_blocks_are_fine() {
        let n = 50_000u32;
        let chain = Csr::from_rows((1..=n).map(|next| (next < n).then_some(Node(next))));
        assert_eq!(decompose(&chain).unwrap().len(), 2 * n as usize - 1);
        let block = Csr::from_rows((0..600).map(|v| if v < 300 { (300..600).map(Node).collect() } else { vec![] }));
        assert_eq!(decompose(&block).unwrap().len(), 1_199);
    }
}
