//! Constructive cuts: the baselines, and where the search begins.

use crate::guide::by_score;
use labrys_graph::Graph;

/// Each node in the order given goes to the side where it adds more (Sahni & Gonzalez 1976): at least half of all weight if there is
/// none below 0.
pub fn in_order(graph: &Graph, order: &[u32]) -> Vec<bool> {
    let mut side: Vec<Option<bool>> = vec![None; graph.nodes()];
    for &v in order {
        // What it adds on the second side, less what it adds on the first.
        let second: i64 = graph
            .weighted_neighbours(v)
            .filter_map(|(u, weight)| side[u as usize].map(|second| if second { -weight } else { weight }))
            .sum();
        side[v as usize] = Some(second > 0);
    }
    side.into_iter().map(|side| side == Some(true)).collect()
}

/// Nodes of high degree first.
pub fn by_degree(graph: &Graph) -> Vec<bool> {
    let mut order: Vec<u32> = (0..graph.nodes() as u32).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(graph.degree(v)));
    in_order(graph, &order)
}

/// Nodes by the scores of a guide.
pub fn by_advice(graph: &Graph, advice: &[f32]) -> Vec<bool> {
    in_order(graph, &by_score(graph.nodes(), advice))
}
