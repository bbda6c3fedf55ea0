//! The vocabulary: which problems there are, and the environment in which an agent builds a solution node by node.

/// The problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// Fewest nodes that touch every edge.
    VertexCover,
    /// Most nodes without an edge between any two.
    IndependentSet,
    /// Most nodes with an edge between every two.
    MaxClique,
    /// Two sides with the heaviest edges between them.
    MaxCut,
    /// Shortest round trip through all cities.
    Tsp,
}

impl Problem {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::VertexCover, Self::IndependentSet, Self::MaxClique, Self::MaxCut, Self::Tsp];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::VertexCover => "vertex-cover",
            Self::IndependentSet => "independent-set",
            Self::MaxClique => "max-clique",
            Self::MaxCut => "max-cut",
            Self::Tsp => "tsp",
        }
    }

    /// The problem of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|problem| problem.name() == name)
    }

    /// Whether edge weights have a meaning in it.
    pub fn has_weights(self) -> bool {
        self == Self::MaxCut
    }
}

/// What a step gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Change of the objective, more being better.
    pub reward: i64,
    /// Whether the episode is over.
    pub done: bool,
}

/// A partial solution that grows by one node a step. A step costs O(degree of the node).
///
/// The state is the nodes picked so far, in order: the state before the last step is all of [`picked`](Self::picked) but its last.
pub trait Environment: Send {
    /// Number of nodes of the graph.
    fn nodes(&self) -> usize;

    /// Back to the empty solution.
    fn reset(&mut self);

    /// Picks a node. A node that is no candidate changes nothing and earns nothing.
    fn step(&mut self, node: u32) -> Step;

    /// Whether a node may be picked.
    fn is_candidate(&self, node: u32) -> bool;

    /// Whether the episode is over.
    fn is_done(&self) -> bool;

    /// The nodes picked so far, in order.
    fn picked(&self) -> &[u32];

    /// Value of the solution so far: the sum of all rewards.
    fn value(&self) -> i64;

    /// All candidates, ascending.
    fn candidates(&self) -> Vec<u32> {
        (0..self.nodes() as u32).filter(|&node| self.is_candidate(node)).collect()
    }
}
