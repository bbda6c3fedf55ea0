//! METIS (Chaco): `n m [fmt [ncon]]`, then line `i` lists the neighbours of node `i`.

use super::{Error, Labels, Line, Lines, Result, builder};
use crate::undirected::GraphBuilder;

/// What the header says.
struct Header {
    nodes: u64,
    edges: u64,
    /// Numbers before the neighbours: a size, and so many weights of the node.
    skipped: u64,
    /// Whether a weight follows each neighbour.
    weighted: bool,
}

pub(super) fn read(bytes: &[u8], weighted: bool) -> Result<(GraphBuilder, Labels)> {
    let mut lines = Lines::new(bytes);
    let is_comment = |line: &Line<'_>| line.text.starts_with(b"%");
    let first = lines.find(|line| !is_comment(line)).ok_or_else(|| Error::file("expected 'NODES EDGES'"))?;
    let header = header(&first)?;
    let mut builder = builder(header.nodes, bytes, &first)?;
    let (mut node, mut arcs, mut loops) = (0u64, 0u64, 0u64);
    while let Some(line) = lines.next_raw() {
        if is_comment(&line) {
            continue;
        }
        if node == header.nodes {
            if line.text.is_empty() {
                continue;
            }
            return Err(line.error(format!("more lines than the {} nodes of the header", header.nodes)));
        }
        let mut words = line.words().peekable();
        for _ in 0..header.skipped {
            line.count(&mut words, "a weight of the node")?;
        }
        while words.peek().is_some() {
            let other = line.node(&mut words, header.nodes)?;
            let weight = match header.weighted {
                true => {
                    let word = words.next().ok_or_else(|| line.error("a neighbour without a weight"))?;
                    if weighted { line.weight(word)? } else { 1 }
                }
                false => 1,
            };
            arcs += 1;
            loops += u64::from(u64::from(other) == node);
            // Every edge is listed at both ends: one of them is enough, and duplicates stay visible.
            if u64::from(other) >= node {
                builder.add_weighted(node as u32, other, weight);
            }
        }
        node += 1;
    }
    // A last empty line may have no line end.
    if node + 1 < header.nodes || arcs != 2 * header.edges {
        return Err(incomplete(&header, node, arcs, lines.number()));
    }
    if 2 * (builder.len() as u64) != arcs + loops {
        return Err(Error::file("some edges are listed at one end only")
            .with_hint("METIS lists every edge at both its nodes; an edge list need not"));
    }
    Ok((builder, Labels::From(1)))
}

fn header(line: &Line<'_>) -> Result<Header> {
    let mut words = line.words();
    let nodes = line.count(&mut words, "the number of nodes")?;
    let edges = line.count(&mut words, "the number of edges")?;
    let format = words.next().unwrap_or(b"0");
    if format.len() > 3 || !format.iter().all(|digit| matches!(digit, b'0' | b'1')) {
        return Err(line.error("expected three digits 0 or 1 after the number of edges"));
    }
    let flag = |from_right: usize| format.len() > from_right && format[format.len() - 1 - from_right] == b'1';
    let weights = match words.next() {
        Some(word) => line.count(&mut std::iter::once(word), "the number of weights of a node")?,
        None => 1,
    };
    if weights > 1_000 {
        return Err(line.error(format!("{weights} weights for each node")));
    }
    let skipped = u64::from(flag(2)) + if flag(1) { weights } else { 0 };
    Ok(Header { nodes, edges, skipped, weighted: flag(0) })
}

fn incomplete(header: &Header, node: u64, arcs: u64, last: usize) -> Error {
    let Header { nodes, edges, .. } = header;
    let message =
        format!("the file ends after {node} of {nodes} nodes with {arcs} neighbours; {edges} edges have {}", 2 * edges);
    Error::at(last, message).with_hint("is the file complete?")
}
