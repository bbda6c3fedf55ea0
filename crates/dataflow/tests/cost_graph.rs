//! CostGraphDef: what is read, what is refused, what survives writing.

use labrys_dataflow::cost_graph::{self, Encoding};
use labrys_dataflow::{Graph, OpId, TimeSource, hlo};

const DIAMOND: &str = r#"
# A source, two branches, a sink.
node { name: "_SOURCE" output_info { size: 8 alias_input_port: -1 } }
node {
  name: "left" id: 1 device: "/device:CPU:0"
  input_info { preceding_node: 0 preceding_port: 0 }
  output_info < size: 16 shape { dim { size: 4 } } dtype: DT_FLOAT >
  output_info { size: 32 }
  temporary_memory_size: 100 persistent_memory_size: 7
  compute_cost: 5 compute_time: 3 unknown_field: [1, 2]
}
node { name: "right" id: 2 input_info { } output_info { size: -1 } compute_cost: -1 inaccurate: true }
node {
  name: "sink" id: 3 is_final: true
  input_info: { preceding_node: 1 preceding_port: 1 }
  input_info: { preceding_node: 2 preceding_port: -1 }
  control_input: [0, 1]
}
"#;

fn summary(graph: &Graph) -> Vec<String> {
    let line = |op: OpId| {
        let port = |t| graph.outputs(graph.producer(t)).iter().position(|&output| output == t).unwrap();
        let inputs: Vec<_> =
            graph.inputs(op).iter().map(|&t| format!("{}:{}", graph.op_name(graph.producer(t)), port(t))).collect();
        let outputs: Vec<_> = graph.outputs(op).iter().map(|&t| (graph.bytes(t), graph.is_kept(t))).collect();
        let control: Vec<_> = graph.control(op).iter().map(|&o| graph.op_name(o)).collect();
        let weights: u64 = graph.reads(op).iter().map(|&w| graph.weight_bytes(w)).sum();
        let (name, time, scratch) = (graph.op_name(op), graph.time(op), graph.scratch(op));
        format!("{name} {time} ns, scratch {scratch}, weights {weights}: {inputs:?} {control:?} -> {outputs:?}")
    };
    graph.ops().map(line).collect()
}

#[test]
fn text_is_read() {
    let graph = cost_graph::read_text(DIAMOND).unwrap();
    assert_eq!(
        summary(&graph),
        [
            r#"_SOURCE 0 ns, scratch 0, weights 0: [] [] -> [(8, false)]"#,
            r#"left 5000 ns, scratch 100, weights 7: ["_SOURCE:0"] [] -> [(16, false), (32, false)]"#,
            r#"right 0 ns, scratch 0, weights 0: ["_SOURCE:0"] [] -> [(0, false)]"#,
            r#"sink 0 ns, scratch 0, weights 0: ["left:1"] ["_SOURCE", "left", "right"] -> []"#,
        ]
    );
    assert_eq!((graph.measured_ops(), graph.tensor_name(graph.inputs(OpId(3))[0])), (4, "left:1"));
}

#[test]
fn both_encodings_come_back() {
    let mut graph = hlo::read(
        "HloModule m
         ENTRY e { p = f32[4] parameter(0)\n a = f32[4] negate(p)\n b = (f32[8], f32[2]) custom-call(a), custom_call_target=\"x\"
           c = f32[2] get-tuple-element(b), index=1\n ROOT d = f32[2] negate(c), control-predecessors={a}\n }",
    )
    .unwrap()
    .graph;
    for (op, time) in graph.ops().zip([1000, 0, 123_000]) {
        graph.set_time(op, time, TimeSource::Measured);
    }
    for encoding in [Encoding::Binary, Encoding::Text] {
        let bytes = cost_graph::write(&graph, encoding);
        let again = match encoding {
            Encoding::Binary => cost_graph::read(&bytes).unwrap(),
            Encoding::Text => cost_graph::read_text(std::str::from_utf8(&bytes).unwrap()).unwrap(),
        };
        assert_eq!(summary(&again), summary(&graph), "{encoding:?}");
        assert_eq!(cost_graph::write(&again, encoding), bytes, "{encoding:?}");
    }
}

#[test]
fn times_below_a_microsecond_do_not_vanish() {
    let mut graph = cost_graph::read_text("node { name: \"a\" } node { id: 1 } node { id: 2 }").unwrap();
    for (op, time) in graph.ops().zip([1, 0, 2499]) {
        graph.set_time(op, time, TimeSource::Measured);
    }
    let again = cost_graph::read(&cost_graph::write(&graph, Encoding::Binary)).unwrap();
    assert_eq!(again.ops().map(|op| again.time(op)).collect::<Vec<_>>(), [1000, 0, 2000]);
    assert_eq!(again.op_name(OpId(1)), "node_1");
}

#[test]
fn ids_may_repeat_on_another_device() {
    let text = "node { name: 'a' device: 'x' output_info {} } node { name: 'b' device: 'y' output_info {} }
                node { name: 'c' device: 'y' id: 1 input_info {} }";
    let graph = cost_graph::read_text(text).unwrap();
    assert_eq!(graph.preds(OpId(2)), [OpId(1)]);
}

#[test]
fn errors_name_the_node_or_the_line() {
    let cases = [
        ("", "the graph has no ops"),
        ("node { name: 5 }", "line 1: field 'name': expected a quoted string"),
        ("node {\n id: 1.5\n}", "line 2: field 'id': expected an integer"),
        ("node {\n id: 3000000000\n}", "line 2: field 'id': expected an integer"),
        ("node: 3", "line 1: field 'node': expected a message in braces"),
        ("node { is_final: 2 }", "line 1: field 'is_final': expected true or false"),
        ("node { name: 'a' } node { name: 'b' }", "node 'b' (node): a second node with id 0"),
        ("node { name: 'a' control_input: 9 }", "node 'a' (node): an input from node 9, which is not in the file"),
        (
            "node { name: 'a' id: 1 input_info {} } node { name: 'b' }",
            "node 'a' (node): input from port 0 of 'b', which has 0 outputs",
        ),
        ("node { compute_cost: 9223372036854775807 }", "node 'node_0' (node): compute_cost is out of range"),
        ("node { control_input: 0 }", "the ops form a cycle: node_0 -> node_0"),
    ];
    for (text, expected) in cases {
        let error = cost_graph::read_text(text).map(|g| summary(&g)).unwrap_err().to_string();
        assert!(error.contains(expected), "found: {error}\nexpected: {expected}");
    }
    assert!(cost_graph::read(b"\x0a\xff").unwrap_err().to_string().starts_with("not a CostGraphDef: "));
}
