//! Exact vertex covers: branch and reduce (Akiba & Iwata 2016), and cliques of the complement where the graph is dense.

use super::bound::lower_bound;
use super::clique::{self, Answer};
use super::{listed, size};
use crate::reduce::{Rules, reduce};
use labrys_graph::Graph;

/// The search was stopped before it knew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaveUp {
    /// Share of its tree that it had looked at, by an estimate of how large the parts are.
    pub explored: f64,
}

/// Graphs of a branch are kept until it is done; together they may have so many arcs.
const MOST_ARCS_HELD: usize = 50_000_000;

/// An exact search with a budget, in visits of arcs.
pub struct Branching<'a> {
    left: u64,
    stop: &'a mut dyn FnMut() -> bool,
    stopped: bool,
    held: usize,
    /// Share of the tree that is the part which is being solved.
    share: f64,
    /// Share of the tree that is done.
    explored: f64,
}

/// The smallest cover if it is smaller than `upper`, `None` if none is.
///
/// # Errors
/// If the budget ran out or `stop` said so.
pub fn smallest_cover(
    graph: &Graph,
    upper: usize,
    budget: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<bool>>, GaveUp> {
    Branching { left: budget, stop, stopped: false, held: 0, share: 1.0, explored: 0.0 }.solve(graph, upper)
}

impl Branching<'_> {
    /// Counts work; whether to stop.
    fn spend(&mut self, work: u64) -> bool {
        self.left = self.left.saturating_sub(work);
        self.stopped = self.stopped || self.left == 0 || (self.stop)();
        self.stopped
    }

    fn gave_up(&self) -> GaveUp {
        GaveUp { explored: self.explored }
    }

    fn solve(&mut self, graph: &Graph, upper: usize) -> Result<Option<Vec<bool>>, GaveUp> {
        let (share, before) = (self.share, self.explored);
        let found = self.reduce_and_solve(graph, upper)?;
        self.explored = before + share;
        Ok(found)
    }

    fn reduce_and_solve(&mut self, graph: &Graph, upper: usize) -> Result<Option<Vec<bool>>, GaveUp> {
        let arcs = 2 * graph.edge_count() + graph.nodes();
        if self.spend(4 * arcs as u64) || self.held > MOST_ARCS_HELD {
            return Err(self.gave_up());
        }
        let reduced = reduce(graph, Rules::ALL, &mut || self.spend(64));
        if self.stopped {
            return Err(self.gave_up());
        }
        let Some(inner_upper) = upper.checked_sub(reduced.offset).filter(|&inner| inner > 0) else { return Ok(None) };
        self.held += arcs;
        let inner = self.solve_kernel(&reduced.kernel, inner_upper);
        self.held -= arcs;
        Ok(inner?.map(|cover| reduced.lift(&cover)))
    }

    fn solve_kernel(&mut self, kernel: &Graph, upper: usize) -> Result<Option<Vec<bool>>, GaveUp> {
        if kernel.edge_count() == 0 {
            return Ok(Some(vec![false; kernel.nodes()]));
        }
        if lower_bound(kernel) >= upper {
            return Ok(None);
        }
        let components = kernel.components();
        if components.len() > 1 {
            return self.components(kernel, components, upper);
        }
        if is_dense(kernel) {
            return self.by_clique(kernel, upper);
        }
        self.branch(kernel, upper)
    }

    /// Components one by one, small ones first; each may use what the bounds of the others leave.
    fn components(
        &mut self,
        graph: &Graph,
        mut components: Vec<Vec<u32>>,
        upper: usize,
    ) -> Result<Option<Vec<bool>>, GaveUp> {
        components.sort_by_key(Vec::len);
        let parts: Vec<Graph> = components.iter().map(|nodes| graph.subgraph(nodes)).collect();
        let bounds: Vec<usize> = parts.iter().map(lower_bound).collect();
        let mut sum: usize = bounds.iter().sum();
        let mut cover = vec![false; graph.nodes()];
        let share = self.share / parts.len() as f64;
        for ((nodes, part), bound) in components.iter().zip(&parts).zip(bounds) {
            self.share = share;
            if sum >= upper {
                return Ok(None);
            }
            let Some(inner) = self.solve(part, upper - (sum - bound))? else { return Ok(None) };
            sum = sum - bound + size(&inner);
            nodes.iter().zip(&inner).for_each(|(&v, &covered)| cover[v as usize] = covered);
        }
        Ok((sum < upper).then_some(cover))
    }

    fn by_clique(&mut self, graph: &Graph, upper: usize) -> Result<Option<Vec<bool>>, GaveUp> {
        let n = graph.nodes();
        // A cover below `upper` is an independent set of more than n - upper.
        let answer = clique::independent_set(graph, n.saturating_sub(upper), &mut |work| self.spend(work));
        match answer {
            Answer::Stopped { explored } => Err(GaveUp { explored: self.explored + self.share * explored }),
            Answer::NoneLarger => Ok(None),
            Answer::Best(set) => {
                let mut cover = vec![true; n];
                set.iter().for_each(|&v| cover[v as usize] = false);
                Ok(Some(cover))
            }
        }
    }

    /// Either a node of the highest degree is free, or it is covered and its mirrors with it (Fomin, Grandoni, Kratsch 2009).
    fn branch(&mut self, graph: &Graph, mut upper: usize) -> Result<Option<Vec<bool>>, GaveUp> {
        let nodes = 0..graph.nodes() as u32;
        let Some(v) = nodes.max_by_key(|&v| (graph.degree(v), std::cmp::Reverse(v))) else { return Ok(None) };
        let mut with = mirrors(graph, v);
        with.push(v);
        let mut best = None;
        let (share, parts) = (self.share, shares(with.len(), graph.degree(v) + 1));
        for (covered, part) in [with, graph.neighbours(v).to_vec()].into_iter().zip(parts) {
            self.share = share * part;
            let mut gone = vec![false; graph.nodes()];
            covered.iter().for_each(|&u| gone[u as usize] = true);
            gone[v as usize] = true;
            let rest: Vec<u32> = (0..graph.nodes() as u32).filter(|&u| !gone[u as usize]).collect();
            if covered.len() >= upper {
                continue;
            }
            if let Some(inner) = self.solve(&graph.subgraph(&rest), upper - covered.len())? {
                let mut cover = vec![false; graph.nodes()];
                covered.iter().for_each(|&u| cover[u as usize] = true);
                listed(&inner).iter().for_each(|&i| cover[rest[i as usize] as usize] = true);
                upper = size(&cover);
                best = Some(cover);
            }
        }
        Ok(best)
    }
}

