//! The net: message passing over the graph (equation 1 of the paper), then four numbers for each op.

use super::{OrderAdvice, Priorities, features};
use labrys_dataflow::Graph;
use labrys_nn::{
    Activation, Aggregation, Checkpoint, CheckpointError, GraphBatch, Matrix, MessagePassing, MessagePassingConfig,
    Mlp, ModelCard, Params, Tape, Update, Var,
};
use labrys_search::{Guide, Seed};
use serde::{Deserialize, Serialize};

/// What a model card calls this kind of model.
pub const PROBLEM: &str = "placement/order";
/// Under which name the card keeps the sizes.
const SHAPE: &str = "shape";
/// The policy that comes with the program: `labrys train placement-order` made it, see docs/learning.md.
const RELEASED: &[u8] = include_bytes!("../../../../models/order.safetensors");
/// Score and logarithm of the weight, forwards and backwards.
pub(super) const OUTPUTS: usize = 4;
/// Bound on the logarithm of a weight.
const MOST_LOG_WEIGHT: f32 = 6.0;

/// Sizes of the net, and what is not learned by gradients.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Shape {
    /// Width of every state and layer.
    pub hidden: usize,
    /// Rounds of message passing.
    pub rounds: usize,
    /// Temperature at which annealing starts from the net's order if there are 100 moves per op.
    pub temperature: f64,
}

impl Default for Shape {
    fn default() -> Self {
        Self { hidden: 24, rounds: 4, temperature: 0.5 }
    }
}

/// A trained guide.
#[derive(Clone, Debug)]
pub struct OrderPolicy {
    shape: Shape,
    /// Parameters.
    pub params: Params,
    body: MessagePassing,
    head: Mlp,
}

impl OrderPolicy {
    /// An untrained net; its head is 0, so that it is the same as [`Greedy`](super::Greedy).
    pub fn new(shape: Shape, seed: Seed) -> Self {
        let mut rng = seed.stream("order policy", 0);
        let mut params = Params::new();
        let config = MessagePassingConfig {
            node_features: features::NODE,
            edge_features: features::EDGE,
            hidden: shape.hidden,
            rounds: shape.rounds,
            aggregation: Aggregation::Mean,
            update: Update::Residual,
        };
        let body = MessagePassing::new(&mut params, "body", config, &mut rng);
        let sizes = [shape.hidden, shape.hidden, OUTPUTS];
        let head = Mlp::new(&mut params, "head", &sizes, Activation::Relu, &mut rng);
        let (weights, _) = head.last_layer();
        params.get_mut(weights).data.fill(0.0);
        Self { shape, params, body, head }
    }

    /// The policy that comes with the program.
    ///
    /// # Errors
    /// None in a program that was built from a whole repository.
    pub fn released() -> Result<Self, CheckpointError> {
        Self::from_checkpoint(&Checkpoint::from_bytes(RELEASED)?)
    }

    /// A trained policy.
    ///
    /// # Errors
    /// The checkpoint holds another kind of model.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, CheckpointError> {
        let unusable = |reason: String| CheckpointError::Card { reason };
        if checkpoint.card.problem != PROBLEM {
            return Err(unusable(format!("a model for '{}', not for '{PROBLEM}'", checkpoint.card.problem)));
        }
        let shape = checkpoint.card.details.get(SHAPE).cloned().unwrap_or_default();
        let shape: Shape = serde_json::from_value(shape).map_err(|error| unusable(error.to_string()))?;
        if shape.hidden == 0 || shape.hidden > 1024 || shape.rounds > 64 {
            return Err(unusable(format!("a net {} wide with {} rounds", shape.hidden, shape.rounds)));
        }
        let mut policy = Self::new(shape, Seed(0));
        checkpoint.restore(&mut policy.params)?;
        Ok(policy)
    }

    /// A card with what is needed to rebuild the net.
    ///
    /// # Errors
    /// None: sizes are plain numbers.
    pub fn card(&self, training_distribution: String, sizes: (usize, usize)) -> Result<ModelCard, CheckpointError> {
        let shape = serde_json::to_value(self.shape);
        let shape = shape.map_err(|error| CheckpointError::Card { reason: error.to_string() })?;
        Ok(ModelCard {
            problem: PROBLEM.to_owned(),
            training_distribution,
            sizes,
            code_version: env!("CARGO_PKG_VERSION").to_owned(),
            details: [(SHAPE.to_owned(), shape)].into(),
            ..ModelCard::default()
        })
    }

    /// Advice with other parameters.
    pub(super) fn advise_with(&self, params: &Params, batch: &GraphBatch) -> OrderAdvice {
        let mut tape = Tape::inference(params);
        let outputs = self.forward(&mut tape, batch);
        self.read(tape.value(outputs))
    }

    /// The numbers of every op, with which advice is [read](Self::read).
    pub(super) fn forward<'a>(&self, tape: &mut Tape<'a>, batch: &'a GraphBatch) -> Var {
        let states = self.body.forward(tape, batch);
        self.head.forward(tape, states)
    }

    /// Advice from the numbers of every op.
    pub(super) fn read(&self, outputs: &Matrix) -> OrderAdvice {
        let column = |c: usize| outputs.iter_rows().map(move |row| row[c]);
        let priorities = |c: usize| Priorities {
            score: column(c).collect(),
            weight: column(c + 1).map(|x| x.clamp(-MOST_LOG_WEIGHT, MOST_LOG_WEIGHT).exp()).collect(),
        };
        OrderAdvice { forward: priorities(0), backward: priorities(2), temperature: Some(self.shape.temperature) }
    }
}

impl Guide<Graph> for OrderPolicy {
    type Advice = OrderAdvice;

    fn advise(&self, graph: &Graph) -> OrderAdvice {
        features::batch(graph).map_or_else(|_| OrderAdvice::default(), |batch| self.advise_with(&self.params, &batch))
    }
}
