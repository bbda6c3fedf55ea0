//! What is left of a graph as nodes are taken away from it; each rank keeps what concerns its rows.

use super::from_owner;
use crate::learned::blocks::LocalGraph;
use labrys_comm::{CommError, Communicator};

/// A unit of [`Remainder::freed`] is 2^-32, so that its sums are exact.
const UNIT: f64 = (1u64 << 32) as f64;

/// The graph that the remaining nodes induce.
pub(super) struct Remainder<'g> {
    pub(super) graph: &'g LocalGraph<'g>,
    /// Whether the node at a position remains.
    pub(super) alive: Vec<bool>,
    /// Remaining edges of each local row; 0 for those that are gone.
    pub(super) degrees: Vec<u32>,
    /// Remaining arcs of the whole graph.
    pub(super) arcs: u64,
    /// Local rows that the last [`remove`](Self::remove) changed, once each.
    pub(super) touched: Vec<u32>,
    /// By how much it made the sum of d / (d + 1) over degrees of local rows smaller.
    freed: i64,
}

/// A node of some degree adds d / (d + 1) to the cover that Caro and Wei guarantee, and the rest of 1 to the independent set.
fn share(degree: u32) -> i64 {
    (f64::from(degree) / (f64::from(degree) + 1.0) * UNIT) as i64
}

impl<'g> Remainder<'g> {
    /// The whole graph.
    pub(super) fn whole(graph: &'g LocalGraph<'g>) -> Self {
        let degrees = (0..graph.rows()).map(|row| graph.neighbours(row).len() as u32).collect();
        Self { graph, alive: vec![true; graph.positions()], degrees, arcs: graph.arcs(), touched: vec![], freed: 0 }
    }

    /// The graph without some nodes, except for the number of its arcs, which would take a message.
    pub(super) fn without(graph: &'g LocalGraph<'g>, nodes: &[u32]) -> Self {
        let mut left = Self::whole(graph);
        nodes.iter().filter_map(|&v| graph.position_of(v)).for_each(|position| left.alive[position] = false);
        for row in 0..graph.rows() {
            let there = graph.neighbours(row).iter().filter(|&&position| left.alive[position as usize]);
            left.degrees[row] = if left.has(row) { there.count() as u32 } else { 0 };
        }
        left
    }

    /// Whether the node of a local row remains.
    pub(super) fn has(&self, row: usize) -> bool {
        self.alive[self.graph.own_position() + row]
    }

    /// Remaining neighbours of a node, on all ranks.
    pub(super) fn neighbours(&self, comm: &Communicator, node: u32) -> Result<Vec<u32>, CommError> {
        let row = self.graph.row_of(node);
        from_owner(comm, self.graph.owner(node), || row.map_or(vec![], |row| self.ends(row).collect()))
    }

    /// Remaining neighbours of a local row.
    fn ends(&self, row: usize) -> impl Iterator<Item = u32> + '_ {
        let there = self.graph.neighbours(row).iter().filter(|&&position| self.alive[position as usize]);
        there.map(|&position| self.graph.node_at(position))
    }

    /// Takes away nodes that remain, the same on all ranks.
    pub(super) fn remove(&mut self, comm: &Communicator, nodes: &[u32]) -> Result<(), CommError> {
        let rows: Vec<usize> = nodes.iter().filter_map(|&v| self.graph.row_of(v)).collect();
        let gone: u64 = rows.iter().map(|&row| u64::from(self.degrees[row])).sum();
        nodes.iter().filter_map(|&v| self.graph.position_of(v)).for_each(|position| self.alive[position] = false);
        let lost: Vec<u32> = rows.iter().flat_map(|&row| self.ends(row)).collect();
        let counts = comm.all_gather(&[lost.len() as u64, gone], &vec![2; comm.size()])?;
        self.arcs -= counts.iter().sum::<u64>();
        let lengths: Vec<usize> = counts.iter().step_by(2).map(|&count| count as usize).collect();
        self.lower(&rows, &comm.all_gather(&lost, &lengths)?);
        Ok(())
    }

    /// Local rows that are gone have no edges, and nodes one fewer for each time that they have `lost` one.
    fn lower(&mut self, gone: &[usize], lost: &[u32]) {
        (self.freed, self.touched) = (0, gone.iter().map(|&row| row as u32).collect());
        for &row in gone {
            self.freed += share(self.degrees[row]);
            self.degrees[row] = 0;
        }
        for row in lost.iter().filter_map(|&v| self.graph.row_of(v)) {
            self.freed += share(self.degrees[row]) - share(self.degrees[row] - 1);
            self.degrees[row] -= 1;
            self.touched.push(row as u32);
        }
        self.touched.sort_unstable();
        self.touched.dedup();
    }

    /// By how much the last step made the sum of d / (d + 1) over all degrees smaller, on all ranks.
    pub(super) fn freed(&self, comm: &Communicator) -> Result<f32, CommError> {
        let mut total = [self.freed];
        comm.all_reduce_sum(&mut total)?;
        Ok((total[0] as f64 / UNIT) as f32)
    }
}
