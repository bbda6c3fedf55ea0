//! What no vertex cover can beat.

use crate::reduce::half_integral_bound;
use labrys_graph::Graph;

/// The better of the linear relaxation and a clique cover.
pub fn lower_bound(graph: &Graph) -> usize {
    half_integral_bound(graph).max(clique_cover_bound(graph))
}

/// Of each clique all nodes but one are covered. The cliques are greedy: nodes by rising degree, each to the largest clique that
/// it extends.
pub fn clique_cover_bound(graph: &Graph) -> usize {
    let n = graph.nodes();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&v| graph.degree(v));
    let mut clique = vec![u32::MAX; n];
    let mut size: Vec<u32> = vec![];
    // How many neighbours of the node at hand each clique holds.
    let mut known: Vec<u32> = vec![];
    let mut touched: Vec<u32> = vec![];
    for v in order {
        touched.clear();
        for &u in graph.neighbours(v) {
            let c = clique[u as usize];
            if c != u32::MAX {
                if known[c as usize] == 0 {
                    touched.push(c);
                }
                known[c as usize] += 1;
            }
        }
        let fits = touched.iter().copied().filter(|&c| known[c as usize] == size[c as usize]);
        let best = fits.max_by_key(|&c| (size[c as usize], std::cmp::Reverse(c)));
        let best = best.unwrap_or_else(|| {
            size.push(0);
            known.push(0);
            size.len() as u32 - 1
        });
        touched.iter().for_each(|&c| known[c as usize] = 0);
        clique[v as usize] = best;
        size[best as usize] += 1;
    }
    n - size.len()
}
