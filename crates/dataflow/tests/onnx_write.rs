//! The annotated model: the same model, reordered, each node with its device.

mod onnx_support;

use labrys_dataflow::onnx::{self, OnnxModel, Options, proto::ModelProto};
use labrys_dataflow::{OpId, TensorId};
use onnx_support::{graph, info, model, models, node, squeezenet};
use prost::Message;

fn read(bytes: &[u8]) -> OnnxModel {
    onnx::read(bytes, &Options::default()).unwrap()
}

fn names() -> [String; 2] {
    ["device0".into(), "device1".into()]
}

/// Deepest ops first wherever that is a schedule: an order that no exporter writes.
fn other_order(model: &OnnxModel) -> Vec<OpId> {
    let graph = &model.graph;
    let levels = labrys_graph::dag::t_levels(graph.topological(), graph.dag(), |_| 1);
    let mut order = graph.topological().to_vec();
    order.sort_by_key(|op| (levels[op.0 as usize], std::cmp::Reverse(*op)));
    order
}

/// What we add, taken away again, and the nodes sorted: equal for a model and its annotated copy.
fn plain(bytes: &[u8]) -> ModelProto {
    let mut model = ModelProto::decode(bytes).unwrap();
    model.configuration.clear();
    model.ir_version = None;
    let nodes = &mut model.graph.as_mut().unwrap().node;
    for node in nodes.iter_mut() {
        node.device_configurations.clear();
        node.metadata_props.retain(|entry| entry.key() != "layer_ann");
    }
    nodes.sort_by(|a, b| a.output.cmp(&b.output));
    model
}

#[test]
fn nothing_is_lost_but_the_order() {
    let files = models().into_iter().map(|file| std::fs::read(file).unwrap());
    for bytes in files.chain([squeezenet()]) {
        assert_eq!(ModelProto::decode(&bytes[..]).unwrap().encoded_len(), bytes.len(), "fields that we do not know");
        let model = read(&bytes);
        let devices: Vec<usize> = model.graph.ops().map(|op| op.0 as usize % 2).collect();
        let written = onnx::write_annotated(&bytes, &model, &other_order(&model), &devices, &names()).unwrap();
        assert_eq!(plain(&bytes), plain(&written), "{}", model.graph.name());
        let again = read(&written).graph;
        let sizes = |graph: &labrys_dataflow::Graph| {
            let size = |t: TensorId| (graph.tensor_name(t).to_owned(), graph.bytes(t));
            graph.tensors().map(size).collect::<std::collections::BTreeMap<_, _>>()
        };
        assert_eq!(sizes(&again), sizes(&model.graph));
    }
}

#[test]
fn every_node_says_its_device_twice() {
    let bytes = squeezenet();
    let model = read(&bytes);
    let order = other_order(&model);
    let devices: Vec<usize> = model.graph.ops().map(|op| op.0 as usize % 2).collect();
    let once = onnx::write_annotated(&bytes, &model, &order, &devices, &names()).unwrap();
    let written = ModelProto::decode(&once[..]).unwrap();
    assert_eq!(written.ir_version(), 11);
    assert_eq!(written.configuration[0].device, names());
    let in_order: Vec<OpId> = order.iter().copied().filter(|op| model.node_of_op[op.0 as usize].is_some()).collect();
    for (op, node) in in_order.iter().zip(&written.graph.unwrap().node) {
        let device = devices[op.0 as usize];
        assert_eq!(node.name(), model.graph.op_name(*op));
        let annotation = node.metadata_props.iter().find(|entry| entry.key() == "layer_ann").unwrap();
        assert_eq!(annotation.value(), names()[device]);
        let [configuration] = &node.device_configurations[..] else { panic!("one configuration") };
        assert_eq!(configuration.configuration_id(), "labrys");
        assert_eq!(configuration.sharding_spec[0].device, [device as i64]);
    }
    let again = read(&once);
    let twice = onnx::write_annotated(&once, &again, again.graph.topological(), &vec![0; devices.len()], &names());
    let twice = ModelProto::decode(&twice.unwrap()[..]).unwrap();
    assert_eq!(twice.configuration.len(), 1, "a second placement replaces the first");
    assert!(twice.graph.unwrap().node.iter().all(|node| node.device_configurations.len() == 1));
}

#[test]
fn constants_stand_before_their_consumers() {
    use onnx_support::With;
    let nodes = vec![
        node("Relu", &["x"], &["a"]),
        node("Constant", &[], &["c"]).ints("value_ints", &[2]),
        node("Reshape", &["a", "c"], &["b"]),
    ];
    let bytes = model(graph(vec![info("x", 1, &["2"])], nodes, &["b"])).encode_to_vec();
    let model = read(&bytes);
    assert_eq!(model.node_of_op, [None, Some(0), Some(2)]);
    let written = onnx::write_annotated(&bytes, &model, model.graph.topological(), &[0; 3], &names()).unwrap();
    let kinds = ModelProto::decode(&written[..]).unwrap().graph.unwrap().node;
    assert_eq!(kinds.iter().map(|n| n.op_type()).collect::<Vec<_>>(), ["Constant", "Relu", "Reshape"]);
}

#[test]
fn what_is_no_schedule_is_refused() {
    let bytes = squeezenet();
    let model = read(&bytes);
    let order = model.graph.topological();
    let devices = vec![0; order.len()];
    let write = |bytes: &[u8], order: &[OpId], devices: &[usize]| {
        onnx::write_annotated(bytes, &model, order, devices, &names()).unwrap_err().to_string()
    };
    let reversed: Vec<OpId> = order.iter().rev().copied().collect();
    let repeated = [order, &order[..1]].concat();
    let cases = [
        (write(&bytes, &reversed, &devices), "scheduled before"),
        (write(&bytes, &repeated, &devices), "scheduled twice"),
        (write(&bytes, &order[..9], &devices), "is not scheduled"),
        (write(&bytes, &[OpId(9999)], &devices), "no op 9999"),
        (write(&bytes, order, &devices[..9]), "on no known device"),
        (write(&bytes, order, &vec![2; order.len()]), "on no known device"),
        (write(b"", order, &devices), "not the model that was read"),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message}");
    }
}
