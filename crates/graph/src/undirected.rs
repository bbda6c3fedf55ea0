//! Undirected simple graphs with optional integer edge weights: 4 bytes an arc and 8 a node, 8 bytes more an arc if weighted.

use crate::Csr;
use crate::generate::Edge;

/// An undirected graph without self-loops and parallel edges. Nodes are `0..nodes`, neighbours are listed in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    adjacency: Csr<u32>,
    /// Weight of each arc, both arcs of an edge having the same; `None` if every edge weighs 1.
    weights: Option<Vec<i64>>,
}

/// What a builder left out to make a graph simple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Edges from a node to itself.
    pub self_loops: u64,
    /// Edges that were given before, in either direction. Their weights are added to the first, if there are weights.
    pub duplicates: u64,
}

impl Dropped {
    /// Whether the edges given made a simple graph.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} self-loops and {} duplicate edges", self.self_loops, self.duplicates)
    }
}

/// The edges given do not make a simple graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the graph is not simple: {0}")]
pub struct NotSimple(pub Dropped);

/// Collects edges in any order; 8 bytes an edge, 16 if weighted, until the graph is built.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    nodes: u32,
    edges: Vec<Edge>,
    /// Empty as long as every edge weighs 1.
    weights: Vec<i64>,
    total: u64,
}

impl GraphBuilder {
    /// A graph of `nodes` nodes that has no edges yet.
    pub fn new(nodes: u32) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// Number of edges given so far.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether no edge was given yet.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The edges given so far with their weights, ends as given, sorted.
    pub fn sorted_edges(&self) -> Vec<(u32, u32, i64)> {
        let weight = |i: usize| self.weights.get(i).copied().unwrap_or(1);
        let mut edges: Vec<_> = self.edges.iter().enumerate().map(|(i, &(a, b))| (a, b, weight(i))).collect();
        edges.sort_unstable();
        edges
    }

    /// Sum of the absolute weights given so far; sums of weights are safe while it stays below 2^60.
    pub fn total_weight(&self) -> u64 {
        self.total
    }

    /// Adds an edge of weight 1.
    ///
    /// # Panics
    /// If an end is no node; readers check before they ask.
    pub fn add(&mut self, a: u32, b: u32) {
        self.add_weighted(a, b, 1);
    }

    /// Adds an edge of any weight.
    ///
    /// # Panics
    /// If an end is no node.
    pub fn add_weighted(&mut self, a: u32, b: u32, weight: i64) {
        assert!(a < self.nodes && b < self.nodes, "edge {a}-{b} of a graph of {} nodes", self.nodes);
        if weight != 1 && self.weights.is_empty() {
            self.weights = vec![1; self.edges.len()];
        }
        if weight != 1 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.edges.push((a, b));
        self.total = self.total.saturating_add(weight.unsigned_abs());
    }

    /// The simple graph of the edges given, and what had to be left out.
    pub fn build(self) -> (Graph, Dropped) {
        let offsets = self.offsets();
        if self.weights.is_empty() {
            let arcs = self.scatter(&offsets, |_, to| to);
            let (adjacency, dropped) = simplify(&offsets, arcs, |&to| to, |_, _| {});
            return (Graph { adjacency, weights: None }, dropped);
        }
        let arcs = self.scatter(&offsets, |i, to| (to, self.weights[i]));
        let (rows, dropped) =
            simplify(&offsets, arcs, |&(to, _)| to, |kept, again| kept.1 = kept.1.saturating_add(again.1));
        let weights: Vec<i64> = (0..rows.arcs()).map(|i| rows.arc(i).1).collect();
        let weights = weights.iter().any(|&weight| weight != 1).then_some(weights);
        (Graph { adjacency: rows.map(|(to, _)| to), weights }, dropped)
    }

    /// The graph of the edges given, which must be simple.
    ///
    /// # Errors
    /// If there were self-loops or duplicates.
    pub fn build_strict(self) -> Result<Graph, NotSimple> {
        match self.build() {
            (graph, dropped) if dropped.is_nothing() => Ok(graph),
            (_, dropped) => Err(NotSimple(dropped)),
        }
    }

    /// Where each node's arcs begin, self-loops counting once.
    fn offsets(&self) -> Vec<u64> {
        let mut offsets = vec![0u64; self.nodes as usize + 1];
        for &(a, b) in &self.edges {
            offsets[a as usize + 1] += 1;
            offsets[b as usize + 1] += u64::from(a != b);
        }
        for v in 0..self.nodes as usize {
            offsets[v + 1] += offsets[v];
        }
        offsets
    }

