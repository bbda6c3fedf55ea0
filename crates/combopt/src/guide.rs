//! What steers the construction of a first solution.

use crate::tsp::Cities;
use labrys_graph::Graph;
use labrys_search::{Guide, Seed};
use rand::RngExt as _;

/// A guide for problems on graphs. Its advice is a score for each node: the higher, the sooner the node is picked, into the cover,
/// the set, the clique or the second side of the cut. Any advice is safe, of any length, not finite or reversed.
pub type NodeGuide = dyn Guide<Graph, Advice = Vec<f32>>;

/// A guide for TSP: the higher its score, the sooner a city is inserted into the tour, beside the nearest that is there already.
pub type CityGuide = dyn Guide<Cities, Advice = Vec<f32>>;

/// Picks by chance.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub Seed);

impl Guide<Graph> for Random {
    type Advice = Vec<f32>;

    fn advise(&self, graph: &Graph) -> Vec<f32> {
        let mut rng = self.0.stream("guide", 0);
        (0..graph.nodes()).map(|_| rng.random()).collect()
    }
}

/// Picks the node with the most neighbours.
#[derive(Clone, Copy, Debug)]
pub struct MaxDegree;

impl Guide<Graph> for MaxDegree {
    type Advice = Vec<f32>;

    fn advise(&self, graph: &Graph) -> Vec<f32> {
        (0..graph.nodes() as u32).map(|v| graph.degree(v) as f32).collect()
    }
}

impl Guide<Cities> for Random {
    type Advice = Vec<f32>;

    fn advise(&self, cities: &Cities) -> Vec<f32> {
        let mut rng = self.0.stream("guide", 0);
        (0..cities.len()).map(|_| rng.random()).collect()
    }
}

/// Picks in the order of the file.
#[derive(Clone, Copy, Debug)]
pub struct InFileOrder;

impl Guide<Cities> for InFileOrder {
    type Advice = Vec<f32>;

    fn advise(&self, cities: &Cities) -> Vec<f32> {
        vec![0.0; cities.len()]
    }
}

/// All nodes of a graph of `nodes` nodes, by falling score, equal ones by number; whatever the advice is.
pub fn by_score(nodes: usize, advice: &[f32]) -> Vec<u32> {
    let score = |v: u32| advice.get(v as usize).copied().filter(|score| !score.is_nan()).unwrap_or(f32::NEG_INFINITY);
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_advice_orders_all_nodes() {
        assert_eq!(by_score(4, &[0.5, f32::NAN, 2.0, 0.5]), [2, 0, 3, 1]);
        assert_eq!(by_score(3, &[]), [0, 1, 2]);
        assert_eq!(by_score(2, &[0.0, f32::INFINITY, 9.0]), [1, 0]);
    }
}
