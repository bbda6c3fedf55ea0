//! Gated graph networks (Li et al. 2016): typed edges, a gated recurrent unit at every node, and a gated sum over nodes.

use super::{Activation, Gru, Mlp};
use crate::{EdgeArrays, Init, ParamId, Params, Tape, Var};
use rand::Rng;

/// Rounds of message passing in which all nodes share one unit, and all edges of a type one matrix.
#[derive(Clone, Debug)]
pub struct GatedGraph {
    messages: ParamId,
    unit: Gru,
    rounds: usize,
}

impl GatedGraph {
    /// New parameters under `NAME`.
    pub fn new(
        params: &mut Params,
        name: &str,
        (edge_types, hidden, rounds): (usize, usize, usize),
        rng: &mut impl Rng,
    ) -> Self {
        // About Glorot's variance for each matrix, as a node has a parent, children and links.
        let messages = params.add(&format!("{name}.messages"), (edge_types * hidden, hidden), Init::Glorot, rng);
        let unit = Gru::new(params, &format!("{name}.unit"), hidden, hidden, rng);
        Self { messages, unit, rounds }
    }

    /// Rounds of message passing.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// The state of every node after all rounds, from the one that it starts with; `edges` by type.
    pub fn forward<'a>(&self, tape: &mut Tape<'a>, start: Var, edges: &'a [EdgeArrays]) -> Var {
        let mut h = start;
        for _ in 0..self.rounds {
            let next = self.round(tape, h, h, edges);
            if h != start {
                tape.release(h);
            }
            h = next;
        }
        h
    }

    /// One round: the next states of the nodes whose states are `own`, from those of all nodes; `edges` lead from rows of `h` to
    /// rows of `own`.
    pub fn round<'a>(&self, tape: &mut Tape<'a>, h: Var, own: Var, edges: &'a [EdgeArrays]) -> Var {
        let matrices = tape.param(self.messages);
        let targets = tape.value(own).rows;
        let received = tape.typed_messages(h, matrices, edges, targets);
        let next = self.unit.forward(tape, received, own);
        tape.release(received);
        next
    }
}

/// `MLP(sum over nodes of sigmoid(gate([h, x])) * tanh(value(h)))`: one row a graph.
#[derive(Clone, Debug)]
pub struct GatedReadout {
    gate: Mlp,
    value: Mlp,
    graph: Mlp,
}

impl GatedReadout {
    /// New parameters under `NAME`: states of width `hidden`, two layers of `width` (none if that is 0), `outputs` a graph.
    pub fn new(
        params: &mut Params,
        name: &str,
        (hidden, width, outputs): (usize, usize, usize),
        rng: &mut impl Rng,
    ) -> Self {
        let tanh = Activation::Tanh;
        let gate = Mlp::new(params, &format!("{name}.gate"), &[2 * hidden, hidden], tanh, rng);
        let value = Mlp::new(params, &format!("{name}.value"), &[hidden, hidden], tanh, rng);
        let widths = [hidden, width, width, outputs];
        let widths: Vec<usize> = widths.into_iter().filter(|&width| width > 0).collect();
        let graph = Mlp::new(params, &format!("{name}.graph"), &widths, tanh, rng);
        Self { gate, value, graph }
    }

    /// What each node adds to the sum of its graph, from its state `h` and its features `x`.
    pub fn nodes(&self, tape: &mut Tape, h: Var, x: Var) -> Var {
        let both = tape.concat(&[h, x]);
        let gate = self.gate.forward(tape, both);
        let gate = tape.sigmoid(gate);
        let value = self.value.forward(tape, h);
        let value = tape.tanh(value);
        tape.mul(gate, value)
    }

    /// One row a graph, from the sums over nodes. These and the results of inner layers go through `between`: dropout in training.
    pub fn graphs<'a>(
        &self,
        tape: &mut Tape<'a>,
        sums: Var,
        mut between: impl FnMut(&mut Tape<'a>, Var) -> Var,
    ) -> Var {
        let sums = between(tape, sums);
        self.graph.forward_with(tape, sums, between)
    }

    /// Parameters of the last layer (weights, bias): a caller may start it at zero.
    pub fn last_layer(&self) -> (ParamId, ParamId) {
        self.graph.last_layer()
    }
}