    /// Both arcs of every edge, by the node that they leave.
    fn scatter<T: Copy + Default>(&self, offsets: &[u64], arc: impl Fn(usize, u32) -> T) -> Vec<T> {
        let mut next = offsets.to_vec();
        let mut arcs = vec![T::default(); offsets.last().map_or(0, |&end| end as usize)];
        let mut put = |from: u32, item: T| {
            let slot = &mut next[from as usize];
            arcs[*slot as usize] = item;
            *slot += 1;
        };
        for (i, &(a, b)) in self.edges.iter().enumerate() {
            put(a, arc(i, b));
            if a != b {
                put(b, arc(i, a));
            }
        }
        arcs
    }
}

/// Sorts each row by its key, merges what has the same key, drops the row's own index. Works in place.
fn simplify<T: Copy>(
    offsets: &[u64],
    mut arcs: Vec<T>,
    key: impl Fn(&T) -> u32,
    merge: impl Fn(&mut T, T),
) -> (Csr<T>, Dropped) {
    let mut kept = 0;
    let mut ends = Vec::with_capacity(offsets.len());
    ends.push(0);
    let mut dropped = Dropped::default();
    for (row, bounds) in offsets.windows(2).enumerate() {
        let (begin, end) = (bounds[0] as usize, bounds[1] as usize);
        // Stable, so that merged weights are added in the order of the file.
        arcs[begin..end].sort_by_key(&key);
        let first = kept;
        for i in begin..end {
            let arc = arcs[i];
            if key(&arc) as usize == row {
                dropped.self_loops += 1;
            } else if kept > first && key(&arcs[kept - 1]) == key(&arc) {
                dropped.duplicates += u64::from((key(&arc) as usize) < row);
                merge(&mut arcs[kept - 1], arc);
            } else {
                arcs[kept] = arc;
                kept += 1;
            }
        }
        ends.push(kept as u64);
    }
    arcs.truncate(kept);
    (Csr::from_parts(ends, arcs), dropped)
}

impl Graph {
    /// The simple graph of some edges of weight 1; self-loops and duplicates are left out silently.
    ///
    /// # Panics
    /// If an end is not below `nodes`.
    pub fn from_edges(nodes: u32, edges: impl IntoIterator<Item = Edge>) -> Self {
        // A vector is taken as it is, without a second one.
        let edges: Vec<Edge> = edges.into_iter().collect();
        if let Some((a, b)) = edges.iter().find(|&&(a, b)| a.max(b) >= nodes) {
            panic!("edge {a}-{b} of a graph of {nodes} nodes");
        }
        GraphBuilder { nodes, total: edges.len() as u64, edges, weights: vec![] }.build().0
    }

    /// Number of nodes.
    #[inline]
    pub fn nodes(&self) -> usize {
        self.adjacency.rows()
    }

    /// Number of edges.
    #[inline]
    pub fn edge_count(&self) -> usize {
        self.adjacency.arcs() / 2
    }

    /// Neighbours of a node, ascending.
    #[inline]
    pub fn neighbours(&self, v: u32) -> &[u32] {
        self.adjacency.row(v as usize)
    }

    /// Number of neighbours.
    #[inline]
    pub fn degree(&self, v: u32) -> usize {
        self.adjacency.range(v as usize).len()
    }

    /// Highest degree, 0 without nodes.
    pub fn max_degree(&self) -> usize {
        (0..self.nodes()).map(|v| self.adjacency.range(v).len()).max().unwrap_or(0)
    }

    /// The adjacency as rows of neighbours.
    #[inline]
    pub fn adjacency(&self) -> &Csr<u32> {
        &self.adjacency
    }

