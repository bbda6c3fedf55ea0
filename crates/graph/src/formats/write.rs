//! Graphs to text.

use super::Format;
use crate::Graph;
use std::fmt::Write as _;

/// The text of a graph in a format. Weights are written where the graph has them and the format can.
pub fn write(graph: &Graph, format: Format) -> String {
    let (n, m) = (graph.nodes(), graph.edge_count());
    match format {
        Format::EdgeList => edges(graph, format!("# Nodes: {n} Edges: {m}\n"), "", 0),
        Format::Dimacs => edges(graph, format!("p edge {n} {m}\n"), "e ", 1),
        Format::Pace => edges(graph, format!("p td {n} {m}\n"), "", 1),
        Format::Rudy => edges(graph, format!("{n} {m}\n"), "", 1),
        Format::Metis => metis(graph),
        Format::MatrixMarket => matrix_market(graph),
    }
}

/// Writing to a string cannot fail.
fn edges(graph: &Graph, header: String, prefix: &str, first: u32) -> String {
    let mut text = header;
    for ((a, b), weight) in graph.weighted_edges() {
        _ = write!(text, "{prefix}{} {}", a + first, b + first);
        if graph.is_weighted() {
            _ = write!(text, " {weight}");
        }
        text.push('\n');
    }
    text
}

fn metis(graph: &Graph) -> String {
    let fmt = if graph.is_weighted() { " 001" } else { "" };
    let mut text = format!("{} {}{fmt}\n", graph.nodes(), graph.edge_count());
    for v in 0..graph.nodes() as u32 {
        let entry = |(u, weight): (u32, i64)| match graph.is_weighted() {
            true => format!("{} {weight}", u + 1),
            false => (u + 1).to_string(),
        };
        text.push_str(&graph.weighted_neighbours(v).map(entry).collect::<Vec<_>>().join(" "));
        text.push('\n');
    }
    text
}

/// One triangle, the lower.
fn matrix_market(graph: &Graph) -> String {
    let (field, n) = (if graph.is_weighted() { "integer" } else { "pattern" }, graph.nodes());
    let mut text = format!("%%MatrixMarket matrix coordinate {field} symmetric\n{n} {n} {}\n", graph.edge_count());
    for ((low, high), weight) in graph.weighted_edges() {
        _ = write!(text, "{} {}", high + 1, low + 1);
        if graph.is_weighted() {
            _ = write!(text, " {weight}");
        }
        text.push('\n');
    }
    text
}
