//! Walks the nodes of a graph or a body in order and derives for each its outputs and its work.

use super::declared::{Declarations, declarations};
use super::liveness::Liveness;
use super::node::{Arguments, Node};
use super::ops::{self, Op, Traffic};
use super::order;
use super::proto::{FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto};
use super::value::Value;
use crate::graph::{DType, Work};
use crate::{Error, Result};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// Most evaluations of nodes inside bodies, those of functions counted at each call: a few functions that call each other twice
/// would otherwise run for ever.
const MAX_EVALUATIONS: u64 = 2_000_000;
/// Deepest nesting of bodies and function calls.
const MAX_DEPTH: usize = 48;

/// What holds for the whole model.
pub(super) struct Evaluator<'a> {
    functions: HashMap<(&'a str, &'a str, &'a str), &'a FunctionProto>,
    opsets: Opsets<'a>,
    pub(super) sizes: &'a BTreeMap<String, u64>,
    budget: Cell<u64>,
}

/// Versions of the operator sets by domain.
type Opsets<'a> = HashMap<&'a str, i64>;

/// The names that are visible where a node stands.
pub(super) struct Scope<'s, 'a> {
    outer: Option<&'s Scope<'s, 'a>>,
    values: HashMap<&'a str, Rc<Value>>,
    /// Optional inputs of a function that its call leaves out.
    absent: HashSet<&'a str>,
    declared: Declarations<'a>,
    arguments: Option<&'s Arguments<'a>>,
    opsets: &'s Opsets<'a>,
    depth: usize,
}

/// What one node yields.
pub(super) struct Evaluated {
    pub(super) outputs: Vec<Value>,
    pub(super) work: Work,
    /// Memory that only its body needs.
    pub(super) scratch: u64,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(model: &'a ModelProto, sizes: &'a BTreeMap<String, u64>) -> Self {
        let key = |f: &'a FunctionProto| ((domain(f.domain()), f.name(), f.overload()), f);
        Self {
            functions: model.functions.iter().map(key).collect(),
            opsets: opsets(&model.opset_import),
            sizes,
            budget: Cell::new(MAX_EVALUATIONS),
        }
    }

    /// The scope of the main graph, holding its initializers.
    pub(super) fn main_scope(&self, graph: &'a GraphProto) -> Result<Scope<'_, 'a>> {
        let mut scope = Scope {
            outer: None,
            values: HashMap::new(),
            absent: HashSet::new(),
            declared: self.declared(graph),
            arguments: None,
            opsets: &self.opsets,
            depth: 0,
        };
        scope.define_initializers(graph)?;
        Ok(scope)
    }

