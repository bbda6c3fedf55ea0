//! The network: kinds of nodes, rounds of gated message passing, a gated sum over nodes, one output for each number of steps.

use super::encode::{Batch, EDGE_TYPES};
use super::kinds;
use super::marks::{self, Marks};
use labrys_nn::{Checkpoint, CheckpointError, GatedGraph, GatedReadout, Init, ModelCard, ParamId, Params, Tape, Var};
use labrys_search::Seed;
use labrys_search::seed::Rng;
use serde::{Deserialize, Serialize};

/// What model cards call the problem.
pub const PROBLEM: &str = "rewrite/value";
/// Under which name a card keeps the shape.
const SHAPE: &str = "shape";
/// Under which name a card keeps the kinds of nodes.
const KINDS: &str = "kinds";

/// Sizes of the network.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Shape {
    /// Width of the state of a node.
    pub hidden: usize,
    /// Rounds of message passing; none leaves a network that sees no structure.
    pub rounds: usize,
    /// Width of the two layers behind the sum over nodes; none leaves the sum of what nodes say.
    pub readout: usize,
    /// Most steps of rewriting that searches take under it in training.
    pub horizon: usize,
    /// Probability of dropout in training.
    pub dropout: f32,
    /// Above 0 the network does not say V_0 to V_H, but how much there is to gain, and in how many steps: each counts as so much cost in a search.
    pub price: f32,
}

impl Default for Shape {
    fn default() -> Self {
        Self { hidden: 32, rounds: 4, readout: 64, horizon: 10, dropout: 0.2, price: 0.0 }
    }
}

impl Shape {
    /// What is wrong with the sizes, if anything.
    pub fn fault(&self) -> Option<String> {
        let sizes = [("hidden", self.hidden, 1, 512), ("readout", self.readout, 0, 1024)];
        let counts = [("rounds", self.rounds, 0, 64), ("horizon", self.horizon, 1, 1000)];
        let outside = sizes.into_iter().chain(counts).find(|&(_, size, least, most)| size < least || size > most);
        let dropout = (!(0.0..1.0).contains(&self.dropout)).then(|| "dropout must be from 0 to below 1".to_owned());
        let is_price = self.price.is_finite() && self.price >= 0.0;
        let price = (!is_price).then(|| "price must be 0 or above".to_owned());
        outside
            .map(|(name, size, least, most)| format!("{name} is {size}, but must be from {least} to {most}"))
            .or(dropout)
            .or(price)
    }

    /// Whether it counts steps, instead of saying what each number of them is worth.
    pub fn counts_steps(&self) -> bool {
        self.price > 0.0
    }

    /// Numbers that the network says of a state.
    pub fn outputs(&self) -> usize {
        if self.counts_steps() { 2 } else { self.horizon + 1 }
    }

    /// What those numbers are for a search: V_t for t = 0, 1, ...; beyond the last nothing more is gained.
    pub fn worth(&self, outputs: &[f32]) -> Box<[f32]> {
        let sound = |value: f32| if value.is_finite() { value } else { 0.0 };
        match outputs {
            [gain, steps] if self.counts_steps() => vec![0.0, sound(gain - self.price * steps)].into(),
            // Doing nothing is allowed, so that no state is worth less.
            _ => outputs.iter().map(|&value| sound(value).max(0.0)).collect(),
        }
    }
}

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// Its sizes make no sense.
    #[error("network: {0}")]
    Shape(String),
    /// The card is of another model.
    #[error("a model for {problem:?}; expected one for {PROBLEM:?}, written by `labrys train rewrite`")]
    OtherProblem {
        /// What it is for.
        problem: String,
    },
    /// The card lacks something, or a file does not fit it.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// The network with its parameters.
#[derive(Clone, Debug)]
pub struct ValueNet {
    /// Sizes.
    pub shape: Shape,
    /// Parameters.
    pub params: Params,
    layers: Layers,
    /// Names of the rows of the embedding.
    kinds: Vec<String>,
    /// The row of each kind of this version of the program.
    rows: Vec<u32>,
}

/// The way parameters are used.
#[derive(Clone, Debug)]
struct Layers {
    kinds: ParamId,
    types: ParamId,
    marks: ParamId,
    graph: GatedGraph,
    readout: GatedReadout,
}