/// How a tree is divided between two branches that take so many nodes away: `x^a` and `x^b` with the `x` for which they add up
/// to 1, as in the analysis of such searches (Fomin & Kratsch 2010, section 2.1).
fn shares(a: usize, b: usize) -> [f64; 2] {
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..40 {
        let x = (low + high) / 2.0;
        if x.powi(a as i32) + x.powi(b as i32) < 1.0 { low = x } else { high = x }
    }
    [high.powi(a as i32), high.powi(b as i32)]
}

/// Colours of the complement bound better than reductions from about here on.
fn is_dense(graph: &Graph) -> bool {
    const MOST_NODES: usize = 4_096;
    let n = graph.nodes();
    n <= 48 || (n <= MOST_NODES && 2 * graph.edge_count() >= n * n / 14)
}

/// Nodes at distance two such that the neighbours of `v` that they do not know are a clique: if `v` is covered they may be, too.
fn mirrors(graph: &Graph, v: u32) -> Vec<u32> {
    const MOST_DEGREE: usize = 64;
    let row = graph.neighbours(v);
    if row.len() > MOST_DEGREE {
        return vec![];
    }
    let mut around: Vec<u32> = row.iter().flat_map(|&u| graph.neighbours(u)).copied().collect();
    around.sort_unstable();
    around.dedup();
    around.retain(|&u| u != v && row.binary_search(&u).is_err());
    around.retain(|&u| {
        let unknown: Vec<u32> = row.iter().copied().filter(|&w| !graph.has_edge(u, w)).collect();
        unknown.iter().enumerate().all(|(i, &a)| unknown[..i].iter().all(|&b| graph.has_edge(a, b)))
    });
    around
}