    /// A scope inside `outer` for a body in an attribute.
    pub(super) fn body_scope<'s>(&self, graph: &'a GraphProto, outer: &'s Scope<'s, 'a>) -> Result<Scope<'s, 'a>> {
        let mut scope = Scope {
            outer: Some(outer),
            values: HashMap::new(),
            absent: HashSet::new(),
            declared: self.declared(graph),
            arguments: outer.arguments,
            opsets: outer.opsets,
            depth: outer.deeper()?,
        };
        scope.define_initializers(graph)?;
        Ok(scope)
    }

    fn declared(&self, graph: &'a GraphProto) -> Declarations<'a> {
        declarations(graph.value_info.iter().chain(&graph.output), self.sizes)
    }

    /// Evaluates one node whose inputs are all in `scope`.
    pub(super) fn node(&self, scope: &Scope<'_, 'a>, proto: &'a NodeProto, index: usize) -> Result<Evaluated> {
        let place = |message: String| Error::node(order::display_name(proto, index), proto.op_type(), message);
        if scope.depth > 0 && self.budget.replace(self.budget.get().saturating_sub(1)) == 0 {
            return Err(place(format!("the bodies expand to more than {MAX_EVALUATIONS} nodes")));
        }
        let node = Node {
            proto,
            inputs: scope.inputs(proto).map_err(place)?,
            opset: scope.opset(proto.domain()),
            arguments: scope.arguments,
        };
        let with_body = match self.functions.get(&(domain(proto.domain()), proto.op_type(), proto.overload())) {
            Some(function) => self.function(scope, &node, function),
            None if is_control_flow(proto) => self.control_flow(scope, &node).map_err(|e| at_node(e, place)),
            None => return evaluate_op(scope, &node, standard_op(proto)).map_err(|e| unresolved(place(e))),
        };
        match with_body {
            Ok(done) => Ok(Evaluated { outputs: merge(scope, proto, Ok(done.outputs)).map_err(place)?, ..done }),
            Err(error) => evaluate_op(scope, &node, ops::UNKNOWN).map_err(|_| error),
        }
    }

    /// A call of a model-local function: its body decides shapes and cost.
    fn function(&self, scope: &Scope<'_, 'a>, call: &Node<'a>, function: &'a FunctionProto) -> Result<Evaluated> {
        let mut arguments: Arguments = function.attribute_proto.iter().map(|a| (a.name(), a)).collect();
        let given = call.proto.attribute.iter();
        arguments.extend(given.filter_map(|a| Some((a.name(), super::node::resolve(a, call.arguments)?))));
        let opsets = opsets(&function.opset_import);
        let mut inner = Scope {
            outer: None,
            values: HashMap::new(),
            absent: HashSet::new(),
            declared: HashMap::new(),
            arguments: Some(&arguments),
            opsets: &opsets,
            depth: scope.deeper()?,
        };
        for (position, name) in function.input.iter().enumerate() {
            match call.inputs.get(position).cloned().flatten() {
                Some(value) => drop(inner.values.insert(name, value)),
                None => drop(inner.absent.insert(name)),
            }
        }
        let outputs = function.output.iter().map(String::as_str);
        self.body(inner, &function.node, outputs)
    }

    /// Evaluates the nodes of a body; its own outputs are those called `outputs`.
    pub(super) fn body(
        &self,
        mut scope: Scope<'_, 'a>,
        nodes: &'a [NodeProto],
        outputs: impl Iterator<Item = &'a str>,
    ) -> Result<Evaluated> {
        let order = order::evaluation_order(nodes, &order::producers(nodes)?)?;
        let outputs: Vec<&'a str> = outputs.collect();
        let mut memory = Liveness::new(nodes, &order, &outputs);
        let mut work = Work::default();
        for (step, index) in order.into_iter().enumerate() {
            let done = self.node(&scope, &nodes[index], index)?;
            add_work(&mut work, &done.work);
            memory.run(step, &nodes[index], &done.outputs, done.scratch);
            scope.define_outputs(&nodes[index], done.outputs);
        }
        let undefined = |name: &str| Error::file(format!("a body has no tensor '{name}', which it should return"));
        let output = |name: &'a str| scope.get(name).map(|value| (*value).clone()).ok_or_else(|| undefined(name));
        Ok(Evaluated { outputs: outputs.into_iter().map(output).collect::<Result<_>>()?, work, scratch: memory.peak })
    }
}

impl<'a> Scope<'_, 'a> {
    fn deeper(&self) -> Result<usize> {
        if self.depth < MAX_DEPTH {
            return Ok(self.depth + 1);
        }
        Err(Error::file(format!("bodies or functions nest deeper than {MAX_DEPTH}")))
    }

    fn define_initializers(&mut self, graph: &'a GraphProto) -> Result<()> {
        for tensor in &graph.initializer {
            self.define_new(tensor.name(), Value::from_tensor(tensor).map_err(Error::file)?)?;
        }
        for tensor in &graph.sparse_initializer {
            let name = tensor.values.as_ref().map_or("", |values| values.name());
            self.define_new(name, Value::from_sparse(tensor).map_err(Error::file)?)?;
        }
        Ok(())
    }

    /// Defines a tensor that must not be there yet.
    pub(super) fn define_new(&mut self, name: &'a str, value: Value) -> Result<()> {
        match self.values.insert(name, Rc::new(value)) {
            None => Ok(()),
            Some(_) => Err(Error::file(format!("tensor '{name}' is defined twice"))),
        }
    }

    /// Defines what a node yields; nameless outputs are not wanted.
    pub(super) fn define_outputs(&mut self, node: &'a NodeProto, outputs: Vec<Value>) {
        let named = node.output.iter().zip(outputs).filter(|(name, _)| !name.is_empty());
        self.values.extend(named.map(|(name, value)| (name.as_str(), Rc::new(value))));
    }

    /// The tensor called `name`, here or further out.
    pub(super) fn get(&self, name: &str) -> Option<Rc<Value>> {
        self.values.get(name).cloned().or_else(|| self.outer?.get(name))
    }

    fn is_absent(&self, name: &str) -> bool {
        self.absent.contains(name) || self.outer.is_some_and(|outer| outer.is_absent(name))
    }

    fn inputs(&self, node: &NodeProto) -> std::result::Result<Vec<Option<Rc<Value>>>, String> {
        let lookup = |name: &String| match name.as_str() {
            "" => Ok(None),
            name if self.is_absent(name) => Ok(None),
            name => self.get(name).map(Some).ok_or_else(|| format!("input '{name}' is not defined")),
        };
        node.input.iter().map(lookup).collect()
    }

    fn opset(&self, name: &str) -> i64 {
        self.opsets.get(domain(name)).copied().unwrap_or(i64::MAX)
    }

    /// The declared value of output `index` of a node.
    fn declared_output(&self, node: &NodeProto, index: usize) -> Option<Value> {
        self.declared.get(node.output.get(index)?.as_str())?.value()
    }
}

