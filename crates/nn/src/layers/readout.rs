//! From nodes to graphs.

use super::{Activation, Mlp};
use crate::{ParamId, Params, Segments, Tape, Var};
use rand::Rng;

/// `MLP_b(mean over nodes of MLP_g(h))`: the baseline of the paper, section 4.2.
#[derive(Clone, Debug)]
pub struct GraphReadout {
    nodes: Mlp,
    graph: Mlp,
}

impl GraphReadout {
    /// New parameters under `NAME`: two-layer networks of width `hidden`, from as many inputs to `outputs` a graph.
    pub fn new(params: &mut Params, name: &str, hidden: usize, outputs: usize, rng: &mut impl Rng) -> Self {
        let nodes = [hidden, hidden, hidden];
        let nodes = Mlp::new(params, &format!("{name}.nodes"), &nodes, Activation::Relu, rng);
        let graph = [hidden, hidden, outputs];
        let graph = Mlp::new(params, &format!("{name}.graph"), &graph, Activation::Relu, rng);
        Self { nodes, graph }
    }

    /// One row a graph.
    pub fn forward<'a>(&self, tape: &mut Tape<'a>, h: Var, graphs: &'a Segments) -> Var {
        let nodes = self.nodes.forward(tape, h);
        let means = tape.segment_mean(nodes, graphs);
        self.graph.forward(tape, means)
    }

    /// Parameters of the last layer (weights, bias): a caller may start a head at zero.
    pub fn last_layer(&self) -> (ParamId, ParamId) {
        self.graph.last_layer()
    }
}
