//! Exact max cut of small graphs by Russian dolls (Verfaillie, Lemaitre, Schiex 1996): the optimum of the last k nodes bounds what
//! they can add in the search over the last k + 1.

use labrys_graph::Graph;

/// The heaviest cut, or `None` if `spend` said to stop; it is told of every node of the search tree.
pub fn heaviest_cut(graph: &Graph, spend: &mut dyn FnMut(u64) -> bool) -> Option<(i64, Vec<bool>)> {
    let n = graph.nodes();
    // Nodes with many edges are decided first, when all is searched; they come last in the dolls.
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(graph.degree(v)));
    let mut place = vec![0usize; n];
    order.iter().enumerate().for_each(|(i, &v)| place[v as usize] = i);
    let later = |v: u32| graph.weighted_neighbours(v).map(|(u, weight)| (place[u as usize], weight));
    let rows: Vec<Vec<(usize, i64)>> =
        order.iter().enumerate().map(|(i, &v)| later(v).filter(|&(j, _)| j > i).collect()).collect();
    let mut dolls = Dolls {
        rows,
        optimum: vec![0; n + 1],
        pull: vec![0; n],
        side: vec![false; n],
        best: 0,
        best_side: vec![false; n],
        spend,
        stopped: false,
    };
    for first in (0..n).rev() {
        // The best cut of the smaller doll with the new node on its better side is a start; so is no cut at all.
        let across = |second: bool| -> i64 {
            let row = dolls.rows[first].iter();
            row.filter(|&&(u, _)| dolls.best_side[u] == second).map(|&(_, weight)| weight).sum()
        };
        dolls.best = (dolls.optimum[first + 1] + across(true).max(across(false))).max(0) - 1;
        dolls.pull.fill(0);
        dolls.search(first, first, 0);
        if dolls.stopped {
            return None;
        }
        dolls.optimum[first] = dolls.best;
    }
    let mut side = vec![false; n];
    order.iter().enumerate().for_each(|(i, &v)| side[v as usize] = dolls.best_side[i]);
    Some((dolls.optimum[0], side))
}

struct Dolls<'a> {
    /// Edges to later nodes.
    rows: Vec<Vec<(usize, i64)>>,
    /// Heaviest cut among the nodes from here on.
    optimum: Vec<i64>,
    /// For each undecided node: weight to decided nodes on the first side, less that to the second.
    pull: Vec<i64>,
    side: Vec<bool>,
    best: i64,
    best_side: Vec<bool>,
    spend: &'a mut dyn FnMut(u64) -> bool,
    stopped: bool,
}

impl Dolls<'_> {
    /// `cut` counts edges between decided nodes and, for undecided ones, only what they get on the first side: the pull is what the
    /// second side adds.
    fn search(&mut self, first: usize, at: usize, cut: i64) {
        let n = self.rows.len();
        if at == n {
            if cut > self.best {
                self.best = cut;
                self.best_side.copy_from_slice(&self.side);
            }
            return;
        }
        self.stopped = self.stopped || (self.spend)(1);
        let hope: i64 = self.pull[at..].iter().map(|&pull| pull.max(0)).sum();
        // The doll's own optimum is not known yet.
        if self.stopped || (at > first && cut + hope + self.optimum[at] <= self.best) {
            return;
        }
        let prefer = self.pull[at] > 0;
        for second in [prefer, !prefer] {
            // The first node of a doll may stay where it is: cuts come in pairs.
            if at == first && second {
                continue;
            }
            self.side[at] = second;
            let own = if second { self.pull[at] } else { 0 };
            let mut base = 0;
            for i in 0..self.rows[at].len() {
                let (u, weight) = self.rows[at][i];
                // On the second side the node is cut from undecided nodes that stay on the first.
                base += if second { weight } else { 0 };
                self.pull[u] += if second { -weight } else { weight };
            }
            self.search(first, at + 1, cut + own + base);
            for i in 0..self.rows[at].len() {
                let (u, weight) = self.rows[at][i];
                self.pull[u] -= if second { -weight } else { weight };
            }
        }
    }
}
