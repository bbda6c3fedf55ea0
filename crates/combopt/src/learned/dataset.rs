//! Random graphs to learn from, and others to measure on.

use super::numbering::Numbering;
use super::training::Dataset;
use labrys_graph::{Graph, GraphBuilder, generate};
use labrys_search::Seed;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

/// A family of random graphs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Erdos-Renyi with edge probability `density`.
    #[default]
    Er,
    /// Barabasi-Albert with `degree` edges a node.
    Ba,
    /// Watts-Strogatz with `degree` neighbours, a tenth of them rewired.
    Ws,
    /// Four blocks, with `density` within and a fifth of it across.
    Sbm,
    /// Points in the unit square, all pairs of them, distances in ten-thousandths.
    Points,
}

/// Which graphs, and how many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DataConfig {
    /// Families, dealt out in turn.
    pub families: Vec<Family>,
    /// Least and most nodes.
    pub nodes: (u32, u32),
    /// Probability of an edge.
    pub density: f64,
    /// Edges of a new node.
    pub degree: u32,
    /// Graphs to learn from.
    pub graphs: usize,
    /// Graphs to measure on.
    pub held_back: usize,
    /// Seed of all graphs.
    pub seed: u64,
    /// How the nodes of a graph are numbered, and so which of them share a rank.
    pub numbering: Numbering,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            families: vec![Family::Er, Family::Ba],
            nodes: (50, 250),
            density: 0.15,
            degree: 4,
            graphs: 500,
            held_back: 20,
            seed: 1,
            numbering: Numbering::Given,
        }
    }
}

impl DataConfig {
    /// What is wrong with the settings, if anything.
    pub fn fault(&self) -> Option<String> {
        let (least, most) = self.nodes;
        if self.families.is_empty() {
            Some("families must not be empty".into())
        } else if least < 2 || most < least || most > 100_000 {
            Some(format!("nodes is {:?}, but must be two numbers from 2 to 100000, the smaller first", self.nodes))
        } else if !(self.density > 0.0 && self.density <= 1.0) || self.degree == 0 || self.degree >= least {
            Some("density must be above 0 and at most 1, degree from 1 to below the number of nodes".into())
        } else {
            (self.graphs == 0).then(|| "graphs must be at least 1".into())
        }
    }

    /// The graphs; `reference` gives the optimum or the best known objective of those held back.
    pub fn generate(&self, mut reference: impl FnMut(&Graph) -> f64) -> Dataset {
        let graphs = (0..self.graphs).map(|index| self.graph("graph", index)).collect();
        let held_back = (0..self.held_back).map(|index| {
            let graph = self.graph("held-back", index);
            let best = reference(&graph);
            (graph, best)
        });
        Dataset { graphs, held_back: held_back.collect() }
    }

    /// One graph with at least one edge. Graphs of other labels are others.
    pub fn graph(&self, label: &str, index: usize) -> Graph {
        for attempt in 0.. {
            let mut rng = Seed(self.seed).derive(label, index as u64).stream("draw", attempt);
            let nodes = rng.random_range(self.nodes.0..=self.nodes.1);
            let graph = draw(self.families[index % self.families.len()], nodes, self.density, self.degree, &mut rng);
            if graph.edge_count() > 0 {
                return self.numbering.apply(graph);
            }
        }
        Graph::from_edges(2, [(0, 1)])
    }
}

fn draw(family: Family, nodes: u32, density: f64, degree: u32, rng: &mut labrys_search::seed::Rng) -> Graph {
    let edges = match family {
        Family::Er => generate::erdos_renyi(nodes, density, rng),
        Family::Ba => generate::barabasi_albert(nodes, degree, rng),
        Family::Ws => generate::watts_strogatz(nodes, degree, 0.1, rng),
        Family::Sbm => generate::stochastic_block(nodes, 4, density, density / 5.0, rng),
        Family::Points => return points(nodes, rng),
    };
    Graph::from_edges(nodes, edges)
}

fn points(nodes: u32, rng: &mut labrys_search::seed::Rng) -> Graph {
    let places: Vec<(f64, f64)> = (0..nodes).map(|_| (rng.random(), rng.random())).collect();
    let mut builder = GraphBuilder::new(nodes);
    for b in 0..nodes {
        for a in 0..b {
            let (p, q) = (places[a as usize], places[b as usize]);
            let distance = 1e4 * (p.0 - q.0).hypot(p.1 - q.1);
            builder.add_weighted(a, b, (distance.round() as i64).max(1));
        }
    }
    builder.build().0
}
