//! Distributions over choices at the nodes of a graph.

use labrys_nn::{
    Activation, GraphBatch, GraphReadout, Lstm, Matrix, MessagePassing, MessagePassingConfig, Mlp, Params, Tape, Var,
};
use labrys_search::seed::Rng;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

/// What was chosen: for each head, one choice for each of its decisions.
pub type Actions = Vec<Vec<u32>>;

/// A network with parameters elsewhere.
pub trait Policy: Sync {
    /// Logits of each head: one row a decision, one column a choice. All decisions are independent given the graph.
    fn heads<'a>(&self, tape: &mut Tape<'a>, graph: &'a GraphBatch) -> Vec<Var>;

    /// The reward to expect, one row a graph.
    fn baseline<'a>(&self, tape: &mut Tape<'a>, graph: &'a GraphBatch) -> Var;
}

/// How choices are taken from their probabilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// At random, by their probabilities.
    Sample,
    /// The likeliest; the first one of equals.
    Greedy,
}

impl Choice {
    /// One choice for each row of logarithms of probabilities.
    pub fn take(self, log_probabilities: &Matrix, rng: &mut Rng) -> Vec<u32> {
        let rows = log_probabilities.iter_rows();
        match self {
            Self::Sample => rows.map(|row| sample(row, rng.random::<f32>())).collect(),
            Self::Greedy => rows.map(likeliest).collect(),
        }
    }
}

/// The choice at a point of the cumulative distribution. Rounding may leave a rest, which goes to the last choice.
fn sample(log_probabilities: &[f32], mut point: f32) -> u32 {
    for (choice, log_probability) in log_probabilities.iter().enumerate() {
        point -= log_probability.exp();
        if point < 0.0 {
            return choice as u32;
        }
    }
    log_probabilities.len().saturating_sub(1) as u32
}

fn likeliest(log_probabilities: &[f32]) -> u32 {
    let better = |best: usize, choice: usize| log_probabilities[choice] > log_probabilities[best];
    (0..log_probabilities.len()).fold(0, |best, choice| if better(best, choice) { choice } else { best }) as u32
}

/// The actions that a policy takes on a graph: what a search asks for. No gradients, and no baseline.
pub fn act(policy: &impl Policy, params: &Params, graph: &GraphBatch, choice: Choice, rng: &mut Rng) -> Actions {
    let mut tape = Tape::inference(params);
    let heads = policy.heads(&mut tape, graph);
    let logs: Vec<Var> = heads.into_iter().map(|head| tape.log_softmax(head)).collect();
    logs.into_iter().map(|log| choice.take(tape.value(log), rng)).collect()
}

/// How nodes get their representation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum EncoderConfig {
    /// By message passing.
    Graph(MessagePassingConfig),
    /// By a recurrent network over the nodes in their order (graph as sequence); edges are not read.
    Sequence {
        /// Features of a node.
        node_features: usize,
        /// Width of every state and layer.
        hidden: usize,
    },
}

impl EncoderConfig {
    /// Width of a node's representation.
    pub fn hidden(&self) -> usize {
        match self {
            Self::Graph(config) => config.hidden,
            Self::Sequence { hidden, .. } => *hidden,
        }
    }
}

/// What decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Each node for itself.
    #[default]
    Node,
    /// The graph as a whole.
    Graph,
}

/// One head.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeadConfig {
    /// Decisions at each node, or of the graph.
    pub decisions: usize,
    /// Choices of each decision.
    pub choices: usize,
    /// What decides.
    #[serde(default)]
    pub scope: Scope,
}

/// Sizes of a [`GraphPolicy`]: what its model card must hold to build it again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GraphPolicyConfig {
    /// How nodes get their representation; the baseline has a network of its own of the same kind.
    pub encoder: EncoderConfig,
    /// What is decided.
    pub heads: Vec<HeadConfig>,
}

impl GraphPolicyConfig {
    /// Logits of a node, or of the graph.
    fn outputs(&self, scope: Scope) -> usize {
        self.heads.iter().filter(|head| head.scope == scope).map(|head| head.decisions * head.choices).sum()
    }
}

