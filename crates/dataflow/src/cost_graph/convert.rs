//! Messages to graph and back.

use super::proto::{CostGraphDef, InputInfo, Node, OutputInfo};
use crate::graph::{Graph, OpId, TensorId, TimeSource};
use crate::{Error, GraphBuilder, Result};
use labrys_graph::Id;
use std::collections::HashMap;

const NS_PER_US: u64 = 1000;
/// The format has no op types.
const KIND: &str = "node";

/// The graph of the nodes, in the order of the file.
pub(super) fn to_graph(def: &CostGraphDef) -> Result<Graph> {
    let mut builder = GraphBuilder::new("");
    let mut outputs: Vec<Vec<TensorId>> = Vec::with_capacity(def.node.len());
    for node in &def.node {
        outputs.push(add_node(&mut builder, node)?);
    }
    let index = Index::of(def)?;
    for (consumer, node) in def.node.iter().enumerate() {
        for input in &node.input_info {
            connect(&mut builder, &index, def, &outputs, consumer, input)?;
        }
        for &before in &node.control_input {
            builder.control(OpId::new(consumer), OpId::new(index.find(node, before)?));
        }
    }
    builder.build()
}

fn add_node(builder: &mut GraphBuilder, node: &Node) -> Result<Vec<TensorId>> {
    let name = name(node);
    let op = builder.op(&name, KIND);
    let nanoseconds = known(node.compute_cost).checked_mul(NS_PER_US);
    let nanoseconds = nanoseconds.ok_or_else(|| wrong(node, "compute_cost is out of range"))?;
    builder.set_time(op, nanoseconds, TimeSource::Measured);
    builder.set_scratch(op, known(node.temporary_memory_size));
    if node.persistent_memory_size > 0 {
        let weight = builder.weight(&format!("{name}:persistent"), known(node.persistent_memory_size));
        builder.reads(op, weight);
    }
    let ports = node.output_info.iter().enumerate();
    let outputs = ports.map(|(port, output)| builder.output(op, &format!("{name}:{port}"), known(output.size)));
    let outputs: Vec<TensorId> = outputs.collect();
    if node.is_final {
        outputs.iter().for_each(|&tensor| builder.keep(tensor));
    }
    Ok(outputs)
}

/// TensorFlow writes -1 where it does not know.
fn known(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn connect(
    builder: &mut GraphBuilder,
    index: &Index,
    def: &CostGraphDef,
    outputs: &[Vec<TensorId>],
    consumer: usize,
    input: &InputInfo,
) -> Result<()> {
    let node = &def.node[consumer];
    let producer = index.find(node, input.preceding_node)?;
    let Ok(port) = usize::try_from(input.preceding_port) else {
        builder.control(OpId::new(consumer), OpId::new(producer));
        return Ok(());
    };
    let tensor = outputs[producer].get(port).ok_or_else(|| {
        let (from, count) = (name(&def.node[producer]), outputs[producer].len());
        wrong(node, format!("input from port {port} of '{from}', which has {count} outputs"))
    })?;
    builder.input(OpId::new(consumer), *tensor);
    Ok(())
}

/// From ids to positions. Ids are unique in the file or, failing that, among the nodes of a device.
struct Index {
    by_id: HashMap<(String, i32), usize>,
    per_device: bool,
}

impl Index {
    fn of(def: &CostGraphDef) -> Result<Self> {
        let mut ids: Vec<i32> = def.node.iter().map(|node| node.id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut index = Self { by_id: HashMap::new(), per_device: ids.len() < def.node.len() };
        for (i, node) in def.node.iter().enumerate() {
            if index.by_id.insert(index.key(node, node.id), i).is_some() {
                return Err(wrong(node, format!("a second node with id {}", node.id)));
            }
        }
        Ok(index)
    }

    fn key(&self, node: &Node, id: i32) -> (String, i32) {
        (if self.per_device { node.device.clone() } else { String::new() }, id)
    }

    fn find(&self, from: &Node, id: i32) -> Result<usize> {
        let found = self.by_id.get(&self.key(from, id)).copied();
        found.ok_or_else(|| wrong(from, format!("an input from node {id}, which is not in the file")))
    }
}

fn name(node: &Node) -> String {
    if node.name.is_empty() { format!("node_{}", node.id) } else { node.name.clone() }
}

fn wrong(node: &Node, message: impl Into<String>) -> Error {
    Error::node(name(node), KIND, message)
}

/// One node an op, with the op's index as its id.
pub(super) fn from_graph(graph: &Graph) -> CostGraphDef {
    let mut persistent = vec![0u64; graph.op_count()];
    let mut counted = vec![false; graph.weight_count()];
    let mut port = vec![0; graph.tensor_count()];
    for op in graph.ops() {
        for (p, tensor) in graph.outputs(op).iter().enumerate() {
            port[tensor.index()] = p as i32;
        }
        for weight in graph.reads(op) {
            if !std::mem::replace(&mut counted[weight.index()], true) {
                persistent[op.index()] += graph.weight_bytes(*weight);
            }
        }
    }
    let node = |op: OpId| Node {
        name: graph.op_name(op).to_owned(),
        device: String::new(),
        id: op.index() as i32,
        input_info: graph.inputs(op).iter().map(|t| input(graph, &port, *t)).collect(),
        output_info: graph.outputs(op).iter().map(|t| output(graph.bytes(*t))).collect(),
        temporary_memory_size: graph.scratch(op) as i64,
        is_final: graph.outputs(op).iter().any(|t| graph.is_kept(*t)),
        control_input: graph.control(op).iter().map(|before| before.index() as i32).collect(),
        compute_cost: microseconds(graph.time(op)),
        persistent_memory_size: persistent[op.index()] as i64,
        inaccurate: graph.time_source(op) == TimeSource::Estimated,
    };
    CostGraphDef { node: graph.ops().map(node).collect() }
}

fn input(graph: &Graph, port: &[i32], tensor: TensorId) -> InputInfo {
    let preceding_node = graph.producer(tensor).index() as i32;
    InputInfo { preceding_node, preceding_port: port[tensor.index()] }
}

fn output(bytes: u64) -> OutputInfo {
    OutputInfo { size: bytes as i64, alias_input_port: -1 }
}

/// Rounded, but nothing that takes time becomes free.
fn microseconds(nanoseconds: u64) -> i64 {
    let rounded = (nanoseconds + NS_PER_US / 2) / NS_PER_US;
    rounded.max(u64::from(nanoseconds > 0)) as i64
}
