//! From the bytes of a `.onnx` file to a [`Graph`].

use super::declared::{self, Declared};
use super::evaluate::{Evaluated, Evaluator, Scope};
use super::order::{display_name, evaluation_order, producers, reads};
use super::proto::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
use super::value::Value;
use crate::graph::{Graph, OpId, TensorId, WeightId, Work};
use crate::{Error, GraphBuilder, Result};
use prost::Message;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How to read a model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Sizes of symbolic dimensions by name, such as `batch`; a dimension without a name is called `tensor.axis`.
    pub dims: BTreeMap<String, u64>,
}

/// A model as a graph, and where its ops stand in the file.
#[derive(Clone, Debug)]
pub struct OnnxModel {
    /// The graph. Graph inputs are free ops of kind `input`; initializers and `Constant` nodes are weights.
    pub graph: Graph,
    /// For each op the position of its node in the file; `None` for graph inputs.
    pub node_of_op: Vec<Option<u32>>,
}

/// Reads a model. Weights may be missing or stored elsewhere; only their shapes are used.
///
/// Types and shapes that the file does not declare are derived from those of the inputs. `If`, `Loop`, `Scan` and calls of
/// model-local functions are one op each, costed by their bodies; what a body takes from outside is an input of its op.
///
/// # Errors
/// The bytes are no ONNX model, a dimension is open, a tensor is undefined or defined twice, the nodes form a cycle, or a shape
/// is neither declared nor derivable.
pub fn read(bytes: &[u8], options: &Options) -> Result<OnnxModel> {
    let model = decode(bytes)?;
    let graph = main_graph(&model)?;
    declared::check_names(graph.input.iter(), &options.dims)?;
    let evaluator = Evaluator::new(&model, &options.dims);
    let mut scope = evaluator.main_scope(graph)?;
    let inputs = define_inputs(graph, &mut scope, options)?;
    let costs = evaluate_nodes(&evaluator, &graph.node, &mut scope)?;
    Importer::new(graph).import(&inputs, &costs, &scope)
}

/// Decodes the protobuf.
pub(super) fn decode(bytes: &[u8]) -> Result<ModelProto> {
    let hint = "a text file, a truncated download, or a Git LFS pointer in place of the model?";
    ModelProto::decode(bytes).map_err(|e| Error::file(format!("not an ONNX model: {e}")).with_hint(hint))
}

/// The graph of a model, which must be there.
pub(super) fn main_graph(model: &ModelProto) -> Result<&GraphProto> {
    model.graph.as_ref().ok_or_else(|| Error::file("not an ONNX model: the file holds no graph"))
}

/// Whether a node only names a weight.
pub(super) fn is_constant(node: &NodeProto) -> bool {
    node.op_type() == "Constant" && matches!(node.domain(), "" | "ai.onnx")
}

/// The inputs that the caller provides: before IR version 4 initializers are listed too.
fn define_inputs<'a>(
    graph: &'a GraphProto,
    scope: &mut Scope<'_, 'a>,
    options: &Options,
) -> Result<Vec<&'a ValueInfoProto>> {
    let by_name = declared::declarations(&graph.value_info, &options.dims);
    let provided: Vec<_> = graph.input.iter().filter(|input| scope.get(input.name()).is_none()).collect();
    for input in &provided {
        let elsewhere = by_name.get(input.name()).and_then(Declared::value);
        let value = match elsewhere {
            Some(value) => value,
            None => Declared::new(input, &options.dims).graph_input(input.name())?,
        };
        value.check().map_err(|e| Error::file(format!("graph input '{}': {e}", input.name())))?;
        scope.define_new(input.name(), value)?;
    }
    Ok(provided)
}

/// Evaluates all nodes, which defines their outputs in `scope`; the result is in file order.
fn evaluate_nodes<'a>(
    evaluator: &Evaluator<'a>,
    nodes: &'a [NodeProto],
    scope: &mut Scope<'_, 'a>,
) -> Result<Vec<Cost>> {
    refuse_redefinition(nodes, scope)?;
    let mut costs = vec![Cost::default(); nodes.len()];
    for index in evaluation_order(nodes, &producers(nodes)?)? {
        let Evaluated { outputs, work, scratch } = evaluator.node(scope, &nodes[index], index)?;
        costs[index] = Cost { work, scratch };
        scope.define_outputs(&nodes[index], outputs);
    }
    Ok(costs)
}

fn refuse_redefinition(nodes: &[NodeProto], scope: &Scope) -> Result<()> {
    for (index, node) in nodes.iter().enumerate() {
        if let Some(name) = node.output.iter().find(|name| !name.is_empty() && scope.get(name).is_some()) {
            let message = format!("output '{name}' is already an input or initializer of the graph");
            return Err(Error::node(display_name(node, index), node.op_type(), message));
        }
    }
    Ok(())
}