/// The paper's policy (section 4.2): a graph network, an MLP for the logits of every node, and for the baseline a second
/// graph network with a readout.
#[derive(Clone, Debug)]
pub struct GraphPolicy {
    heads: Vec<HeadConfig>,
    encoder: Encoder,
    logits: Mlp,
    /// For decisions of the graph, if there are any.
    graph_logits: Option<GraphReadout>,
    baseline_encoder: Encoder,
    baseline: GraphReadout,
}

#[derive(Clone, Debug)]
enum Encoder {
    Graph(MessagePassing),
    Sequence { features: Mlp, lstm: Lstm },
}

impl GraphPolicy {
    /// New parameters, starting from equal probabilities for all choices.
    pub fn new(params: &mut Params, config: &GraphPolicyConfig, rng: &mut Rng) -> Self {
        let hidden = config.encoder.hidden();
        let encoder = Encoder::new(params, "policy", &config.encoder, rng);
        let widths = [hidden, hidden, config.outputs(Scope::Node)];
        let logits = Mlp::new(params, "policy.logits", &widths, Activation::Relu, rng);
        params.get_mut(logits.last_layer().0).data.fill(0.0);
        let graph_outputs = config.outputs(Scope::Graph);
        let graph_logits = (graph_outputs > 0).then(|| {
            let readout = GraphReadout::new(params, "policy.graph-logits", hidden, graph_outputs, rng);
            params.get_mut(readout.last_layer().0).data.fill(0.0);
            readout
        });
        let baseline_encoder = Encoder::new(params, "baseline", &config.encoder, rng);
        let baseline = GraphReadout::new(params, "baseline.readout", hidden, 1, rng);
        Self { heads: config.heads.clone(), encoder, logits, graph_logits, baseline_encoder, baseline }
    }
}

impl Policy for GraphPolicy {
    /// Decision `d` of node (or graph) `v` is row `v * decisions + d`.
    fn heads<'a>(&self, tape: &mut Tape<'a>, graph: &'a GraphBatch) -> Vec<Var> {
        let h = self.encoder.forward(tape, graph);
        let node_logits = self.logits.forward(tape, h);
        let graph_logits = self.graph_logits.as_ref().map(|readout| readout.forward(tape, h, graph.graphs()));
        let (mut node_start, mut graph_start) = (0, 0);
        let heads = self.heads.iter().map(|head| {
            let (all, start) = match (head.scope, graph_logits) {
                (Scope::Graph, Some(logits)) => (logits, &mut graph_start),
                _ => (node_logits, &mut node_start),
            };
            let width = head.decisions * head.choices;
            let own = tape.columns(all, *start..*start + width);
            *start += width;
            let rows = tape.value(own).rows * head.decisions;
            tape.reshape(own, rows, head.choices)
        });
        heads.collect()
    }

    fn baseline<'a>(&self, tape: &mut Tape<'a>, graph: &'a GraphBatch) -> Var {
        let h = self.baseline_encoder.forward(tape, graph);
        self.baseline.forward(tape, h, graph.graphs())
    }
}

impl Encoder {
    fn new(params: &mut Params, name: &str, config: &EncoderConfig, rng: &mut Rng) -> Self {
        match *config {
            EncoderConfig::Graph(config) => Self::Graph(MessagePassing::new(params, name, config, rng)),
            EncoderConfig::Sequence { node_features, hidden } => {
                let widths = [node_features, hidden, hidden];
                let features = Mlp::new(params, &format!("{name}.features"), &widths, Activation::Relu, rng);
                Self::Sequence { features, lstm: Lstm::new(params, &format!("{name}.lstm"), hidden, hidden, rng) }
            }
        }
    }

    fn forward<'a>(&self, tape: &mut Tape<'a>, graph: &'a GraphBatch) -> Var {
        match self {
            Self::Graph(network) => network.forward(tape, graph),
            Self::Sequence { features, lstm } => {
                let x = tape.input(graph.node_features());
                let x = features.forward(tape, x);
                lstm.forward(tape, x, graph.graphs())
            }
        }
    }
}
