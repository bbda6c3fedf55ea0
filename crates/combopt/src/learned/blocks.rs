//! A graph split over ranks in blocks of rows, and what one rank holds of it.

use labrys_graph::Graph;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// How embeddings of other ranks' nodes get here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExchangeMode {
    /// As in the paper (4.5): an all-reduce of all N x K values. The paper reduces partial sums of neighbours, whose last
    /// bits depend on the number of ranks; here each rank contributes its own rows and zeros, the same message.
    AllReduce,
    /// An all-gather of the blocks: half the bytes.
    AllGather,
    /// Only the rows that a rank has neighbours in: an all-to-all of distinct remote neighbours.
    #[default]
    Halo,
}

/// Most chunks that rows are dealt out in, as long as chunks stay below [`LONGEST_CHUNK`].
const CHUNKS: usize = 16;
const LONGEST_CHUNK: usize = 1024;
const SHORTEST_CHUNK: usize = 8;

/// Rows that are summed up together, whatever the number of ranks and threads. Blocks consist of whole chunks.
pub fn chunk_length(nodes: usize) -> usize {
    nodes.div_ceil(CHUNKS).next_multiple_of(SHORTEST_CHUNK).clamp(SHORTEST_CHUNK, LONGEST_CHUNK)
}

/// Where each rank's rows begin, and where the last one's end: whole chunks, with about the same number of arcs.
pub fn block_starts(graph: &Graph, ranks: usize) -> Vec<usize> {
    /// Work of a row besides its arcs, in arcs.
    const ROW: usize = 8;
    let (nodes, chunk) = (graph.nodes(), chunk_length(graph.nodes()));
    let total = 2 * graph.edge_count() + ROW * nodes;
    let mut starts = vec![0];
    let mut work = 0;
    for begin in (0..nodes).step_by(chunk) {
        while starts.len() < ranks && work * ranks >= total * starts.len() {
            starts.push(begin);
        }
        work += (begin..nodes.min(begin + chunk)).map(|v| graph.degree(v as u32) + ROW).sum::<usize>();
    }
    starts.resize(ranks + 1, nodes);
    starts
}

/// What one rank holds of a graph.
#[derive(Clone, Debug)]
pub struct LocalGraph<'g> {
    /// Where each rank's rows begin; one more than there are ranks.
    pub starts: Vec<usize>,
    /// This rank.
    pub rank: usize,
    /// Sums of the positive and of minus the negative weights of each local row's arcs.
    pub weights: Vec<[f32; 2]>,
    arcs: u64,
    offsets: Cow<'g, [u64]>,
    /// Neighbours as positions in the exchanged buffer.
    columns: Cow<'g, [u32]>,
    /// Weights of the arcs, if they are not all 1.
    arc_weights: Option<Vec<f32>>,
    halo: Option<Halo>,
}

/// Which rows travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Halo {
    /// Remote nodes that local rows have as neighbours, ascending, so that they come rank by rank.
    pub remote: Vec<u32>,
    /// How many of them each rank owns.
    pub from: Vec<usize>,
    /// Local rows that each other rank needs.
    pub to: Vec<Vec<u32>>,
}

impl<'g> LocalGraph<'g> {
    /// One rank's part of a graph.
    pub fn new(graph: &'g Graph, ranks: usize, rank: usize, mode: ExchangeMode) -> Self {
        let starts = block_starts(graph, ranks);
        let rows = starts[rank]..starts[rank + 1];
        let weights = rows.clone().map(|v| weight_sums(graph, v as u32)).collect();
        let arcs = || rows.clone().flat_map(|v| graph.weighted_neighbours(v as u32));
        let arc_weights = graph.is_weighted().then(|| arcs().map(|(_, weight)| weight as f32).collect());
        let adjacency = graph.adjacency();
        let mut local = Self {
            rank,
            weights,
            arcs: 2 * graph.edge_count() as u64,
            offsets: Cow::Borrowed(adjacency.offsets()),
            columns: Cow::Borrowed(adjacency.items()),
            arc_weights,
            halo: None,
            starts,
        };
        if ranks > 1 {
            local.cut(rows);
        }
        if ranks > 1 && mode == ExchangeMode::Halo {
            local.keep_halo(graph);
        }
        local
    }

    /// The whole graph on one rank.
    pub fn whole(graph: &'g Graph) -> Self {
        Self::new(graph, 1, 0, ExchangeMode::AllGather)
    }

    /// Keeps the rows of a block only.
    fn cut(&mut self, rows: Range<usize>) {
        let (begin, end) = (self.offsets[rows.start], self.offsets[rows.end]);
        self.columns = Cow::Owned(self.columns[begin as usize..end as usize].to_vec());
        self.offsets = Cow::Owned(self.offsets[rows.start..=rows.end].iter().map(|offset| offset - begin).collect());
    }

    /// Numbers neighbours by their positions in a buffer of local rows and halo rows.
    fn keep_halo(&mut self, graph: &Graph) {
        let rows = self.block();
        let mut remote: Vec<u32> = self.columns.iter().copied().filter(|&v| !rows.contains(&(v as usize))).collect();
        remote.sort_unstable();
        remote.dedup();
        let position = |v: u32| match rows.contains(&(v as usize)) {
            true => v - rows.start as u32,
            false => (rows.len() + remote.partition_point(|&u| u < v)) as u32,
        };
        let columns = self.columns.iter().map(|&v| position(v)).collect();
        let count = |range: &[usize]| {
            let below = |bound: usize| remote.partition_point(|&v| (v as usize) < bound);
            below(range[1]) - below(range[0])
        };
        let from = self.starts.windows(2).map(count).collect();
        let wanted = |range: &[usize]| rows_wanted(graph, rows.clone(), range[0]..range[1]);
        let to = self.starts.windows(2).map(wanted).collect();
        (self.columns, self.halo) = (Cow::Owned(columns), Some(Halo { remote, from, to }));
    }

