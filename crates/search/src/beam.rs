//! Beam search: the best few states of each number of steps go on, and the beam widens as long as there is time.

use crate::Runner;
use crate::exploration::Exploration;
use crate::space::Space;
use crate::state_graph::StateGraph;

/// Searches from node 0 of `graph`: of the states that are one step further, the `width` of the highest priority (as [`crate::best_first`]) go on, `horizon`
/// times. Then again with twice the width, until the runner says stop or the beam holds everything. A state is not taken twice in one pass.
pub fn beam<P: Space>(
    space: &mut P,
    graph: &mut StateGraph<P::State, P::Step>,
    horizon: u32,
    width: usize,
    run: &mut Runner<u32>,
    by: &'static str,
) {
    let mut search = Exploration::new(space, graph, run, by, horizon);
    let mut width = width.max(1);
    while pass(&mut search, width) && !search.should_stop() {
        width *= 2;
    }
}

/// One pass; says whether a wider beam would see more.
fn pass<P: Space>(search: &mut Exploration<'_, P>, width: usize) -> bool {
    let mut level = vec![0];
    let mut is_cut = false;
    // The number of steps that were left when a state was taken in this pass.
    let mut taken = vec![None; search.graph.len()];
    taken[0] = Some(search.horizon);
    search.graph.reach(0, search.horizon, None);
    for left in (0..search.horizon).rev() {
        let mut next = vec![];
        for node in level {
            if search.should_stop() {
                return false;
            }
            for edge in search.expand(node) {
                let child = search.graph.target(edge);
                search.graph.reach(child, left, Some((node, edge)));
                taken.resize(search.graph.len(), None);
                if taken[child as usize].is_none() {
                    taken[child as usize] = Some(left);
                    next.push(child);
                }
            }
        }
        is_cut |= next.len() > width;
        next.sort_by(|a, b| search.priority(*b, left).total_cmp(&search.priority(*a, left)).then(a.cmp(b)));
        next.truncate(width);
        level = next;
    }
    is_cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{Advice, Numbers, exhaustive};
    use crate::{Limits, Seed};

    #[test]
    fn a_wide_beam_sees_everything() {
        for advice in Advice::ALL {
            for horizon in [0, 3, 6] {
                let mut space = Numbers { advice, ..Numbers::default() };
                let mut graph = StateGraph::new(97, space.cost(97));
                let mut run = Runner::new(Limits::default(), Seed(0));
                beam(&mut space, &mut graph, horizon, 1, &mut run, "beam");
                assert_eq!(graph.cost(graph.best()), exhaustive(97, horizon), "{horizon} {advice:?}");
            }
        }
    }

    #[test]
    fn a_narrow_beam_keeps_to_its_work_limit() {
        let mut space = Numbers::default();
        let mut graph = StateGraph::new(1000, space.cost(1000));
        let mut run = Runner::new(Limits { work: Some(30), time: None }, Seed(0));
        beam(&mut space, &mut graph, 12, 2, &mut run, "beam");
        assert!(graph.len() <= 31, "{}", graph.len());
        assert!(graph.cost(graph.best()) < graph.cost(0));
    }
}
