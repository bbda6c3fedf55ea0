//! Small models made in memory, and the real ones of the instance folder.
#![allow(dead_code, clippy::print_stderr)] // each test file uses a part; a skipped test says so

use labrys_dataflow::onnx::proto::attribute_proto::AttributeType;
use labrys_dataflow::onnx::proto::tensor_shape_proto::{Dimension, dimension};
use labrys_dataflow::onnx::proto::*;
use std::path::PathBuf;

pub const FLOAT: i32 = 1;
pub const INT64: i32 = 7;
pub const BOOL: i32 = 9;

/// The model that is committed with the project.
pub fn squeezenet() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/squeezenet1_1.onnx")).unwrap()
}

/// The models of the instance folder, or none if it is not there.
pub fn models() -> Vec<PathBuf> {
    let data = std::env::var_os("LABRYS_INSTANCES")
        .map_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into(), PathBuf::from);
    let Ok(folder) = std::fs::read_dir(data.join("onnx")) else {
        eprintln!("SKIPPED: no models in {}", data.join("onnx").display());
        return vec![];
    };
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

pub fn model(graph: GraphProto) -> ModelProto {
    let opset = OperatorSetIdProto { domain: None, version: Some(20) };
    ModelProto { ir_version: Some(10), opset_import: vec![opset], graph: Some(graph), ..ModelProto::default() }
}

pub fn graph(inputs: Vec<ValueInfoProto>, nodes: Vec<NodeProto>, outputs: &[&str]) -> GraphProto {
    let output = |name: &&str| ValueInfoProto { name: Some(name.to_string()), ..ValueInfoProto::default() };
    GraphProto { input: inputs, node: nodes, output: outputs.iter().map(output).collect(), ..GraphProto::default() }
}

/// A tensor type whose dimensions are numbers or names.
pub fn info(name: &str, elem_type: i32, dims: &[&str]) -> ValueInfoProto {
    let dim = |d: &&str| {
        let number = d.parse().map(dimension::Value::DimValue);
        let value = number.unwrap_or_else(|_| dimension::Value::DimParam(d.to_string()));
        Dimension { value: Some(value), denotation: None }
    };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let tensor = type_proto::Tensor { elem_type: Some(elem_type), shape: Some(shape) };
    let r#type = TypeProto { value: Some(type_proto::Value::TensorType(tensor)), denotation: None };
    ValueInfoProto { name: Some(name.into()), r#type: Some(r#type), ..ValueInfoProto::default() }
}

pub fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: Some(op_type.into()),
        input: inputs.iter().map(|s| s.to_string()).collect(),
        output: outputs.iter().map(|s| s.to_string()).collect(),
        ..NodeProto::default()
    }
}

pub trait With {
    fn int(self, name: &str, value: i64) -> Self;
    fn ints(self, name: &str, value: &[i64]) -> Self;
    fn text(self, name: &str, value: &str) -> Self;
    fn body(self, name: &str, value: GraphProto) -> Self;
}

impl With for NodeProto {
    fn int(self, name: &str, value: i64) -> Self {
        with(self, name, AttributeType::Int, |a| a.i = Some(value))
    }

    fn ints(self, name: &str, value: &[i64]) -> Self {
        with(self, name, AttributeType::Ints, |a| a.ints = value.to_vec())
    }

    fn text(self, name: &str, value: &str) -> Self {
        with(self, name, AttributeType::String, |a| a.s = Some(value.into()))
    }

    fn body(self, name: &str, value: GraphProto) -> Self {
        with(self, name, AttributeType::Graph, |a| a.g = Some(value))
    }
}

fn with(mut node: NodeProto, name: &str, kind: AttributeType, set: impl FnOnce(&mut AttributeProto)) -> NodeProto {
    let mut attribute = AttributeProto { name: Some(name.into()), ..AttributeProto::default() };
    attribute.set_type(kind);
    set(&mut attribute);
    node.attribute.push(attribute);
    node
}

/// An initializer of integers.
pub fn int_tensor(name: &str, dims: &[i64], data: &[i64]) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        dims: dims.to_vec(),
        data_type: Some(INT64),
        int64_data: data.to_vec(),
        ..TensorProto::default()
    }
}

/// An initializer of floats whose data is elsewhere.
pub fn weight(name: &str, dims: &[i64]) -> TensorProto {
    TensorProto { name: Some(name.into()), dims: dims.to_vec(), data_type: Some(FLOAT), ..TensorProto::default() }
}
