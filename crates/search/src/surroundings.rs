//! What is around states that are known: no search, but everything within so many steps.

use crate::Runner;
use crate::exploration::Exploration;
use crate::space::Space;
use crate::state_graph::StateGraph;

/// Expands nodes of `graph`, then all that they lead to, in so many rings, until the runner says stop. One state that is seen is one unit of work. No
/// guide is asked.
pub fn surroundings<P: Space>(
    space: &mut P,
    graph: &mut StateGraph<P::State, P::Step>,
    centre: &[u32],
    rings: u32,
    run: &mut Runner<u32>,
) {
    let mut search = Exploration::unguided(space, graph, run, "surroundings");
    let mut ring = centre.to_vec();
    for _ in 0..rings {
        let mut next = vec![];
        for node in ring {
            if search.should_stop() {
                return;
            }
            let steps = search.expand(node);
            next.extend(steps.map(|edge| search.graph.target(edge)));
        }
        next.sort_unstable();
        next.dedup();
        ring = next;
    }
}
