//! Real models survive our own formats.

mod instances;

use labrys_dataflow::cost_graph::{self, Encoding};
use labrys_dataflow::read::{Options, Source, decode};
use labrys_dataflow::{Graph, json};

fn models() -> Vec<(String, Graph)> {
    let paths = ["hlo", "hlo-production", "onnx"].into_iter().flat_map(instances::files);
    let load = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let loaded = decode(std::fs::read(&path).unwrap(), Some(&name), &Options::default());
        let loaded = loaded.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(name.ends_with(".onnx"), matches!(loaded.source, Source::Onnx { .. }), "{name}");
        (name, loaded.graph)
    };
    paths.map(load).collect()
}

#[test]
fn json_keeps_everything() {
    for (name, graph) in models() {
        let text = json::write(&graph);
        let again = json::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(json::write(&again) == text, "{name}");
        assert_eq!((again.op_count(), again.dag()), (graph.op_count(), graph.dag()), "{name}");
    }
}

#[test]
fn cost_graphs_keep_structure_and_sizes() {
    for (name, graph) in models() {
        for encoding in [Encoding::Binary, Encoding::Text] {
            let bytes = cost_graph::write(&graph, encoding);
            let again = decode(bytes, None, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}")).graph;
            assert_eq!(again.dag(), graph.dag(), "{name}");
            let sizes = |g: &Graph| {
                g.ops().flat_map(|op| g.outputs(op).iter().map(|&t| g.bytes(t)).collect::<Vec<_>>()).collect::<Vec<_>>()
            };
            assert_eq!(sizes(&again), sizes(&graph), "{name}");
            assert!(graph.ops().all(|op| again.op_name(op) == graph.op_name(op)), "{name}");
        }
    }
}
