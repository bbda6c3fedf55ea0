//! Attributed directed multigraphs as edge arrays, several in one batch.

use crate::Matrix;
use std::ops::Range;

/// Consecutive ranges of rows that cover all of them, such as the nodes of each graph of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    offsets: Vec<u32>,
}

impl Segments {
    /// Segments of the given lengths.
    pub fn new(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut offsets = vec![0u32];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length as u32);
        }
        Self { offsets }
    }

    /// Number of segments.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows over all segments.
    pub fn rows(&self) -> usize {
        self.offsets[self.len()] as usize
    }

    /// The rows of a segment.
    pub fn range(&self, index: usize) -> Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }

    /// The rows of every segment.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.len()).map(|index| self.range(index))
    }
}

/// For each node its edges on one side, in ascending order, with the node at the other end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Incidence {
    offsets: Vec<u32>,
    /// (edge, node at the other end).
    edges: Vec<(u32, u32)>,
}

impl Incidence {
    fn new(nodes: usize, own: &[u32], other: &[u32]) -> Self {
        let mut offsets = vec![0u32; nodes + 1];
        own.iter().for_each(|&node| offsets[node as usize + 1] += 1);
        (0..nodes).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut next = offsets.clone();
        let mut edges = vec![(0, 0); own.len()];
        for (edge, (&node, &end)) in own.iter().zip(other).enumerate() {
            let slot = &mut next[node as usize];
            edges[*slot as usize] = (edge as u32, end);
            *slot += 1;
        }
        Self { offsets, edges }
    }

    /// (edge, node at the other end) of the edges of all nodes in order.
    #[inline]
    pub fn all(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// (edge, node at the other end) of every edge of a node.
    #[inline]
    pub fn of(&self, node: usize) -> &[(u32, u32)] {
        &self.edges[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

/// The edges of a graph do not fit its nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// An edge has an end that is no node.
    #[error("edge {edge} goes from node {source_node} to node {target}, but there are {nodes} nodes, numbered from 0")]
    NoSuchNode {
        /// Position among the edges.
        edge: usize,
        /// Its first end.
        source_node: u32,
        /// Its second end.
        target: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// There are edge features for another number of edges.
    #[error("{edges} edges, but features for {features}")]
    EdgeFeatures {
        /// Number of edges.
        edges: usize,
        /// Number of rows of features.
        features: usize,
    },
}

/// The edges of a graph: edge `i` goes from node `sources[i]` to node `targets[i]`. Edges may be parallel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeArrays {
    /// First end of every edge.
    pub sources: Vec<u32>,
    /// Second end of every edge.
    pub targets: Vec<u32>,
}

impl FromIterator<(u32, u32)> for EdgeArrays {
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(edges: I) -> Self {
        let (sources, targets) = edges.into_iter().unzip();
        Self { sources, targets }
    }
}

/// One or more attributed directed multigraphs, side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphBatch {
    node_features: Matrix,
    edge_features: Matrix,
    edges: EdgeArrays,
    graphs: Segments,
    incoming: Incidence,
    outgoing: Incidence,
}

impl GraphBatch {
    /// A batch of one graph, with one row of features for each node and for each edge.
    pub fn new(node_features: Matrix, edge_features: Matrix, edges: EdgeArrays) -> Result<Self, BatchError> {
        let (nodes, count) = (node_features.rows, edges.sources.len());
        if edge_features.rows != count || edges.targets.len() != count {
            return Err(BatchError::EdgeFeatures { edges: count, features: edge_features.rows });
        }
        let ends = edges.sources.iter().zip(&edges.targets);
        for (edge, (&source_node, &target)) in ends.enumerate() {
            if source_node as usize >= nodes || target as usize >= nodes {
                return Err(BatchError::NoSuchNode { edge, source_node, target, nodes });
            }
        }
        Ok(Self::assemble(node_features, edge_features, edges, Segments::new([nodes])))
    }

    /// Several batches side by side; nodes and edges keep their order.
    ///
    /// # Panics
    /// If there are none, or they have different numbers of features.
    pub fn join(batches: &[&Self]) -> Self {
        let mut edges = EdgeArrays::default();
        let mut nodes = 0;
        for batch in batches {
            edges.sources.extend(batch.edges.sources.iter().map(|node| node + nodes));
            edges.targets.extend(batch.edges.targets.iter().map(|node| node + nodes));
            nodes += batch.nodes() as u32;
        }
        let node_features = stack(batches.iter().map(|batch| &batch.node_features));
        let edge_features = stack(batches.iter().map(|batch| &batch.edge_features));
        let graphs = Segments::new(batches.iter().flat_map(|batch| batch.graphs.iter().map(|range| range.len())));
        Self::assemble(node_features, edge_features, edges, graphs)
    }

    fn assemble(node_features: Matrix, edge_features: Matrix, edges: EdgeArrays, graphs: Segments) -> Self {
        let nodes = node_features.rows;
        let incoming = Incidence::new(nodes, &edges.targets, &edges.sources);
        let outgoing = Incidence::new(nodes, &edges.sources, &edges.targets);
        Self { node_features, edge_features, edges, graphs, incoming, outgoing }
    }

    /// Number of nodes over all graphs.
    pub fn nodes(&self) -> usize {
        self.node_features.rows
    }

    /// Number of edges over all graphs.
    pub fn edges(&self) -> usize {
        self.edge_features.rows
    }

    /// The nodes of each graph.
    pub fn graphs(&self) -> &Segments {
        &self.graphs
    }

    /// One row a node.
    pub fn node_features(&self) -> &Matrix {
        &self.node_features
    }

    /// One row an edge.
    pub fn edge_features(&self) -> &Matrix {
        &self.edge_features
    }

    /// Both ends of every edge.
    pub fn edge_arrays(&self) -> &EdgeArrays {
        &self.edges
    }

    /// Edges by the node that they lead to.
    pub(crate) fn incoming(&self) -> &Incidence {
        &self.incoming
    }

    /// Edges by the node that they start from.
    pub(crate) fn outgoing(&self) -> &Incidence {
        &self.outgoing
    }
}

fn stack<'m>(parts: impl Iterator<Item = &'m Matrix> + Clone) -> Matrix {
    // A graph without edges may have no columns either.
    let cols = parts.clone().map(|part| part.cols).max().unwrap_or(0);
    assert!(parts.clone().all(|part| part.cols == cols || part.rows == 0), "graphs with different numbers of features");
    let rows = parts.clone().map(|part| part.rows).sum();
    Matrix::new(rows, cols, parts.flat_map(|part| part.data.iter().copied()).collect())
}
