//! Real models: every file of the instance folder loads, with and without the shapes that it declares.

mod onnx_support;

use labrys_dataflow::cost;
use labrys_dataflow::onnx::{self, OnnxModel, Options, proto::ModelProto};
use onnx_support::{models, squeezenet};
use prost::Message;

fn read(bytes: &[u8]) -> OnnxModel {
    onnx::read(bytes, &Options::default()).unwrap_or_else(|e| panic!("{e}; hint: {:?}", e.hint()))
}

/// The same model without the types and shapes of what its nodes produce.
fn stripped(bytes: &[u8]) -> Vec<u8> {
    let mut model = ModelProto::decode(bytes).unwrap();
    let graph = model.graph.as_mut().unwrap();
    graph.value_info.clear();
    graph.output.iter_mut().for_each(|output| output.r#type = None);
    model.encode_to_vec()
}

fn gflop(model: &OnnxModel) -> f64 {
    model.graph.ops().map(|op| model.graph.work(op).flops).sum::<u64>() as f64 / 1e9
}

#[test]
fn derived_sizes_equal_the_declared_ones() {
    let files = models().into_iter().map(|file| std::fs::read(file).unwrap());
    for bytes in files.chain([squeezenet()]) {
        let declared = read(&bytes).graph;
        let derived = read(&stripped(&bytes)).graph;
        assert_eq!(declared.tensor_count(), derived.tensor_count());
        for tensor in declared.tensors() {
            let place = (declared.name(), declared.tensor_name(tensor));
            assert_eq!(declared.bytes(tensor), derived.bytes(tensor), "{place:?}");
        }
    }
}

/// The example is SqueezeNet 1.1 (torchvision: 1,235,496 parameters, 0.35 G multiply-adds), exported without its 3,944 biases.
#[test]
fn the_example_has_its_published_size_and_work() {
    let model = read(&squeezenet());
    let graph = &model.graph;
    let weights: u64 = graph.weights().map(|w| graph.weight_bytes(w)).sum();
    assert!((weights / 4).abs_diff(1_235_496 - 3_944) < 10, "{weights}");
    assert!((gflop(&model) - 0.70).abs() < 0.02, "{}", gflop(&model));
    assert_eq!((graph.op_count(), graph.kind(graph.ops().next().unwrap())), (66, "input"));
    assert_eq!(graph.tensors().filter(|&t| graph.is_kept(t)).count(), 1);
}

/// Multiply-adds that the authors of the models publish, times two.
#[test]
fn work_agrees_with_published_figures() {
    let published =
        [("resnet50", 8.2), ("densenet121", 5.7), ("vit_b_16", 35.2), ("inception_v3", 11.4), ("bert_base", 22.4)];
    for file in models() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let Some((_, expected)) = published.iter().find(|(model, _)| *model == name) else { continue };
        let found = gflop(&read(&std::fs::read(&file).unwrap()));
        assert!((found / expected - 1.0).abs() < 0.02, "{name}: {found} GFLOP, published {expected}");
    }
}

/// ONNX Runtime names nameless nodes by op type and position, and so do we.
#[test]
fn profiles_of_onnx_runtime_cover_every_node() {
    for file in models() {
        let profile = file.with_extension("json").to_str().unwrap().replace("/onnx/", "/profiles/");
        let Ok(table) = std::fs::read(profile) else { continue };
        let mut model = read(&std::fs::read(&file).unwrap());
        let applied = cost::apply_times(&mut model.graph, &table).unwrap();
        assert_eq!((applied.ops, applied.unmatched), (model.graph.op_count() - 1, 0), "{}", file.display());
    }
}
