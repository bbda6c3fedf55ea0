//! The vocabulary: which problems there are. The environments in which an agent builds solutions node by node are in
//! [`crate::learned::environment`].

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
