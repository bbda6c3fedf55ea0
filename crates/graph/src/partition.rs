//! Balanced partitioning of undirected weighted graphs with a small cut.

use crate::Csr;
use std::collections::BTreeMap;

/// An undirected graph with edge weights. Parallel edges are merged, self-loops dropped.
#[derive(Clone, Debug)]
pub struct WeightedGraph {
    neighbours: Csr<(u32, u64)>,
}

impl WeightedGraph {
    /// From edges `(a, b, weight)` between nodes below `nodes`.
    pub fn new(nodes: usize, edges: &[(u32, u32, u64)]) -> Self {
        let mut rows: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); nodes];
        for &(a, b, weight) in edges.iter().filter(|(a, b, _)| a != b) {
            *rows[a as usize].entry(b).or_default() += weight;
            *rows[b as usize].entry(a).or_default() += weight;
        }
        Self { neighbours: Csr::from_rows(rows) }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.neighbours.rows()
    }

    /// Neighbours of a node with the weight of the edge.
    pub fn neighbours(&self, node: u32) -> &[(u32, u64)] {
        self.neighbours.row(node as usize)
    }

    /// Total weight of the edges between different parts.
    pub fn cut(&self, part: &[usize]) -> u64 {
        let crossing = |a: u32| {
            let row = self.neighbours(a).iter();
            row.filter(move |(b, _)| a < *b && part[a as usize] != part[*b as usize]).map(|(_, weight)| weight)
        };
        (0..self.nodes() as u32).flat_map(crossing).sum()
    }
}

/// Splits the nodes into `parts` parts of near-equal size by repeated Kernighan-Lin bisection.
pub fn recursive_bisection(graph: &WeightedGraph, parts: usize) -> Vec<usize> {
    let mut part = vec![0; graph.nodes()];
    split(graph, (0..graph.nodes() as u32).collect(), 0..parts.max(1), &mut part);
    part
}

fn split(graph: &WeightedGraph, nodes: Vec<u32>, parts: std::ops::Range<usize>, part: &mut [usize]) {
    if parts.len() == 1 {
        nodes.iter().for_each(|&v| part[v as usize] = parts.start);
        return;
    }
    let middle = parts.start + parts.len() / 2;
    let first = nodes.len() * (middle - parts.start) / parts.len();
    let (left, right) = bisect(graph, nodes, first);
    split(graph, left, parts.start..middle, part);
    split(graph, right, middle..parts.end, part);
}

/// Two sides of `nodes`, the first of the given size: starts with the first nodes as listed, then exchanges.
fn bisect(graph: &WeightedGraph, nodes: Vec<u32>, first: usize) -> (Vec<u32>, Vec<u32>) {
    let mut side = vec![Side::Outside; graph.nodes()];
    for (i, &v) in nodes.iter().enumerate() {
        side[v as usize] = if i < first { Side::Left } else { Side::Right };
    }
    const MOST_PASSES: usize = 10;
    for _ in 0..MOST_PASSES {
        if !exchange_pass(graph, &nodes, &mut side) {
            break;
        }
    }
    nodes.into_iter().partition(|&v| side[v as usize] == Side::Left)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Outside,
}

/// What moving a node to the other side takes off the cut.
fn gain(graph: &WeightedGraph, side: &[Side], v: u32) -> i64 {
    let here = side[v as usize];
    let mut gain = 0;
    for &(other, weight) in graph.neighbours(v) {
        match side[other as usize] {
            Side::Outside => {}
            there if there == here => gain -= weight as i64,
            _ => gain += weight as i64,
        }
    }
    gain
}

/// One pass of Kernighan & Lin (1970) in the form of Fiduccia & Mattheyses: alternately moves the best unlocked node of each
/// side, so that the sizes stay, then keeps the best prefix of the moves. Says whether the cut became smaller.
fn exchange_pass(graph: &WeightedGraph, nodes: &[u32], side: &mut [Side]) -> bool {
    let mut gains: Vec<i64> = vec![0; graph.nodes()];
    let mut open = [std::collections::BTreeSet::new(), std::collections::BTreeSet::new()];
    for &v in nodes {
        gains[v as usize] = gain(graph, side, v);
        open[usize::from(side[v as usize] == Side::Right)].insert((gains[v as usize], std::cmp::Reverse(v)));
    }
    let mut moved = vec![];
    let (mut total, mut best, mut kept) = (0i64, 0i64, 0usize);
    while !open[0].is_empty() && !open[1].is_empty() {
        // Past this many fruitless exchanges a pass hardly ever recovers.
        if moved.len() > kept + 2 * 200.max(nodes.len() / 50) {
            break;
        }
        for (from, to) in [(0, Side::Right), (1, Side::Left)] {
            let Some((gain, std::cmp::Reverse(v))) = open[from].pop_last() else { continue };
            total += gain;
            side[v as usize] = to;
            moved.push(v);
            for &(other, weight) in graph.neighbours(v) {
                let their = side[other as usize];
                let change = if their == to { -2 * weight as i64 } else { 2 * weight as i64 };
                let old = (gains[other as usize], std::cmp::Reverse(other));
                gains[other as usize] += change;
                if their != Side::Outside && open[usize::from(their == Side::Right)].remove(&old) {
                    open[usize::from(their == Side::Right)].insert((gains[other as usize], std::cmp::Reverse(other)));
                }
            }
        }
        if total > best {
            (best, kept) = (total, moved.len());
        }
    }
    for &v in &moved[kept..] {
        side[v as usize] = if side[v as usize] == Side::Left { Side::Right } else { Side::Left };
    }
    best > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cliques of four joined by one edge, with their nodes interleaved.
    fn two_cliques() -> WeightedGraph {
        let mut edges = vec![(0, 1, 1)];
        for a in 0..8u32 {
            edges.extend((0..a).filter(|b| a % 2 == b % 2).map(|b| (a, b, 5)));
        }
        WeightedGraph::new(8, &edges)
    }

    #[test]
    fn bisection_finds_the_cliques() {
        let graph = two_cliques();
        let part = recursive_bisection(&graph, 2);
        assert_eq!(graph.cut(&part), 1);
        assert_eq!(part.iter().filter(|&&p| p == 0).count(), 4);
    }

    #[test]
    fn parts_are_balanced() {
        let edges: Vec<_> = (1..30u32).map(|v| (v - 1, v, 1)).collect();
        let graph = WeightedGraph::new(30, &edges);
        for parts in 1..6 {
            let part = recursive_bisection(&graph, parts);
            let sizes: Vec<usize> = (0..parts).map(|p| part.iter().filter(|&&q| q == p).count()).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
        assert_eq!(graph.cut(&recursive_bisection(&graph, 3)), 2);
    }
}
