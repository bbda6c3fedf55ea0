//! Reductions for max cut. Whatever the sides of the neighbours of a node of degree up to 3, its own best side is known, and what it then
//! adds can be written as weights between the neighbours (star-triangle). A node with one edge as heavy as all its others
//! follows or opposes that neighbour. (Ferizovic et al. 2020; Dahn, Kriege, Mutzel 2018.)

use labrys_graph::{Graph, GraphBuilder};
use std::collections::{BTreeMap, BTreeSet};

/// A smaller graph and the way back.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// What is left; its weights are multiples of the original unit.
    pub kernel: Graph,
    /// Nodes of the graph that the kernel's stand for.
    ids: Vec<u32>,
    /// Nodes that were removed, with their edges then; the last first on the way back.
    removed: Vec<(u32, Vec<(u32, i64)>)>,
    nodes: usize,
}

impl Reduced {
    /// The cut of the graph that a cut of the kernel stands for.
    pub fn lift(&self, kernel_side: &[bool]) -> Vec<bool> {
        let mut side = vec![false; self.nodes];
        self.ids.iter().zip(kernel_side).for_each(|(&id, &second)| side[id as usize] = second);
        for (v, row) in self.removed.iter().rev() {
            let second: i64 = row.iter().map(|&(u, weight)| if side[u as usize] { -weight } else { weight }).sum();
            side[*v as usize] = second > 0;
        }
        side
    }

    /// The kernel's part of a cut of the graph.
    pub fn restrict(&self, side: &[bool]) -> Vec<bool> {
        self.ids.iter().map(|&id| side[id as usize]).collect()
    }
}

/// The graph as it is.
pub fn none(graph: &Graph) -> Reduced {
    let nodes = graph.nodes();
    Reduced { kernel: graph.clone(), ids: (0..nodes as u32).collect(), removed: vec![], nodes }
}

/// Removes nodes until no rule applies or `stop` says so.
pub fn reduce(graph: &Graph, stop: &mut dyn FnMut() -> bool) -> Reduced {
    let mut shrinking = Shrinking::new(graph);
    while let Some(v) = shrinking.queue.pop_first() {
        if stop() {
            break;
        }
        shrinking.look_at(v);
    }
    shrinking.finish()
}

struct Shrinking {
    rows: Vec<BTreeMap<u32, i64>>,
    removed: Vec<(u32, Vec<(u32, i64)>)>,
    gone: Vec<bool>,
    queue: BTreeSet<u32>,
}

/// Weights are scaled up so that the halves of star-triangle steps stay integers.
fn scale(graph: &Graph) -> i64 {
    const MOST: u32 = 16;
    let total: i64 = graph.weighted_edges().map(|(_, weight)| weight.abs()).sum();
    let room = total.max(1).leading_zeros().saturating_sub(6);
    1 << room.min(MOST)
}

impl Shrinking {
    fn new(graph: &Graph) -> Self {
        let (n, scale) = (graph.nodes() as u32, scale(graph));
        let row = |v: u32| {
            graph
                .weighted_neighbours(v)
                .filter(|&(_, weight)| weight != 0)
                .map(|(u, weight)| (u, weight * scale))
                .collect()
        };
        Self {
            rows: (0..n).map(row).collect(),
            removed: vec![],
            gone: vec![false; n as usize],
            queue: (0..n).collect(),
        }
    }

    fn look_at(&mut self, v: u32) {
        if self.gone[v as usize] {
            return;
        }
        let row: Vec<(u32, i64)> = self.rows[v as usize].iter().map(|(&u, &weight)| (u, weight)).collect();
        let total: i64 = row.iter().map(|&(_, weight)| weight.abs()).sum();
        if let Some(&heavy) = row.iter().find(|(_, weight)| 2 * weight.abs() >= total) {
            return self.merge(v, heavy, row);
        }
        match *row.as_slice() {
            [] => self.remove(v, row),
            [(a, p), (b, q)] => {
                self.remove(v, row);
                self.add(a, b, p.max(q) - (p + q).max(0));
            }
            [(a, p), (b, q), (c, r)] => {
                let same = (p + q + r).max(0);
                let [apart_a, apart_b, apart_c] = [p.max(q + r), q.max(p + r), r.max(p + q)];
                let doubled = [apart_a + apart_b - apart_c, apart_a + apart_c - apart_b, apart_b + apart_c - apart_a];
                if doubled.iter().all(|weight| (weight - same) % 2 == 0) {
                    self.remove(v, row);
                    for ((x, y), weight) in [(a, b), (a, c), (b, c)].into_iter().zip(doubled) {
                        self.add(x, y, (weight - same) / 2);
                    }
                }
            }
            _ => {}
        }
    }

    /// The node goes where its heaviest neighbour does not, if the edge is positive, or where it does.
    fn merge(&mut self, v: u32, (a, heavy): (u32, i64), row: Vec<(u32, i64)>) {
        let others: Vec<(u32, i64)> = row.iter().copied().filter(|&(u, _)| u != a).collect();
        self.remove(v, row);
        for (u, weight) in others {
            self.add(a, u, if heavy > 0 { -weight } else { weight });
        }
    }

    fn remove(&mut self, v: u32, row: Vec<(u32, i64)>) {
        self.gone[v as usize] = true;
        self.rows[v as usize].clear();
        for &(u, _) in &row {
            self.rows[u as usize].remove(&v);
            self.queue.insert(u);
        }
        self.removed.push((v, row));
    }

    fn add(&mut self, a: u32, b: u32, weight: i64) {
        for (from, to) in [(a, b), (b, a)] {
            let row = &mut self.rows[from as usize];
            let sum = row.entry(to).or_default();
            *sum += weight;
            if *sum == 0 {
                row.remove(&to);
            }
            self.queue.insert(from);
        }
    }

    fn finish(self) -> Reduced {
        let ids: Vec<u32> = (0..self.rows.len() as u32).filter(|&v| !self.gone[v as usize]).collect();
        let mut number = vec![u32::MAX; self.rows.len()];
        ids.iter().zip(0..).for_each(|(&id, i)| number[id as usize] = i);
        let weights = self.rows.iter().flat_map(|row| row.values());
        let unit = weights.fold(0u64, |unit, weight| gcd(unit, weight.unsigned_abs())).max(1) as i64;
        let mut builder = GraphBuilder::new(ids.len() as u32);
        for &id in &ids {
            for (&u, &weight) in self.rows[id as usize].range(id..) {
                builder.add_weighted(number[id as usize], number[u as usize], weight / unit);
            }
        }
        Reduced { kernel: builder.build().0, ids, removed: self.removed, nodes: self.rows.len() }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
