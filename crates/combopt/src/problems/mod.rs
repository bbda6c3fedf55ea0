//! One file for each problem: its environment.

pub mod independent_set;
pub mod max_clique;
pub mod max_cut;
pub mod tsp;
pub mod vertex_cover;

use crate::problem::{Environment, Problem};
use labrys_graph::Graph;

pub use independent_set::IndependentSetEnv;
pub use max_clique::MaxCliqueEnv;
pub use max_cut::MaxCutEnv;
pub use tsp::TspEnv;
pub use vertex_cover::VertexCoverEnv;

/// The environment of a problem on a graph; `None` for TSP, which needs distances: see [`TspEnv`].
pub fn environment(problem: Problem, graph: &Graph) -> Option<Box<dyn Environment + '_>> {
    match problem {
        Problem::VertexCover => Some(Box::new(VertexCoverEnv::new(graph))),
        Problem::IndependentSet => Some(Box::new(IndependentSetEnv::new(graph))),
        Problem::MaxClique => Some(Box::new(MaxCliqueEnv::new(graph))),
        Problem::MaxCut => Some(Box::new(MaxCutEnv::new(graph))),
        Problem::Tsp => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use labrys_search::Seed;
    use rand::RngExt as _;

    /// Random episodes: the value is the sum of the rewards, the end is a valid solution of that value, a reset starts anew.
    #[test]
    fn random_episodes_end_in_valid_solutions() {
        let mut rng = Seed(3).stream("episodes", 0);
        for round in 0..20u32 {
            let n = round * 2;
            let graph = Graph::from_edges(n, labrys_graph::generate::erdos_renyi(n, 0.2, &mut rng));
            for problem in [Problem::VertexCover, Problem::IndependentSet, Problem::MaxClique, Problem::MaxCut] {
                let mut environment = environment(problem, &graph).unwrap();
                for _ in 0..2 {
                    environment.reset();
                    let mut total = 0;
                    while !environment.is_done() {
                        let candidates = environment.candidates();
                        let node = candidates[rng.random_range(0..candidates.len())];
                        let step = environment.step(node);
                        assert_eq!(step.done, environment.is_done());
                        total += step.reward;
                    }
                    assert_eq!(total, environment.value());
                    let picked = environment.picked();
                    let checked = match problem {
                        Problem::VertexCover => -(check::vertex_cover(&graph, picked).unwrap() as i64),
                        Problem::IndependentSet => check::independent_set(&graph, picked).unwrap() as i64,
                        Problem::MaxClique => check::clique(&graph, picked).unwrap() as i64,
                        _ => check::cut(&graph, picked).unwrap(),
                    };
                    assert_eq!(total, checked, "{problem:?}");
                }
            }
        }
    }
}
