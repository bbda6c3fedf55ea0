//! The graph network of equation 1 (paper, section 4.2).

use super::{Activation, Mlp};
use crate::{GraphBatch, Init, Matrix, ParamId, Params, Tape, Var};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// How a node combines the messages of its edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// Their sum.
    Sum,
    /// Their mean; zero without edges.
    Mean,
}

impl Aggregation {
    /// What the sum over a number of edges is multiplied by.
    pub(crate) fn factor(self, edges: usize) -> f32 {
        match self {
            Self::Sum => 1.0,
            Self::Mean => 1.0 / edges.max(1) as f32,
        }
    }
}

/// How a node's state takes up its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// `h + MLP_node([h, m, m'])`.
    Residual,
    /// `MLP_node([h, m, m'])`, equation 1 as it stands.
    Plain,
    /// A gated recurrent unit over `[m, m']`.
    Gru,
}

/// Sizes and variants of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MessagePassingConfig {
    /// Features of a node.
    pub node_features: usize,
    /// Features of an edge.
    pub edge_features: usize,
    /// Width of every state and layer.
    pub hidden: usize,
    /// Rounds of message passing, T.
    pub rounds: usize,
    /// How messages are combined.
    pub aggregation: Aggregation,
    /// How they are taken up.
    pub update: Update,
}

impl MessagePassingConfig {
    /// The paper's best for run time (A.15): 32 wide, 16 residual rounds, sums.
    pub fn paper(node_features: usize, edge_features: usize) -> Self {
        let (aggregation, update) = (Aggregation::Sum, Update::Residual);
        Self { node_features, edge_features, hidden: 32, rounds: 16, aggregation, update }
    }
}

/// The network: encoders of nodes and edges, two message networks, and the update, shared by all rounds.
///
/// Both layers of the message networks are taken apart (see [`Tape::edge_messages`]): the first layer's products are per
/// node, and the second layer is folded into the first one of the update, as nothing but sums stands between them.
#[derive(Clone, Debug)]
pub struct MessagePassing {
    config: MessagePassingConfig,
    nodes: Mlp,
    edges: Mlp,
    /// First layer of both message networks, on nodes: `[source | target | source' | target']`.
    message_nodes: ParamId,
    /// The same on edges, `[e | e']`, and its bias.
    message_edges: (ParamId, ParamId),
    /// Second layer (weights, bias), along and against.
    message_out: [(ParamId, ParamId); 2],
    /// First layer of the update, on the state, with its bias; three blocks wide for a gated unit.
    update_state: (ParamId, ParamId),
    /// The same on the messages along, and against.
    update_messages: [ParamId; 2],
    /// Last layer of the update; a gated unit has none.
    update_out: Option<(ParamId, ParamId)>,
}

impl MessagePassing {
    /// New parameters under `NAME`.
    pub fn new(params: &mut Params, name: &str, config: MessagePassingConfig, rng: &mut impl Rng) -> Self {
        let (hidden, relu) = (config.hidden, Activation::Relu);
        let nodes = [config.node_features, hidden, hidden];
        let nodes = Mlp::new(params, &format!("{name}.nodes"), &nodes, relu, rng);
        let edges = [config.edge_features, hidden, hidden];
        let edges = Mlp::new(params, &format!("{name}.edges"), &edges, relu, rng);
        let mut add = |part: &str, shape, init| params.add(&format!("{name}.{part}"), shape, init, rng);
        let gates = if config.update == Update::Gru { 3 } else { 1 };
        let wide = (hidden, gates * hidden);
        // Three terms meet in a first layer; Glorot's rule gives these wide matrices about a third of He's variance each.
        let message_nodes = add("message.nodes", (hidden, 4 * hidden), Init::Glorot);
        let message_edges = add("message.edges", (hidden, 2 * hidden), Init::Glorot);
        let message_bias = add("message.bias", (1, 2 * hidden), Init::Zero);
        let message_out = ["along", "against"].map(|way| {
            let weights = add(&format!("message.{way}.weights"), (hidden, hidden), Init::Glorot);
            (weights, add(&format!("message.{way}.bias"), (1, hidden), Init::Zero))
        });
        let update_state = add("update.state", wide, Init::Glorot);
        let update_bias = add("update.bias", (1, wide.1), Init::Zero);
        let update_messages = ["along", "against"].map(|way| add(&format!("update.{way}"), wide, Init::Glorot));
        let update_out = (config.update != Update::Gru).then(|| {
            // Residual rounds start as the identity (Zhang et al. 2019): else 16 rounds of sums start at 1e17.
            let init = if config.update == Update::Residual { Init::Zero } else { Init::Glorot };
            let weights = add("update.out.weights", (hidden, hidden), init);
            (weights, add("update.out.bias", (1, hidden), Init::Zero))
        });
        let message_edges = (message_edges, message_bias);
        let update_state = (update_state, update_bias);
        Self {
            config,
            nodes,
            edges,
            message_nodes,
            message_edges,
            message_out,
            update_state,
            update_messages,
            update_out,
        }
    }

