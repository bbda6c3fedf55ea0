//! In which order nodes are numbered, and so which rows lie near each other and on which rank.

use labrys_graph::Graph;
use serde::{Deserialize, Serialize};

/// How to number the nodes of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbering {
    /// As they come.
    #[default]
    Given,
    /// In breadth-first order: neighbours get near numbers, so that blocks of rows have small borders and rows of
    /// neighbours are found in the cache.
    BreadthFirst,
}

impl Numbering {
    /// The nodes in their new order; none if it is the old one. It does not depend on the number of ranks.
    pub fn order(self, graph: &Graph) -> Option<Vec<u32>> {
        match self {
            Self::Given => None,
            Self::BreadthFirst => Some(breadth_first(graph)),
        }
    }

    /// The graph with nodes numbered so.
    pub fn apply(self, graph: Graph) -> Graph {
        match self.order(&graph) {
            Some(order) => graph.subgraph(&order),
            None => graph,
        }
    }
}

fn breadth_first(graph: &Graph) -> Vec<u32> {
    let mut seen = vec![false; graph.nodes()];
    let mut order: Vec<u32> = Vec::with_capacity(graph.nodes());
    let mut next = 0;
    for root in 0..graph.nodes() as u32 {
        if !std::mem::replace(&mut seen[root as usize], true) {
            order.push(root);
        }
        while let Some(&v) = order.get(next) {
            next += 1;
            let fresh = graph.neighbours(v).iter().filter(|&&u| !std::mem::replace(&mut seen[u as usize], true));
            order.extend(fresh.copied().collect::<Vec<u32>>());
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use labrys_graph::generate;
    use labrys_search::Seed;

    #[test]
    fn breadth_first_is_a_permutation_that_keeps_the_edges() {
        let graph = Graph::from_edges(100, generate::barabasi_albert(90, 3, &mut Seed(1).stream("graph", 0)));
        let order = Numbering::BreadthFirst.order(&graph).unwrap();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
        let renumbered = Numbering::BreadthFirst.apply(graph.clone());
        assert!(renumbered.edges().all(|(a, b)| graph.has_edge(order[a as usize], order[b as usize])));
        assert_eq!(renumbered.edge_count(), graph.edge_count());
        assert_eq!(Numbering::Given.apply(graph.clone()), graph);
    }
}