impl Layers {
    fn new(params: &mut Params, shape: &Shape, kinds: usize, rng: &mut Rng) -> Self {
        let hidden = shape.hidden;
        let kinds = embedding(params, "kinds", (kinds, hidden), rng);
        let types = embedding(params, "types", (kinds::TYPES, hidden), rng);
        let marks = embedding(params, "marks", (marks::ROWS, hidden), rng);
        let graph = GatedGraph::new(params, "graph", (EDGE_TYPES, hidden, shape.rounds), rng);
        let readout = GatedReadout::new(params, "readout", (hidden, shape.readout, shape.outputs()), rng);
        // Untrained it expects nothing, so that a search goes by cost alone.
        let (weights, bias) = readout.last_layer();
        [weights, bias].into_iter().for_each(|id| params.get_mut(id).data.fill(0.0));
        Self { kinds, types, marks, graph, readout }
    }
}

/// Rows that are looked up one at a time: values of variance 1/5, as five of them are added up, whatever the number of rows.
fn embedding(params: &mut Params, name: &str, shape: (usize, usize), rng: &mut Rng) -> ParamId {
    let id = params.add(name, shape, Init::He, rng);
    let factor = (0.1 * shape.0 as f32).sqrt();
    params.get_mut(id).data.iter_mut().for_each(|value| *value *= factor);
    id
}

impl ValueNet {
    /// A network that expects nothing of any state.
    pub fn new(shape: Shape, seed: Seed) -> Result<Self, ValueError> {
        Self::with_kinds(shape, kinds::names(), seed)
    }

    fn with_kinds(shape: Shape, kinds: Vec<String>, seed: Seed) -> Result<Self, ValueError> {
        if let Some(fault) = shape.fault() {
            return Err(ValueError::Shape(fault));
        }
        let mut params = Params::new();
        let layers = Layers::new(&mut params, &shape, kinds.len(), &mut seed.stream("value-net", 0));
        let row =
            |name: &String| kinds.iter().position(|known| known == name).unwrap_or(usize::from(kinds::OTHER)) as u32;
        let rows = kinds::names().iter().map(row).collect();
        Ok(Self { shape, params, layers, kinds, rows })
    }