    /// Sizes and variants.
    pub fn config(&self) -> &MessagePassingConfig {
        &self.config
    }

    /// The state of every node after all rounds: one row a node.
    pub fn forward<'a>(&self, tape: &mut Tape<'a>, batch: &'a GraphBatch) -> Var {
        let features = tape.input(batch.node_features());
        let mut h = self.nodes.forward(tape, features);
        if self.config.rounds == 0 {
            return h;
        }
        let shared = self.shared(tape, batch);
        for _ in 0..self.config.rounds {
            let next = self.round(tape, h, &shared, batch);
            tape.release(h);
            h = next;
        }
        h
    }

    /// What does not change from round to round.
    fn shared<'a>(&self, tape: &mut Tape<'a>, batch: &'a GraphBatch) -> Shared {
        let features = tape.input(batch.edge_features());
        let encoded = self.edges.forward(tape, features);
        let (weights, bias) = (tape.param(self.message_edges.0), tape.param(self.message_edges.1));
        let edges = tape.linear(encoded, weights, bias);
        let (messages, bias) = self.fold(tape, batch);
        Shared { edges, messages, bias }
    }

    /// The second layer of the messages and the first of the update as one, with the sum of all biases for each node:
    /// the bias of a message counts once per edge in a sum, and once in a mean of at least one edge.
    fn fold(&self, tape: &mut Tape, batch: &GraphBatch) -> (Var, Var) {
        let (mut weights, mut biases) = (vec![], vec![]);
        for (&(message, bias), &update) in self.message_out.iter().zip(&self.update_messages) {
            let [message, bias, update] = [message, bias, update].map(|id| tape.param(id));
            weights.push(tape.matmul(message, update));
            biases.push(tape.matmul(bias, update));
        }
        let counts = tape.constant(self.bias_counts(batch));
        let biases = tape.stack(&biases);
        let own = tape.param(self.update_state.1);
        (tape.stack(&weights), tape.affine(&[(counts, biases)], &[own], None))
    }

    /// How often the biases of messages along and against the edges count for each node.
    fn bias_counts(&self, batch: &GraphBatch) -> Matrix {
        let count = |edges: usize| edges as f32 * self.config.aggregation.factor(edges);
        let both = |node| [batch.incoming(), batch.outgoing()].map(|incidence| count(incidence.of(node).len()));
        Matrix::new(batch.nodes(), 2, (0..batch.nodes()).flat_map(both).collect())
    }

    fn round<'a>(&self, tape: &mut Tape<'a>, h: Var, shared: &Shared, batch: &'a GraphBatch) -> Var {
        let (on_message, on_update) = (tape.param(self.message_nodes), tape.param(self.update_state.0));
        let terms = tape.matmul(h, on_message);
        let messages = tape.edge_messages(terms, shared.edges, batch, self.config.aggregation);
        tape.release(terms);
        let received = (messages, shared.messages);
        match self.update_out {
            None => {
                let received = tape.affine(&[received], &[shared.bias], None);
                let own = tape.matmul(h, on_update);
                let next = tape.gru_cell(received, own, h);
                [messages, received, own].into_iter().for_each(|var| tape.release(var));
                next
            }
            Some((weights, bias)) => {
                let sum = tape.affine(&[received, (h, on_update)], &[shared.bias], Some(Activation::Relu));
                let (weights, bias) = (tape.param(weights), tape.param(bias));
                let addends = [bias, h];
                let addends = if self.config.update == Update::Residual { &addends } else { &addends[..1] };
                let next = tape.affine(&[(sum, weights)], addends, None);
                [messages, sum].into_iter().for_each(|var| tape.release(var));
                next
            }
        }
    }
}

/// Values that all rounds share.
struct Shared {
    /// `W_e e + b` of both message networks.
    edges: Var,
    /// Second layer of the messages times the update's layer.
    messages: Var,
    /// All biases of the update, for each node.
    bias: Var,
}
