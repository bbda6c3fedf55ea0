//! Monte Carlo tree search as Knossos has it (Algorithm 3), and random walks.

use crate::Runner;
use crate::exploration::Exploration;
use crate::seed::Rng;
use crate::space::Space;
use crate::state_graph::StateGraph;
use rand::RngExt as _;

/// The parameters of Algorithm 3; the default is the paper's (appendix C).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Params {
    /// c, the weight of the exploration bonus.
    pub exploration: f64,
    /// Alpha, the inverse temperature of rollouts. At 0 they are uniform.
    pub alpha: f64,
    /// Whether a tree policy chooses where rollouts begin; without it they all begin at the root.
    pub has_tree: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { exploration: 0.5, alpha: 5.0, has_tree: true }
    }
}

impl Params {
    /// Walks from the root, each step drawn uniformly.
    pub fn random_walks() -> Self {
        Self { exploration: 0.0, alpha: 0.0, has_tree: false }
    }
}

/// What is known of the trajectories through a state.
#[derive(Clone, Copy, Default)]
struct Visits {
    /// n(s)
    count: f64,
    /// X(s): the sum over trajectories of the greatest reduction of cost at s or after it.
    gain: f64,
}

/// Iterations that show no new state, after which everything there is has probably been seen.
const MOST_IDLE: u32 = 1000;

/// Searches from node 0 of `graph` until the runner says stop, or nothing new has come for long.
pub fn mcts<P: Space>(
    space: &mut P,
    graph: &mut StateGraph<P::State, P::Step>,
    horizon: u32,
    params: Params,
    run: &mut Runner<u32>,
    by: &'static str,
) {
    let rng = run.seed().stream("mcts", 0);
    let search = Exploration::new(space, graph, run, by, horizon);
    let mut search = Search { search, params, rng, visits: vec![], trajectory: vec![] };
    search.search.graph.reach(0, horizon, None);
    let mut idle = 0;
    while idle < MOST_IDLE && !search.search.should_stop() {
        let seen = search.search.graph.len();
        search.iterate();
        idle = if search.search.graph.len() > seen { 0 } else { idle + 1 };
    }
}

struct Search<'a, P: Space> {
    search: Exploration<'a, P>,
    params: Params,
    rng: Rng,
    visits: Vec<Visits>,
    /// States from the root on, of the tree first.
    trajectory: Vec<u32>,
}

impl<P: Space> Search<'_, P> {
    fn iterate(&mut self) {
        self.trajectory.clear();
        self.trajectory.push(0);
        if self.params.has_tree {
            self.descend();
        }
        let in_tree = self.trajectory.len();
        self.roll_out();
        self.back_up(in_tree);
    }

    fn at(&self) -> u32 {
        self.trajectory.last().copied().unwrap_or(0)
    }

    fn left(&self) -> u32 {
        (self.search.horizon + 1).saturating_sub(self.trajectory.len() as u32)
    }

    fn visits(&self, node: u32) -> Visits {
        self.visits.get(node as usize).copied().unwrap_or_default()
    }

    /// Takes a step; gives false where there is none.
    fn go(&mut self, choose: impl FnOnce(&mut Self, &[u32]) -> usize) -> bool {
        let (node, left) = (self.at(), self.left());
        if left == 0 || self.search.should_stop() {
            return false;
        }
        let edges = self.search.expand(node);
        let children: Vec<u32> = edges.clone().map(|edge| self.search.graph.target(edge)).collect();
        if children.is_empty() {
            return false;
        }
        let chosen = choose(self, &children);
        let child = children[chosen];
        self.search.graph.reach(child, left - 1, Some((node, edges.start + chosen as u32)));
        self.trajectory.push(child);
        true
    }

    /// The tree policy (equation 8), down to a state that was not visited.
    fn descend(&mut self) {
        while self.visits(self.at()).count > 0.0 && self.go(|search, children| search.most_promising(children)) {}
    }

    fn most_promising(&mut self, children: &[u32]) -> usize {
        let parent = self.visits(self.at()).count;
        let bound = |child: u32| {
            let Visits { count, gain } = self.visits(child);
            gain / count.max(1.0) + self.params.exploration * (parent.ln() / (count + 1.0)).sqrt()
        };
        let better =
            |best: usize, other: usize| if bound(children[other]) > bound(children[best]) { other } else { best };
        (0..children.len()).reduce(better).unwrap_or(0)
    }

    /// The rollout policy (equation 9), to the horizon.
    fn roll_out(&mut self) {
        while self.go(|search, children| search.draw(children)) {}
    }

    fn draw(&mut self, children: &[u32]) -> usize {
        let (here, left) = (self.search.gain(self.at()), self.left());
        let value = |child: u32| self.search.priority(child, left - 1) - here;
        let values: Vec<f64> = children.iter().map(|child| self.params.alpha * value(*child)).collect();
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = values.iter().map(|value| (value - most).exp()).collect();
        let mut at = self.rng.random::<f64>() * weights.iter().sum::<f64>();
        for (child, weight) in weights.iter().enumerate() {
            at -= weight;
            if at < 0.0 {
                return child;
            }
        }
        children.len() - 1
    }

    /// Adds to n and X of the states of the tree, X by what was found at each or after it.
    fn back_up(&mut self, in_tree: usize) {
        self.visits.resize(self.search.graph.len(), Visits::default());
        let mut gain = f64::NEG_INFINITY;
        for (depth, node) in self.trajectory.iter().enumerate().rev() {
            gain = gain.max(self.search.gain(*node));
            if depth < in_tree {
                let visits = &mut self.visits[*node as usize];
                visits.count += 1.0;
                visits.gain += gain;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{Advice, Numbers, exhaustive};
    use crate::{Limits, Seed};

    fn search(advice: Advice, params: Params, seed: u64, work: Option<u64>) -> StateGraph<u32, char> {
        let mut space = Numbers { advice, ..Numbers::default() };
        let mut graph = StateGraph::new(97, space.cost(97));
        let mut run = Runner::new(Limits { work, time: None }, Seed(seed));
        mcts(&mut space, &mut graph, 5, params, &mut run, "MCTS");
        graph
    }

    #[test]
    fn with_time_it_finds_the_best_under_any_guide() {
        for advice in Advice::ALL {
            let graph = search(advice, Params::default(), 0, None);
            assert_eq!(graph.cost(graph.best()), exhaustive(97, 5), "{advice:?}");
        }
        let graph = search(Advice::None, Params::random_walks(), 0, None);
        assert_eq!(graph.cost(graph.best()), exhaustive(97, 5));
    }

    #[test]
    fn a_seed_means_one_search() {
        let states = |seed| {
            let graph = search(Advice::None, Params::random_walks(), seed, Some(25));
            (0..graph.len() as u32).map(|node| graph.state(node)).collect::<Vec<_>>()
        };
        assert_eq!(states(1), states(1));
        assert_ne!(states(1), states(2));
        assert!(states(1).len() <= 26);
        let graph = search(Advice::None, Params::default(), 1, Some(25));
        for node in 0..graph.len() as u32 {
            let last = graph.path(node).into_iter().try_fold(97, |at, (step, _)| Numbers::take(at, *step));
            assert_eq!(last, Some(graph.state(node)), "states that were only looked at have a path, too");
        }
    }
}
