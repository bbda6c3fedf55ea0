//! A* as Knossos has it (Algorithm 2), which without a guide is greedy best-first search.

use crate::Runner;
use crate::exploration::Exploration;
use crate::space::Space;
use crate::state_graph::StateGraph;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A state to expand. The first is the one of the highest priority, then of the most steps left, then the oldest.
#[derive(PartialEq)]
struct Entry {
    priority: f64,
    left: u32,
    node: Reverse<u32>,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.total_cmp(&other.priority).then(self.left.cmp(&other.left)).then(self.node.cmp(&other.node))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Searches from `roots`, nodes of `graph`, each with `horizon` steps left, until the runner says stop or nothing is open; offers nodes of the graph.
///
/// It expands the open state of the highest f(s) = t V_t(s) + c(s_0) - c(s), t being the most steps that were ever left at s. A state that is
/// reached again with more steps left is opened again. Unlike the letter of Algorithm 2 the root is closed from the start, so that a step back to it
/// does not lower its t. One state that is seen, but for the root, is one unit of
/// work: one query of the guide.
pub fn best_first<P: Space>(
    space: &mut P,
    graph: &mut StateGraph<P::State, P::Step>,
    roots: &[u32],
    horizon: u32,
    run: &mut Runner<u32>,
    by: &'static str,
) {
    let mut search = Exploration::new(space, graph, run, by, horizon);
    let mut open = BinaryHeap::new();
    for root in roots {
        if search.graph.reach(*root, horizon, None) {
            open.push(entry(&search, *root, horizon));
        }
    }
    while !search.should_stop()
        && let Some(Entry { left, node: Reverse(node), .. }) = open.pop()
    {
        // Older entries of a state that was opened again are void.
        if left == 0 || search.graph.left(node) != Some(left) {
            continue;
        }
        for edge in search.expand(node) {
            let child = search.graph.target(edge);
            if search.graph.reach(child, left - 1, Some((node, edge))) && left > 1 {
                open.push(entry(&search, child, left - 1));
            }
        }
    }
}

fn entry<P: Space>(search: &Exploration<'_, P>, node: u32, left: u32) -> Entry {
    Entry { priority: search.priority(node, left), left, node: Reverse(node) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{Advice, Numbers, cost, exhaustive};
    use crate::{Limits, Seed, StopReason};

    fn search(space: &mut Numbers, root: u32, horizon: u32, work: Option<u64>) -> (StateGraph<u32, char>, StopReason) {
        let mut graph = StateGraph::new(root, space.cost(root));
        let mut run = Runner::new(Limits { work, time: None }, Seed(0));
        best_first(space, &mut graph, &[0], horizon, &mut run, "A*");
        let outcome = run.finish();
        let (_, node) = outcome.best.unwrap();
        assert_eq!(graph.cost(node), graph.cost(graph.best()));
        (graph, outcome.stop)
    }

    #[test]
    fn without_limits_it_finds_the_best_within_the_horizon_whatever_the_guide() {
        for root in [27, 97, 1000] {
            for horizon in 0..6 {
                let expected = exhaustive(root, horizon);
                for advice in Advice::ALL {
                    let (graph, stop) = search(&mut Numbers { advice, ..Numbers::default() }, root, horizon, None);
                    assert_eq!(graph.cost(graph.best()), expected, "{root} within {horizon} under {advice:?}");
                    assert_eq!(stop, StopReason::Finished);
                }
            }
        }
    }

    #[test]
    fn paths_lead_to_their_states_within_the_horizon() {
        let (graph, _) = search(&mut Numbers::default(), 97, 6, None);
        for node in 0..graph.len() as u32 {
            let mut at = graph.state(0);
            let path = graph.path(node);
            assert!(path.len() <= 6);
            for (step, to) in path {
                at = Numbers::take(at, *step).unwrap();
                assert_eq!(at, graph.state(to));
            }
            assert_eq!(at, graph.state(node));
        }
    }

    #[test]
    fn a_good_guide_saves_work() {
        let states = |advice| {
            let searches =
                (100..120).map(|root| search(&mut Numbers { advice, ..Numbers::default() }, root, 9, None).0);
            searches.map(|graph| graph.improvements().last().unwrap().states).sum::<u64>()
        };
        let (guided, blind) = (states(Advice::Perfect), states(Advice::None));
        assert!(guided * 3 < blind * 2, "{guided} of {blind}");
    }

    #[test]
    fn the_work_limit_is_kept_and_gives_the_same_result_each_time() {
        let states = || {
            let (graph, stop) = search(&mut Numbers::default(), 1000, 12, Some(40));
            assert_eq!(stop, StopReason::WorkLimit);
            (0..graph.len() as u32).map(|node| graph.state(node)).collect::<Vec<_>>()
        };
        assert_eq!(states().len(), 41, "the root is free");
        assert_eq!(states(), states());
    }

    #[test]
    fn reductions_are_those_of_all_walks() {
        let horizon = 5;
        let (graph, _) = search(&mut Numbers::default(), 27, 2 * horizon, None);
        let table = graph.reductions(horizon);
        // States with so many steps left have all that is within the horizon around them in the graph.
        let deep = (0..graph.len() as u32).filter(|node| graph.left(*node).is_some_and(|left| left >= horizon));
        let mut checked = 0;
        for node in deep {
            for t in 0..=horizon {
                let expected = graph.cost(node) - exhaustive(graph.state(node), t);
                let found = table[node as usize * (horizon as usize + 1) + t as usize];
                assert_eq!(f64::from(found), expected, "{} within {t}", graph.state(node));
            }
            checked += 1;
        }
        assert!(checked > 5, "{checked}");
    }

    #[test]
    fn given_paths_stay() {
        let mut space = Numbers::default();
        let mut graph = StateGraph::new(8, cost(8));
        let end = graph.insert_path(0, [('/', 4, cost(4)), ('/', 2, cost(2)), ('/', 1, cost(1))]);
        let mut run = Runner::new(Limits::default(), Seed(0));
        // From 1 a step leads to 4, by which it was found.
        best_first(&mut space, &mut graph, &[0, end], 4, &mut run, "from both");
        assert_eq!(graph.path(end).len(), 3);
        for node in 0..graph.len() as u32 {
            let last = graph.path(node).into_iter().try_fold(8, |at, (step, _)| Numbers::take(at, *step));
            assert_eq!(last, Some(graph.state(node)));
        }
    }

    #[test]
    fn a_second_phase_goes_on_from_the_first() {
        let mut space = Numbers { only_halves: true, ..Numbers::default() };
        let mut graph = StateGraph::new(96, space.cost(96));
        let mut run = Runner::new(Limits::default(), Seed(0));
        best_first(&mut space, &mut graph, &[0], 5, &mut run, "big steps");
        assert_eq!(graph.cost(graph.best()), cost(3));
        let roots: Vec<u32> = (0..graph.len() as u32).collect();
        graph.forget_steps();
        space.only_halves = false;
        best_first(&mut space, &mut graph, &roots, 7, &mut run, "all steps");
        assert_eq!(graph.cost(graph.best()), cost(1));
        assert!((8..=12).contains(&graph.path(graph.best()).len()));
    }
}