    /// The network in a file of `labrys train rewrite`.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, ValueError> {
        let card = &checkpoint.card;
        if card.problem != PROBLEM {
            return Err(ValueError::OtherProblem { problem: card.problem.clone() });
        }
        let detail = |name: &str| card.details.get(name).cloned().unwrap_or_default();
        let unusable =
            |name: &str, error: serde_json::Error| CheckpointError::Card { reason: format!("{name}: {error}") };
        let shape = serde_json::from_value(detail(SHAPE)).map_err(|error| unusable(SHAPE, error))?;
        let kinds: Vec<String> = serde_json::from_value(detail(KINDS)).map_err(|error| unusable(KINDS, error))?;
        if kinds.is_empty() {
            return Err(CheckpointError::Card { reason: format!("{KINDS}: none") }.into());
        }
        let mut net = Self::with_kinds(shape, kinds, Seed(0))?;
        checkpoint.restore(&mut net.params)?;
        Ok(net)
    }

    /// The network that comes with the program: `models/rewrite.toml` has its settings.
    pub fn released() -> Result<Self, ValueError> {
        let bytes = include_bytes!("../../../../models/rewrite.safetensors");
        Self::from_checkpoint(&Checkpoint::from_bytes(bytes)?)
    }

    /// A card with what is needed to rebuild the network.
    pub fn card(&self, training_distribution: String, sizes: (usize, usize)) -> Result<ModelCard, CheckpointError> {
        let unusable = |error: serde_json::Error| CheckpointError::Card { reason: error.to_string() };
        let shape = serde_json::to_value(self.shape).map_err(unusable)?;
        let kinds = serde_json::to_value(&self.kinds).map_err(unusable)?;
        Ok(ModelCard {
            problem: PROBLEM.to_owned(),
            training_distribution,
            sizes,
            code_version: env!("CARGO_PKG_VERSION").to_owned(),
            details: [(SHAPE.to_owned(), shape), (KINDS.to_owned(), kinds)].into(),
            ..ModelCard::default()
        })
    }

    /// The network with other parameters of the same layout.
    #[must_use]
    pub fn with(&self, params: &Params) -> Self {
        Self { params: params.clone(), ..self.clone() }
    }

    /// The row of the embedding for each kind of this version of the program.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// One row a graph: expected reduction of the cost a step, over 0, 1, ..., horizon steps, or the whole reduction and the steps that it takes. With a
    /// generator: in training.
    pub fn forward<'a>(&self, tape: &mut Tape<'a>, batch: &'a Batch, dropout: Option<Rng>) -> Var {
        let x = self.features(tape, batch.kinds.clone(), batch.types.clone(), &batch.marks);
        let h = self.layers.graph.forward(tape, x, &batch.edges);
        let nodes = self.layers.readout.nodes(tape, h, x);
        let sums = tape.segment_sum(nodes, &batch.graphs);
        self.read_out(tape, sums, dropout)
    }

    /// The features of nodes, with which their states start.
    pub(super) fn features(&self, tape: &mut Tape<'_>, kinds: Vec<u32>, types: Vec<u32>, marks: &[u16]) -> Var {
        let (by_kind, by_type) = (tape.param(self.layers.kinds), tape.param(self.layers.types));
        let (by_kind, by_type) = (tape.gather(by_kind, kinds), tape.gather(by_type, types));
        let mut x = tape.add(by_kind, by_type);
        let rows: Vec<[u32; 3]> =
            marks.iter().map(|&code| Marks::from_code(code).map_or([0; 3], Marks::rows)).collect();
        let by_mark = tape.param(self.layers.marks);
        for class in 0..3 {
            let by_mark = tape.gather(by_mark, rows.iter().map(|rows| rows[class]).collect());
            x = tape.add(x, by_mark);
        }
        x
    }

    /// The rounds of message passing.
    pub(super) fn graph(&self) -> &GatedGraph {
        &self.layers.graph
    }

    /// What each node adds to the sum of its graph.
    pub(super) fn nodes(&self, tape: &mut Tape<'_>, h: Var, x: Var) -> Var {
        self.layers.readout.nodes(tape, h, x)
    }

    /// Values from the sums over nodes.
    pub(super) fn read_out(&self, tape: &mut Tape<'_>, sums: Var, mut dropout: Option<Rng>) -> Var {
        let rate = self.shape.dropout;
        self.layers.readout.graphs(tape, sums, |tape, x| match &mut dropout {
            Some(rng) if rate > 0.0 => tape.dropout(x, rate, rng),
            _ => x,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(kinds: Vec<String>) -> ValueNet {
        ValueNet::with_kinds(Shape { hidden: 4, readout: 5, ..Shape::default() }, kinds, Seed(1)).unwrap()
    }

    #[test]
    fn a_model_of_another_version_keeps_its_rows() {
        let mut names = kinds::names();
        // A version in which primitives came in another order, one was called otherwise, and one is gone.
        names[40..50].reverse();
        names[60] = "prim renamed".to_owned();
        names.pop();
        let net = net(names.clone());
        let checkpoint = Checkpoint { card: net.card("".to_owned(), (1, 2)).unwrap(), params: net.params.clone() };
        let read =
            ValueNet::from_checkpoint(&Checkpoint::from_bytes(&checkpoint.to_bytes().unwrap()).unwrap()).unwrap();
        assert_eq!(read.params.get(read.layers.kinds), net.params.get(net.layers.kinds));
        assert_eq!(read.rows()[40], 49);
        assert_eq!((read.rows()[60], *read.rows().last().unwrap()), (0, 0));
    }

    #[test]
    fn the_released_network_knows_all_kinds() {
        let net = ValueNet::released().unwrap();
        let unknown = kinds::names().into_iter().zip(net.rows()).filter(|(_, row)| **row == u32::from(kinds::OTHER));
        // Sums in lanes are sums to it.
        assert_eq!(unknown.map(|(name, _)| name).collect::<Vec<_>>(), ["other", "prim sumbuild$4", "prim sumbuild$8"]);
    }

    #[test]
    fn other_files_are_refused() {
        let net = net(kinds::names());
        let good = Checkpoint { card: net.card("".to_owned(), (1, 2)).unwrap(), params: net.params.clone() };
        assert!(ValueNet::from_checkpoint(&good).is_ok());
        let mut other = good.clone();
        other.card.problem = "placement/makespan".to_owned();
        assert!(matches!(ValueNet::from_checkpoint(&other), Err(ValueError::OtherProblem { .. })));
        for (name, value) in
            [(SHAPE, "{\"hidden\": 0}"), (SHAPE, "{\"hidden\": 5}"), (KINDS, "[]"), (KINDS, "[\"let\"]")]
        {
            let mut other = good.clone();
            other.card.details.insert(name.to_owned(), serde_json::from_str(value).unwrap());
            assert!(ValueNet::from_checkpoint(&other).is_err(), "{name} {value}");
        }
    }
}
