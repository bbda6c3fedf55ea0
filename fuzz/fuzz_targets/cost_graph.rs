//! CostGraphDef in both encodings; what is read must survive being written.
#![no_main]

use labrys_dataflow::Graph;
use labrys_dataflow::cost_graph::{self, Encoding};

fn check(graph: &Graph) {
    let binary = cost_graph::read(&cost_graph::write(graph, Encoding::Binary)).expect("what is written can be read");
    let text = cost_graph::write(graph, Encoding::Text);
    let text = cost_graph::read_text(std::str::from_utf8(&text).expect("text")).expect("what is written can be read");
    assert_eq!(graph.dag(), binary.dag());
    assert_eq!(graph.dag(), text.dag());
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(graph) = cost_graph::read(bytes) {
        check(&graph);
    }
    if let Ok(Ok(graph)) = std::str::from_utf8(bytes).map(cost_graph::read_text) {
        check(&graph);
    }
});
