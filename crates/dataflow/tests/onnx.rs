//! Real models: every file of the shared data loads, with and without the shapes that it declares.
#![allow(clippy::print_stderr)] // a skipped test says so

use labrys_dataflow::onnx::{self, OnnxModel, Options, proto::ModelProto};
use prost::Message;
use std::path::PathBuf;

/// The models of the instance folder, or none if it is not there.
fn models() -> Vec<PathBuf> {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let data = std::env::var_os("LABRYS_INSTANCES")
        .map_or_else(|| format!("{workspace}/../shared/data").into(), PathBuf::from);
    let Ok(folder) = std::fs::read_dir(data.join("onnx")) else {
        eprintln!("SKIPPED: no models in {}", data.join("onnx").display());
        return vec![];
    };
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

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

#[test]
fn derived_sizes_equal_the_declared_ones() {
    for file in models() {
        let bytes = std::fs::read(&file).unwrap();
        let declared = read(&bytes).graph;
        let derived = read(&stripped(&bytes)).graph;
        for tensor in declared.tensors() {
            let name = declared.tensor_name(tensor);
            assert_eq!(declared.bytes(tensor), derived.bytes(tensor), "{name} of {}", file.display());
        }
    }
}
