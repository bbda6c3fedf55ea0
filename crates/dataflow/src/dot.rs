//! Graphviz: a graph to look at, cut to a size that Graphviz can lay out.

use crate::graph::{Graph, OpId};
use std::fmt::Write;

/// Largest number of ops that is drawn unless the caller asks for more: beyond, layouts take minutes and show nothing.
pub const DEFAULT_LIMIT: usize = 500;

/// Fill colours of devices, repeated if there are more (the "Set3" scheme of ColorBrewer, without its greys).
const COLOURS: [&str; 10] =
    ["#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5", "#bc80bd", "#ccebc5"];

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Dot {
    /// The text for Graphviz.
    pub text: String,
    /// How many ops were left out, as the label of the drawing says too.
    pub omitted: usize,
}

/// Draws the first `limit` ops in topological order, coloured by their device if a placement is given. Edges carry the bytes of
/// their tensors; control edges are dashed; outputs of the graph have a bold frame.
pub fn write(graph: &Graph, device_of: Option<&[usize]>, limit: usize) -> Dot {
    let drawn = &graph.topological()[..limit.min(graph.op_count())];
    let omitted = graph.op_count() - drawn.len();
    let mut is_drawn = vec![false; graph.op_count()];
    drawn.iter().for_each(|op| is_drawn[op.0 as usize] = true);
    let mut text = String::from(
        "digraph labrys {\n  rankdir=TB; node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];\n",
    );
    if omitted > 0 {
        let label = format!("{}: the first {} ops, {omitted} left out", graph.name(), drawn.len());
        let _ = writeln!(text, "  label=\"{}\"; labelloc=t;", escape(&label));
    }
    for &op in drawn {
        push_node(&mut text, graph, op, device_of.and_then(|devices| devices.get(op.0 as usize).copied()));
        push_edges(&mut text, graph, op, &is_drawn);
    }
    text.push_str("}\n");
    Dot { text, omitted }
}

fn push_node(text: &mut String, graph: &Graph, op: OpId, device: Option<usize>) {
    let label = format!("{}\n{} {} ns", graph.op_name(op), graph.kind(op), graph.time(op));
    let _ = write!(text, "  n{} [label=\"{}\"", op.0, escape(&label));
    if let Some(device) = device {
        let _ = write!(text, ", fillcolor=\"{}\", tooltip=\"device {device}\"", COLOURS[device % COLOURS.len()]);
    }
    if graph.outputs(op).iter().any(|&tensor| graph.is_kept(tensor)) {
        text.push_str(", penwidth=3");
    }
    text.push_str("];\n");
}

/// Edges from the drawn ops before `op`, which are all its predecessors if `op` is drawn, too.
fn push_edges(text: &mut String, graph: &Graph, op: OpId, is_drawn: &[bool]) {
    for &tensor in graph.inputs(op) {
        let producer = graph.producer(tensor);
        if is_drawn[producer.0 as usize] {
            let _ = writeln!(text, "  n{} -> n{} [label=\"{} B\"];", producer.0, op.0, graph.bytes(tensor));
        }
    }
    for before in graph.control(op).iter().filter(|before| is_drawn[before.0 as usize]) {
        let _ = writeln!(text, "  n{} -> n{} [style=dashed];", before.0, op.0);
    }
}

/// For a double-quoted string of DOT, where `\n` breaks the line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphBuilder;

    fn chain() -> Graph {
        let mut builder = GraphBuilder::new("a \"chain\"");
        let ops = [builder.op("in\"\\\n{put}", "input"), builder.op("b", "Mul"), builder.op("c", "Mul")];
        let (x, y) = (builder.output(ops[0], "x", 8), builder.output(ops[1], "y", 4));
        builder.input(ops[1], x);
        builder.control(ops[2], ops[1]);
        builder.keep(y);
        builder.build().unwrap()
    }

    #[test]
    fn a_small_graph_is_drawn_whole() {
        let dot = write(&chain(), Some(&[0, 1, 11]), DEFAULT_LIMIT);
        assert_eq!(dot.omitted, 0);
        let lines: Vec<&str> = dot.text.lines().map(str::trim).collect();
        assert_eq!(
            lines[2..],
            [
                "n0 [label=\"in\\\"\\\\\\n{put}\\ninput 0 ns\", fillcolor=\"#8dd3c7\", tooltip=\"device 0\"];",
                "n1 [label=\"b\\nMul 0 ns\", fillcolor=\"#ffffb3\", tooltip=\"device 1\", penwidth=3];",
                "n0 -> n1 [label=\"8 B\"];",
                "n2 [label=\"c\\nMul 0 ns\", fillcolor=\"#ffffb3\", tooltip=\"device 11\"];",
                "n1 -> n2 [style=dashed];",
                "}",
            ]
        );
    }

    #[test]
    fn what_is_cut_is_said() {
        let dot = write(&chain(), None, 2);
        assert_eq!(dot.omitted, 1);
        assert!(dot.text.contains("label=\"a \\\"chain\\\": the first 2 ops, 1 left out\""), "{}", dot.text);
        assert!(!dot.text.contains("n2"), "{}", dot.text);
    }
}