    /// Whether any edge weighs other than 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Neighbours of a node with the weights of the edges.
    #[inline]
    pub fn weighted_neighbours(&self, v: u32) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.adjacency.range(v as usize).map(|arc| (self.adjacency.arc(arc), self.arc_weight(arc)))
    }

    /// Weight of the arc at a position of [`Csr::range`].
    #[inline]
    pub fn arc_weight(&self, arc: usize) -> i64 {
        self.weights.as_ref().map_or(1, |weights| weights[arc])
    }

    /// Whether two nodes are neighbours. O(log of the smaller degree).
    pub fn has_edge(&self, a: u32, b: u32) -> bool {
        let (a, b) = if self.degree(a) <= self.degree(b) { (a, b) } else { (b, a) };
        self.neighbours(a).binary_search(&b).is_ok()
    }

    /// Every edge once, lower node first, in ascending order.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        (0..self.nodes() as u32).flat_map(|a| self.neighbours(a).iter().filter(move |&&b| a < b).map(move |&b| (a, b)))
    }

    /// Every edge once with its weight, in the order of [`edges`](Self::edges).
    pub fn weighted_edges(&self) -> impl Iterator<Item = (Edge, i64)> + '_ {
        let row = |a: u32| self.weighted_neighbours(a).filter(move |&(b, _)| a < b).map(move |(b, w)| ((a, b), w));
        (0..self.nodes() as u32).flat_map(row)
    }

    /// The graph of the pairs that are no edges here.
    pub fn complement(&self) -> Self {
        let n = self.nodes() as u32;
        let absent = |v: u32| {
            let mut present = self.neighbours(v).iter().peekable();
            (0..n).filter(move |&u| present.next_if(|&&p| p == u).is_none() && u != v)
        };
        Self { adjacency: Csr::from_rows((0..n).map(absent)), weights: None }
    }

    /// The graph that some nodes induce, numbered in the order given. Weights are kept.
    pub fn subgraph(&self, nodes: &[u32]) -> Self {
        let mut number = vec![u32::MAX; self.nodes()];
        nodes.iter().enumerate().for_each(|(i, &v)| number[v as usize] = i as u32);
        let mut builder = GraphBuilder::new(nodes.len() as u32);
        for &v in nodes {
            for (u, weight) in self.weighted_neighbours(v).filter(|&(u, _)| number[u as usize] != u32::MAX) {
                if number[v as usize] < number[u as usize] {
                    builder.add_weighted(number[v as usize], number[u as usize], weight);
                }
            }
        }
        builder.build().0
    }

    /// The connected components, each with its nodes ascending, by their smallest nodes.
    pub fn components(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.nodes()];
        let mut components = vec![];
        for root in 0..self.nodes() as u32 {
            if std::mem::replace(&mut seen[root as usize], true) {
                continue;
            }
            let mut component = vec![root];
            let mut next = 0;
            while next < component.len() {
                for &u in self.neighbours(component[next]) {
                    if !std::mem::replace(&mut seen[u as usize], true) {
                        component.push(u);
                    }
                }
                next += 1;
            }
            component.sort_unstable();
            components.push(component);
        }
        components
    }

    /// Heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.adjacency.heap_bytes() + self.weights.as_ref().map_or(0, |weights| weights.capacity() * size_of::<i64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_duplicates_are_counted_and_left_out() {
        let mut builder = GraphBuilder::new(4);
        [(0, 1), (1, 0), (2, 2), (0, 1), (3, 1), (2, 2)].iter().for_each(|&(a, b)| builder.add(a, b));
        let expected = Dropped { self_loops: 2, duplicates: 2 };
        assert_eq!(builder.clone().build_strict(), Err(NotSimple(expected)));
        let (graph, dropped) = builder.build();
        assert_eq!(dropped, expected);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 3)]);
        assert_eq!((graph.nodes(), graph.edge_count(), graph.degree(2), graph.max_degree()), (4, 2, 0, 2));
        assert!(graph.has_edge(3, 1) && !graph.has_edge(0, 3) && !graph.is_weighted());
    }

    #[test]
    fn weights_of_duplicates_add_up_whatever_the_direction() {
        let mut builder = GraphBuilder::new(3);
        builder.add(2, 1);
        builder.add_weighted(0, 1, -5);
        builder.add_weighted(1, 2, 7);
        assert_eq!(builder.total_weight(), 13);
        let (graph, dropped) = builder.build();
        assert_eq!(dropped, Dropped { self_loops: 0, duplicates: 1 });
        assert_eq!(graph.weighted_edges().collect::<Vec<_>>(), [((0, 1), -5), ((1, 2), 8)]);
        assert_eq!(graph.weighted_neighbours(1).collect::<Vec<_>>(), [(0, -5), (2, 8)]);
    }

    #[test]
    fn complement_subgraph_and_components() {
        let graph = Graph::from_edges(6, [(0, 1), (1, 2), (4, 5)]);
        assert_eq!(graph.components(), [vec![0, 1, 2], vec![3], vec![4, 5]]);
        let complement = graph.complement();
        assert_eq!(complement.edge_count(), 15 - 3);
        assert!(graph.edges().all(|(a, b)| !complement.has_edge(a, b)));
        assert_eq!(complement.complement(), graph);
        let part = graph.subgraph(&[2, 5, 1]);
        assert_eq!(part.edges().collect::<Vec<_>>(), [(0, 2)]);
        assert_eq!(Graph::from_edges(0, []).components().len(), 0);
    }

    #[test]
    fn memory_is_four_bytes_an_arc_and_eight_a_node() {
        let n = 1_000u32;
        let graph = Graph::from_edges(n, (0..n).flat_map(|a| (1..=5).map(move |k| (a, (a + k) % n))));
        assert!(graph.heap_bytes() <= 4 * 10_000 + 2 * 8 * 1_024, "{} bytes", graph.heap_bytes());
    }
}
