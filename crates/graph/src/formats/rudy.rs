//! The format of the generator rudy, in which the Gset and the Biq Mac library come: `n m`, then `u v [weight]`.

use super::edge_list::is_comment;
use super::{Error, Labels, Lines, Result, builder};
use crate::undirected::GraphBuilder;

pub(super) fn read(bytes: &[u8], weighted: bool) -> Result<(GraphBuilder, Labels)> {
    let mut lines = Lines::new(bytes);
    let header = lines.find(|line| !is_comment(line)).ok_or_else(|| Error::file("expected 'NODES EDGES'"))?;
    let mut words = header.words();
    let nodes = header.count(&mut words, "the number of nodes")?;
    let edges = header.count(&mut words, "the number of edges")?;
    let mut builder = builder(nodes, bytes, &header)?;
    for line in lines.by_ref().filter(|line| !is_comment(line)) {
        let mut words = line.words();
        let (a, b) = (line.node(&mut words, nodes)?, line.node(&mut words, nodes)?);
        let weight = words.next().filter(|_| weighted).map_or(Ok(1), |word| line.weight(word))?;
        builder.add_weighted(a, b, weight);
    }
    if builder.len() as u64 != edges {
        let message = format!("the file ends after {} edges, its first line says {edges}", builder.len());
        return Err(Error::at(lines.number(), message).with_hint("is the file complete?"));
    }
    Ok((builder, Labels::From(1)))
}