    /// Number of nodes of the whole graph.
    pub fn nodes(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Number of arcs of the whole graph.
    pub fn arcs(&self) -> u64 {
        self.arcs
    }

    /// Number of local rows.
    pub fn rows(&self) -> usize {
        self.block().len()
    }

    /// The nodes whose rows are here.
    pub fn block(&self) -> Range<usize> {
        self.starts[self.rank]..self.starts[self.rank + 1]
    }

    /// The local row of a node, if it is here.
    pub fn row_of(&self, node: u32) -> Option<usize> {
        self.block().contains(&(node as usize)).then(|| node as usize - self.starts[self.rank])
    }

    /// The rank that owns a node.
    pub fn owner(&self, node: u32) -> usize {
        self.starts.partition_point(|&start| start <= node as usize) - 1
    }

    /// Neighbours of a local row, as positions.
    pub fn neighbours(&self, row: usize) -> &[u32] {
        &self.columns[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Weights of the arcs of a local row, if they are not all 1.
    pub fn arc_weights(&self, row: usize) -> Option<&[f32]> {
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        self.arc_weights.as_ref().map(|weights| &weights[range])
    }

    /// Length of the exchanged buffer, in rows.
    pub fn positions(&self) -> usize {
        self.halo.as_ref().map_or(self.nodes(), |halo| self.rows() + halo.remote.len())
    }

    /// The node at a position.
    pub fn node_at(&self, position: u32) -> u32 {
        match &self.halo {
            None => position,
            Some(_) if (position as usize) < self.rows() => position + self.starts[self.rank] as u32,
            Some(halo) => halo.remote[position as usize - self.rows()],
        }
    }

    /// The position of a node, if it has one here.
    pub fn position_of(&self, node: u32) -> Option<usize> {
        match (&self.halo, self.row_of(node)) {
            (None, _) => Some(node as usize),
            (Some(_), Some(row)) => Some(row),
            (Some(halo), None) => halo.remote.binary_search(&node).ok().map(|index| self.rows() + index),
        }
    }

    /// The position of the first local row.
    pub(crate) fn own_position(&self) -> usize {
        if self.halo.is_some() { 0 } else { self.starts[self.rank] }
    }

    pub(crate) fn halo(&self) -> Option<&Halo> {
        self.halo.as_ref()
    }

    pub(crate) fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }
}

/// Rows of a block that have a neighbour in another block.
fn rows_wanted(graph: &Graph, rows: Range<usize>, others: Range<usize>) -> Vec<u32> {
    if rows == others {
        return vec![];
    }
    let near = |v: &usize| {
        let neighbours = graph.neighbours(*v as u32);
        let first = neighbours.partition_point(|&u| (u as usize) < others.start);
        neighbours.get(first).is_some_and(|&u| (u as usize) < others.end)
    };
    rows.clone().filter(near).map(|v| (v - rows.start) as u32).collect()
}

fn weight_sums(graph: &Graph, v: u32) -> [f32; 2] {
    if !graph.is_weighted() {
        return [graph.degree(v) as f32, 0.0];
    }
    let sum = |sign: i64| graph.weighted_neighbours(v).map(|(_, weight)| (weight * sign).max(0)).sum::<i64>() as f32;
    [sum(1), sum(-1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use labrys_graph::generate;
    use labrys_search::Seed;

    fn graph() -> Graph {
        Graph::from_edges(100, generate::barabasi_albert(100, 3, &mut Seed(1).stream("graph", 0)))
    }

    #[test]
    fn blocks_cover_all_rows_in_whole_chunks() {
        let graph = graph();
        for ranks in 1..200 {
            let starts = block_starts(&graph, ranks);
            assert_eq!((starts.len(), starts[0], starts[ranks]), (ranks + 1, 0, 100));
            assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]));
            assert!(starts.iter().all(|start| start % chunk_length(100) == 0 || *start == 100));
        }
    }

    #[test]
    fn positions_name_the_same_neighbours_in_every_mode() {
        let graph = graph();
        for mode in [ExchangeMode::AllGather, ExchangeMode::Halo] {
            for rank in 0..3 {
                let local = LocalGraph::new(&graph, 3, rank, mode);
                for (row, node) in local.block().enumerate() {
                    let named: Vec<u32> = local.neighbours(row).iter().map(|&p| local.node_at(p)).collect();
                    assert_eq!(named, graph.neighbours(node as u32));
                    assert_eq!((local.row_of(node as u32), local.owner(node as u32)), (Some(row), rank));
                }
            }
        }
    }

    #[test]
    fn what_is_sent_is_what_is_wanted() {
        let graph = graph();
        let parts: Vec<_> = (0..4).map(|rank| LocalGraph::new(&graph, 4, rank, ExchangeMode::Halo)).collect();
        for here in &parts {
            let halo = here.halo().unwrap();
            let sent = parts.iter().flat_map(|there| {
                let rows = &there.halo().unwrap().to[here.rank];
                rows.iter().map(|&row| there.node_at(row))
            });
            assert_eq!(sent.collect::<Vec<_>>(), halo.remote);
        }
    }
}