/// What a node costs.
#[derive(Clone, Copy, Default)]
struct Cost {
    work: Work,
    scratch: u64,
}

/// Where a name comes from.
#[derive(Clone, Copy)]
enum Source {
    Tensor(TensorId),
    Weight(WeightId),
}

/// Turns the evaluated model into a [`Graph`].
struct Importer<'a> {
    graph: &'a GraphProto,
    builder: GraphBuilder,
    sources: HashMap<&'a str, Source>,
    op_names: HashSet<String>,
    node_of_op: Vec<Option<u32>>,
}

impl<'a> Importer<'a> {
    fn new(graph: &'a GraphProto) -> Self {
        Self {
            graph,
            builder: GraphBuilder::new(graph.name()),
            sources: HashMap::new(),
            op_names: HashSet::new(),
            node_of_op: vec![],
        }
    }

    fn import(mut self, inputs: &[&'a ValueInfoProto], costs: &[Cost], scope: &Scope<'_, 'a>) -> Result<OnnxModel> {
        self.add_weights(scope);
        for input in inputs {
            let op = self.add_op(input.name().to_owned(), "input", None);
            self.builder.set_work(op, Work { free: true, ..Work::default() });
            self.add_output(op, input.name(), scope);
        }
        let ops: Vec<(OpId, &NodeProto)> = self.add_nodes(costs, scope);
        for (op, node) in ops {
            self.link(op, node);
        }
        self.keep_outputs()?;
        Ok(OnnxModel { graph: self.builder.build()?, node_of_op: self.node_of_op })
    }

    /// Initializers and the outputs of `Constant` nodes.
    fn add_weights(&mut self, scope: &Scope<'_, 'a>) {
        let dense = self.graph.initializer.iter().map(|t| t.name());
        let constants = self.graph.node.iter().filter(|n| is_constant(n)).flat_map(|n| &n.output).map(String::as_str);
        for name in dense.chain(constants) {
            self.add_weight(name, scope.get(name).map_or(0, |value| value.bytes()));
        }
        for tensor in &self.graph.sparse_initializer {
            let parts = tensor.values.iter().chain(&tensor.indices);
            let bytes = parts.flat_map(Value::from_tensor).fold(0u64, |sum, part| sum.saturating_add(part.bytes()));
            self.add_weight(tensor.values.as_ref().map_or("", |values| values.name()), bytes);
        }
    }

    fn add_weight(&mut self, name: &'a str, bytes: u64) {
        let weight = self.builder.weight(name, bytes);
        self.sources.insert(name, Source::Weight(weight));
    }

    fn add_nodes(&mut self, costs: &[Cost], scope: &Scope<'_, 'a>) -> Vec<(OpId, &'a NodeProto)> {
        let nodes = self.graph.node.iter().enumerate().filter(|(_, node)| !is_constant(node));
        let add = |(index, node): (usize, &'a NodeProto)| {
            let op = self.add_op(display_name(node, index), node.op_type(), Some(index as u32));
            self.builder.set_work(op, costs[index].work);
            self.builder.set_scratch(op, costs[index].scratch);
            node.output.iter().filter(|name| !name.is_empty()).for_each(|name| self.add_output(op, name, scope));
            (op, node)
        };
        nodes.map(add).collect()
    }

    /// Names of nodes need not be unique in a file; those of ops are.
    fn add_op(&mut self, mut name: String, kind: &str, node: Option<u32>) -> OpId {
        if self.op_names.contains(&name) {
            name = format!("{name}#{}", self.node_of_op.len());
        }
        let op = self.builder.op(&name, kind);
        self.op_names.insert(name);
        self.node_of_op.push(node);
        op
    }

    fn add_output(&mut self, op: OpId, name: &'a str, scope: &Scope<'_, 'a>) {
        let tensor = self.builder.output(op, name, scope.get(name).map_or(0, |value| value.bytes()));
        self.sources.insert(name, Source::Tensor(tensor));
    }

    /// Evaluation has found every name that a node reads; a body may still shadow names, hence no error here.
    fn link(&mut self, op: OpId, node: &'a NodeProto) {
        for name in reads(node) {
            match self.sources.get(name) {
                Some(&Source::Tensor(tensor)) => self.builder.input(op, tensor),
                Some(&Source::Weight(weight)) => self.builder.reads(op, weight),
                None => {}
            }
        }
    }

    fn keep_outputs(&mut self) -> Result<()> {
        for output in &self.graph.output {
            match self.sources.get(output.name()) {
                Some(&Source::Tensor(tensor)) => self.builder.keep(tensor),
                Some(Source::Weight(_)) => {}
                None => return Err(Error::file(format!("graph output '{}' is not defined", output.name()))),
            }
        }
        Ok(())
    }
}
