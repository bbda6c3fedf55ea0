//! Every shape rule against the node tests of the ONNX standard, listed in `onnx_ops.txt`.

mod onnx_support;

use labrys_dataflow::onnx::{self, Options, proto::tensor_proto::DataType, proto::*};
use onnx_support::{With, graph, info, model};
use prost::Message;

/// A line of the table, taken apart.
struct Case<'a> {
    opset: i64,
    op: &'a str,
    inputs: Vec<&'a str>,
    attributes: Vec<&'a str>,
    outputs: Vec<&'a str>,
}

fn parse(line: &str) -> Case<'_> {
    let (head, rest) = line.split_once(" (").expect("inputs in parentheses");
    let (inputs, rest) = rest.split_once(')').expect("a closing parenthesis");
    let (attributes, outputs) = rest.rsplit_once("-> ").expect("an arrow");
    let (opset, op) = head.split_once(' ').expect("opset and op type");
    let [inputs, attributes, outputs] = [inputs, attributes, outputs].map(|text| text.split_whitespace().collect());
    Case { opset: opset.parse().unwrap(), op, inputs, attributes, outputs }
}

/// `int64[2]=1,2` as type code, dimensions and elements.
fn tensor(text: &str) -> (i32, Vec<&str>, Option<Vec<f64>>) {
    let (text, elements) = text.split_once('=').map_or((text, None), |(text, elements)| (text, Some(elements)));
    let (name, dims) = text.strip_suffix(']').and_then(|t| t.split_once('[')).expect("type[shape]");
    let code = DataType::from_str_name(&name.to_uppercase()).expect("an element type") as i32;
    let elements = elements.map(|e| e.split(',').filter(|x| !x.is_empty()).map(|x| x.parse().unwrap()).collect());
    (code, dims.split(',').filter(|d| !d.is_empty()).collect(), elements)
}

fn bytes(text: &str) -> u64 {
    let (code, dims, _) = tensor(text);
    let bits = match DataType::try_from(code).unwrap() {
        DataType::Complex128 | DataType::String => 128,
        DataType::Double | DataType::Int64 | DataType::Uint64 | DataType::Complex64 => 64,
        DataType::Float | DataType::Int32 | DataType::Uint32 => 32,
        DataType::Float16 | DataType::Bfloat16 | DataType::Int16 | DataType::Uint16 => 16,
        DataType::Int4 | DataType::Uint4 | DataType::Float4e2m1 | DataType::Int2 | DataType::Uint2 => 4,
        _ => 8,
    };
    (dims.iter().map(|d| d.parse::<u64>().unwrap()).product::<u64>() * bits).div_ceil(8)
}

fn initializer(name: String, code: i32, dims: &[&str], elements: &[f64]) -> TensorProto {
    let mut tensor = TensorProto { name: Some(name), data_type: Some(code), ..TensorProto::default() };
    tensor.dims = dims.iter().map(|d| d.parse().unwrap()).collect();
    match DataType::try_from(code).unwrap() {
        DataType::Int64 => tensor.int64_data = elements.iter().map(|&x| x as i64).collect(),
        DataType::Double => tensor.double_data = elements.to_vec(),
        DataType::Float => tensor.float_data = elements.iter().map(|&x| x as f32).collect(),
        _ => tensor.int32_data = elements.iter().map(|&x| x as i32).collect(),
    }
    tensor
}

fn attribute(node: NodeProto, text: &str) -> NodeProto {
    let (name, value) = text.split_once('=').expect("name=value");
    if let Some(list) = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
        let list: Vec<i64> = list.split(',').filter(|x| !x.is_empty()).map(|x| x.parse().unwrap()).collect();
        return node.ints(name, &list);
    }
    match value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')) {
        Some(text) => node.text(name, text),
        None => node.int(name, value.parse().unwrap()),
    }
}

/// The node in a model of its own; its inputs are `i0`, `i1`, ..., its outputs `o0`, `o1`, ...
fn build(case: &Case) -> ModelProto {
    let names = |prefix: &str, texts: &[&str]| -> Vec<String> {
        let name = |(i, text): (usize, &&str)| if *text == "-" { String::new() } else { format!("{prefix}{i}") };
        texts.iter().enumerate().map(name).collect()
    };
    let (domain, op_type) = case.op.rsplit_once(':').unwrap_or(("", case.op));
    let mut node = NodeProto {
        op_type: Some(op_type.into()),
        domain: Some(domain.into()),
        input: names("i", &case.inputs),
        output: names("o", &case.outputs),
        ..NodeProto::default()
    };
    node = case.attributes.iter().fold(node, |node, text| attribute(node, text));
    let (mut inputs, mut initializers) = (vec![], vec![]);
    for (i, text) in case.inputs.iter().enumerate().filter(|(_, text)| **text != "-") {
        match tensor(text) {
            (code, dims, None) => inputs.push(info(&format!("i{i}"), code, &dims)),
            (code, dims, Some(elements)) => initializers.push(initializer(format!("i{i}"), code, &dims, &elements)),
        }
    }
    let mut model = model(graph(inputs, vec![node], &[]));
    model.opset_import = vec![OperatorSetIdProto { domain: Some(domain.into()), version: Some(case.opset) }];
    model.graph.as_mut().unwrap().initializer = initializers;
    model
}

#[test]
fn every_rule_agrees_with_the_standard() {
    let mut wrong = vec![];
    let table = include_str!("onnx_ops.txt").lines().filter(|line| !line.starts_with('#'));
    for (count, line) in table.enumerate() {
        let case = parse(line);
        let expected: Vec<u64> = case.outputs.iter().filter(|text| **text != "-").map(|text| bytes(text)).collect();
        let found = onnx::read(&build(&case).encode_to_vec(), &Options::default()).map(|model| {
            let graph = model.graph;
            let op = graph.ops().last().unwrap();
            graph.outputs(op).iter().map(|&t| graph.bytes(t)).collect::<Vec<_>>()
        });
        match found {
            Ok(found) if found == expected => {}
            Ok(found) => wrong.push(format!("{count}: {line}\n  found {found:?} bytes, expected {expected:?}")),
            Err(error) => wrong.push(format!("{count}: {line}\n  {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} rules are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
