//! Edge lists as SNAP and KONECT publish them: two names on each line, perhaps a weight.

use super::lines::parse_count;
use super::{Labels, Line, Lines, Result, builder};
use crate::undirected::GraphBuilder;

pub(super) fn is_comment(line: &Line<'_>) -> bool {
    line.text.starts_with(b"#") || line.text.starts_with(b"%")
}

pub(super) fn read(bytes: &[u8], weighted: bool) -> Result<(GraphBuilder, Labels)> {
    let mut declared = None;
    let mut ends: Vec<(u64, u64)> = vec![];
    let mut weights: Vec<i64> = vec![];
    let mut last = Line { number: 1, text: b"" };
    for line in Lines::new(bytes) {
        last = line;
        if is_comment(&line) {
            declared = declared.or_else(|| declared_nodes(&line));
            continue;
        }
        let mut words = line.words();
        ends.push((line.count(&mut words, "a node")?, line.count(&mut words, "a second node")?));
        if weighted {
            weights.push(words.next().map_or(Ok(1), |word| line.weight(word))?);
        }
    }
    let labels = labels(&ends, declared);
    let nodes = match &labels {
        Labels::From(_) => declared.unwrap_or(0),
        Labels::Names(names) => names.len() as u64,
    };
    let mut builder = builder(nodes, bytes, &last)?;
    let index = |label: u64| labels.node(label, nodes as usize).unwrap_or_default();
    for (i, &(a, b)) in ends.iter().enumerate() {
        builder.add_weighted(index(a), index(b), weights.get(i).copied().unwrap_or(1));
    }
    Ok((builder, labels))
}

/// SNAP's `# Nodes: 26475 Edges: 53381`.
fn declared_nodes(line: &Line<'_>) -> Option<u64> {
    let mut words = line.words().skip_while(|word| !word.eq_ignore_ascii_case(b"nodes:"));
    words.next()?;
    parse_count(words.next()?)
}

/// Nodes are numbered as they are if the header says how many there are and all numbers are below that; then isolated ones are
/// kept. Else the names that occur are numbered in ascending order.
fn labels(ends: &[(u64, u64)], declared: Option<u64>) -> Labels {
    let lowest = ends.iter().map(|&(a, b)| a.min(b)).min().unwrap_or(0);
    let highest = ends.iter().map(|&(a, b)| a.max(b)).max();
    match declared {
        Some(nodes) if highest.is_none_or(|high| high < nodes) => return Labels::From(0),
        Some(nodes) if lowest >= 1 && highest.is_some_and(|high| high <= nodes) => return Labels::From(1),
        _ => {}
    }
    let mut names: Vec<u64> = ends.iter().flat_map(|&(a, b)| [a, b]).collect();
    names.sort_unstable();
    names.dedup();
    Labels::Names(names)
}
