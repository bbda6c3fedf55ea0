//! How far it is from each state of a search to the state that is worth going to: what a guide that counts steps learns from.

use crate::state_graph::StateGraph;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

/// Steps that going back counts as: what one step does another undoes, or two.
const BACK: u32 = 2;

/// Where to go from a state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Goal {
    /// What it costs there.
    pub cost: f64,
    /// How many steps it is.
    pub steps: u32,
}

/// A way to a goal that is yet to be made longer: the least of cost and price first.
#[derive(PartialEq)]
struct Way {
    total: f64,
    node: u32,
}

impl Eq for Way {}

impl Ord for Way {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.total.total_cmp(&other.total).then(self.node.cmp(&other.node))
    }
}

impl PartialOrd for Way {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Copy + Eq + Hash, A> StateGraph<S, A> {
    /// Where to go from each state: to the state of the least cost, a step of the way there counting as `price`. Steps may be undone, too.
    pub fn goals(&self, price: f64) -> Vec<Goal> {
        let before = self.neighbours();
        let mut goals: Vec<Goal> =
            (0..self.len() as u32).map(|node| Goal { cost: self.cost(node), steps: 0 }).collect();
        let total = |goal: &Goal| goal.cost + price * f64::from(goal.steps);
        let start = (0..self.len() as u32).map(|node| Reverse(Way { total: self.cost(node), node }));
        let mut open: BinaryHeap<Reverse<Way>> = start.collect();
        while let Some(Reverse(way)) = open.pop() {
            let goal = goals[way.node as usize];
            if way.total > total(&goal) {
                continue;
            }
            for &(node, steps) in &before[way.node as usize] {
                let longer = Goal { steps: goal.steps + steps, ..goal };
                if total(&longer) < total(&goals[node as usize]) {
                    goals[node as usize] = longer;
                    open.push(Reverse(Way { total: total(&longer), node }));
                }
            }
        }
        goals
    }

    /// From which states each can be reached, and in how many steps.
    fn neighbours(&self) -> Vec<Vec<(u32, u32)>> {
        let mut before = vec![vec![]; self.len()];
        for node in 0..self.len() as u32 {
            for (_, to) in self.steps(node).unwrap_or(&[]) {
                before[*to as usize].push((node, 1));
                before[node as usize].push((*to, BACK));
            }
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{Numbers, cost};
    use crate::{Limits, Runner, Seed, best_first, surroundings};

    fn explored(root: u32, horizon: u32) -> StateGraph<u32, char> {
        let mut graph = StateGraph::new(root, cost(root));
        let mut run = Runner::new(Limits::default(), Seed(0));
        best_first(&mut Numbers::default(), &mut graph, &[0], horizon, &mut run, "all");
        graph
    }

    #[test]
    fn goals_are_the_least_within_reach() {
        let graph = explored(27, 6);
        let goals = graph.goals(1e-6);
        let best = graph.cost(graph.best());
        assert!(goals.iter().all(|goal| goal.cost == best), "whatever was seen is connected");
        assert_eq!(goals[graph.best() as usize].steps, 0);
        assert!((1..=graph.path(graph.best()).len()).contains(&(goals[0].steps as usize)));
        for node in 0..graph.len() as u32 {
            for (_, to) in graph.steps(node).unwrap_or(&[]) {
                let (here, there) = (goals[node as usize].steps, goals[*to as usize].steps);
                assert!(here <= there + 1 && there <= here + BACK, "{here} beside {there}");
            }
        }
    }

    #[test]
    fn steps_have_their_price() {
        let graph = explored(27, 6);
        let goals = graph.goals(1e6);
        assert!((0..graph.len()).all(|node| goals[node] == Goal { cost: graph.cost(node as u32), steps: 0 }));
    }

    #[test]
    fn surroundings_are_expanded_and_no_more() {
        let mut graph = StateGraph::new(8, cost(8));
        let end = graph.insert_path(0, [('/', 4, cost(4)), ('/', 2, cost(2))]);
        let mut run = Runner::new(Limits::default(), Seed(0));
        surroundings(&mut Numbers::default(), &mut graph, &[0, end], 2, &mut run);
        let expanded: Vec<u32> =
            (0..graph.len() as u32).filter(|node| graph.steps(*node).is_some()).map(|node| graph.state(node)).collect();
        // 8 and 2, and where they lead: 25, 15, 4 and 7, 9, 1.
        let mut expected = vec![8, 2, 25, 15, 4, 7, 9, 1];
        expected.retain(|state| expanded.contains(state));
        assert_eq!((expected.len(), expanded.len()), (8, 8));
        // 1 leads to 8 in one step, so that it is two back, and three halves.
        assert_eq!(graph.goals(1e-6)[0], Goal { cost: cost(1), steps: 2 });
    }
}
