//! Constructive methods: the baselines, and where local search begins.

use crate::guide::by_score;
use labrys_graph::Graph;

/// Min-degree greedy: frees a node of the lowest remaining degree and covers its neighbours. O(n + m) by buckets.
pub fn min_degree(graph: &Graph) -> Vec<bool> {
    let n = graph.nodes();
    let mut cover = vec![false; n];
    let mut queue = BucketQueue::new((0..n as u32).map(|v| graph.degree(v) as u32).collect());
    while let Some(v) = queue.pop_min() {
        for &u in graph.neighbours(v) {
            if queue.remove(u) {
                cover[u as usize] = true;
                graph.neighbours(u).iter().for_each(|&w| queue.decrease(w));
            }
        }
    }
    cover
}

/// Max-degree greedy: covers a node with the most uncovered edges until all are covered, then drops what is not needed.
pub fn max_degree(graph: &Graph) -> Vec<bool> {
    let n = graph.nodes();
    let top = graph.max_degree() as u32;
    let mut cover = vec![false; n];
    // The queue gives the lowest first: count from the top.
    let mut missing: Vec<u32> = (0..n as u32).map(|v| top - graph.degree(v) as u32).collect();
    let mut buckets: Vec<Vec<u32>> = vec![vec![]; top as usize + 1];
    (0..n as u32).rev().for_each(|v| buckets[missing[v as usize] as usize].push(v));
    let mut order = vec![];
    for level in 0..top {
        while let Some(v) = buckets[level as usize].pop() {
            if cover[v as usize] || missing[v as usize] != level {
                continue;
            }
            cover[v as usize] = true;
            order.push(v);
            for &u in graph.neighbours(v).iter().filter(|&&u| !cover[u as usize]) {
                missing[u as usize] += 1;
                buckets[missing[u as usize] as usize].push(u);
            }
        }
    }
    drop_needless(graph, &mut cover, order.into_iter().rev());
    cover
}

/// Covers nodes in the order of a guide's scores as long as they cover anything new, then drops what is not needed, the last first.
/// A valid cover for any advice whatever.
pub fn by_advice(graph: &Graph, advice: &[f32]) -> Vec<bool> {
    let mut cover = vec![false; graph.nodes()];
    let order = by_score(graph.nodes(), advice);
    for &v in &order {
        cover[v as usize] = graph.neighbours(v).iter().any(|&u| !cover[u as usize]);
    }
    drop_needless(graph, &mut cover, order.into_iter().rev());
    cover
}

/// Takes out nodes whose neighbours are all covered, in the order given.
pub fn drop_needless(graph: &Graph, cover: &mut [bool], order: impl Iterator<Item = u32>) {
    for v in order {
        if cover[v as usize] && graph.neighbours(v).iter().all(|&u| cover[u as usize]) {
            cover[v as usize] = false;
        }
    }
}

/// Nodes by a degree that only falls.
struct BucketQueue {
    degree: Vec<u32>,
    gone: Vec<bool>,
    buckets: Vec<Vec<u32>>,
    lowest: usize,
}

impl BucketQueue {
    fn new(degree: Vec<u32>) -> Self {
        let top = degree.iter().copied().max().unwrap_or(0) as usize;
        let mut buckets = vec![vec![]; top + 1];
        for v in (0..degree.len()).rev() {
            buckets[degree[v] as usize].push(v as u32);
        }
        Self { gone: vec![false; degree.len()], degree, buckets, lowest: 0 }
    }

    fn pop_min(&mut self) -> Option<u32> {
        while let Some(bucket) = self.buckets.get_mut(self.lowest) {
            match bucket.pop() {
                None => self.lowest += 1,
                Some(v) if self.gone[v as usize] || self.degree[v as usize] as usize != self.lowest => {}
                Some(v) => {
                    self.gone[v as usize] = true;
                    return Some(v);
                }
            }
        }
        None
    }

    /// Takes a node out; says whether it was in.
    fn remove(&mut self, v: u32) -> bool {
        !std::mem::replace(&mut self.gone[v as usize], true)
    }

    fn decrease(&mut self, v: u32) {
        if !self.gone[v as usize] {
            let degree = &mut self.degree[v as usize];
            *degree -= 1;
            self.buckets[*degree as usize].push(v);
            self.lowest = self.lowest.min(*degree as usize);
        }
    }
}