fn is_control_flow(node: &NodeProto) -> bool {
    domain(node.domain()).is_empty() && matches!(node.op_type(), "If" | "Loop" | "Scan")
}

/// What is wrong with a body in an attribute is wrong with its node, unless a node inside is named already.
fn at_node(error: Error, place: impl Fn(String) -> Error) -> Error {
    match error {
        Error::File { message, hint: None } => place(message),
        named => named,
    }
}

fn standard_op(node: &NodeProto) -> Op {
    ops::lookup(domain(node.domain()), node.op_type()).unwrap_or(ops::UNKNOWN)
}

/// A node whose op has a rule, or whose outputs are all declared.
fn evaluate_op(scope: &Scope, node: &Node, op: Op) -> std::result::Result<Evaluated, String> {
    let outputs = merge(scope, node.proto, (op.infer)(node))?;
    let work = work(&op, node, &outputs);
    Ok(Evaluated { outputs, work, scratch: 0 })
}

/// The declared outputs where the file has them, the derived ones elsewhere.
fn merge(
    scope: &Scope,
    node: &NodeProto,
    derived: std::result::Result<Vec<Value>, String>,
) -> std::result::Result<Vec<Value>, String> {
    let mut outputs = Vec::with_capacity(node.output.len());
    for (index, name) in node.output.iter().enumerate() {
        let own = derived.as_ref().map(|values| values.get(index));
        let value = match (scope.declared_output(node, index), own) {
            (Some(declared), Ok(Some(own))) if own.dims == declared.dims => {
                Value { known: own.known.clone(), ..declared }
            }
            (Some(declared), _) => declared,
            (None, Ok(Some(own))) => own.clone(),
            (None, _) if name.is_empty() => Value::new(DType::Bool, [0]), // unwanted: only keeps the place
            (None, Ok(None)) => return Err(format!("output {index} '{name}' has no shape")),
            (None, Err(message)) => return Err(message.clone()),
        };
        value.check()?;
        outputs.push(value);
    }
    Ok(outputs)
}

fn work(op: &Op, node: &Node, outputs: &[Value]) -> Work {
    let bytes_of = |sum: u64, value: &Value| sum.saturating_add(value.bytes());
    let wanted = node.proto.output.iter().zip(outputs).filter(|(name, _)| !name.is_empty()).map(|(_, value)| value);
    let written = wanted.fold(0, bytes_of);
    let bytes = match op.traffic {
        Traffic::All => node.present().fold(written, bytes_of),
        Traffic::Picked => written.saturating_mul(2),
        Traffic::None => 0,
    };
    let dtype = node.get(0).or(outputs.first()).map_or_else(DType::default, |value| value.dtype);
    Work { flops: (op.flops)(node, outputs), bytes, dtype, free: false }
}

/// Adds the work of one more node; the costliest decides the element type.
fn add_work(sum: &mut Work, more: &Work) {
    if more.flops >= sum.flops {
        sum.dtype = more.dtype;
    }
    sum.flops = sum.flops.saturating_add(more.flops);
    sum.bytes = sum.bytes.saturating_add(more.bytes);
}

/// `ai.onnx` is the long name of the default domain.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

fn opsets(imports: &[OperatorSetIdProto]) -> Opsets<'_> {
    imports.iter().map(|set| (domain(set.domain()), set.version())).collect()
}

fn unresolved(error: Error) -> Error {
    error.with_hint(
        "if only its shape is unknown: run onnx.shape_inference on the model, which stores what it finds in value_info",
    )
}
