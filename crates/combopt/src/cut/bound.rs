//! What no cut can beat.

use labrys_graph::Graph;

/// An upper bound: all positive weight, less the least of each of a set of edge-disjoint frustrated triangles. Meets the optimum of
/// bipartite graphs.
pub fn upper_bound(graph: &Graph) -> i64 {
    let positive: i64 = graph.weighted_edges().map(|(_, weight)| weight.max(0)).sum();
    positive - frustrated_triangles(graph)
}

/// A triangle is frustrated if no cut holds exactly its positive edges, which is so if their number is odd; any cut then loses at
/// least its smallest absolute weight.
fn frustrated_triangles(graph: &Graph) -> i64 {
    let mut used = vec![false; graph.adjacency().arcs()];
    let mut loss = 0;
    for a in 0..graph.nodes() as u32 {
        let row = graph.adjacency().range(a as usize);
        let mut place = std::collections::BTreeMap::new();
        row.clone().for_each(|arc| _ = place.insert(graph.adjacency().arc(arc), arc));
        for ab in row.filter(|&arc| graph.adjacency().arc(arc) > a) {
            let b = graph.adjacency().arc(ab);
            let third = graph.adjacency().range(b as usize).find_map(|bc| {
                let c = graph.adjacency().arc(bc);
                let &ac = place.get(&c)?;
                let weights = [ab, bc, ac].map(|arc| graph.arc_weight(arc));
                let free = c > b && !used[ab] && !used[bc] && !used[ac];
                let odd = weights.iter().filter(|&&weight| weight > 0).count() % 2 == 1;
                (free && odd).then(|| ([ab, bc, ac], weights.map(i64::abs).into_iter().min().unwrap_or(0)))
            });
            if let Some((arcs, least)) = third {
                arcs.into_iter().for_each(|arc| used[arc] = true);
                loss += least;
            }
        }
    }
    loss
}
