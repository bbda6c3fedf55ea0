//! DIMACS (`p edge n m`, `p col n m`, then `e u v`) and PACE (`p td n m`, then `u v`).

use super::lines::shown;
use super::{Error, Labels, Line, Lines, Result, builder};
use crate::undirected::GraphBuilder;

pub(super) fn read(bytes: &[u8], weighted: bool) -> Result<(GraphBuilder, Labels)> {
    let mut header: Option<(GraphBuilder, u64, u64)> = None;
    let mut lines = Lines::new(bytes);
    for line in lines.by_ref() {
        let mut words = line.words().peekable();
        match (words.peek().copied(), &mut header) {
            (Some(b"c"), _) => {}
            (Some(b"p"), Some(_)) => return Err(line.error("a second line that begins with p")),
            (Some(b"p"), None) => {
                let (nodes, edges) = problem_line(&line)?;
                header = Some((builder(nodes, bytes, &line)?, nodes, edges));
            }
            // Weights, colours and coordinates of nodes.
            (Some(b"n" | b"d" | b"v" | b"x"), _) => {}
            (_, None) => return Err(line.error("expected 'p edge NODES EDGES' before the first edge")),
            (Some(first), Some((builder, nodes, _))) => {
                if matches!(first, b"e" | b"a") {
                    words.next();
                } else if !first[0].is_ascii_digit() {
                    return Err(line.error(format!("expected 'e NODE NODE', found '{}'", shown(first))));
                }
                let (a, b) = (line.node(&mut words, *nodes)?, line.node(&mut words, *nodes)?);
                let weight = words.next().filter(|_| weighted).map_or(Ok(1), |word| line.weight(word))?;
                builder.add_weighted(a, b, weight);
            }
            (None, _) => {}
        }
    }
    let (builder, _, edges) = header.ok_or_else(|| Error::file("there is no line 'p edge NODES EDGES'"))?;
    check_count(builder.len() as u64, edges, lines.number())?;
    Ok((builder, Labels::From(1)))
}

/// `p edge 125 787`: numbers of nodes and of edges.
fn problem_line(line: &Line<'_>) -> Result<(u64, u64)> {
    let mut words = line.words().skip(2);
    Ok((line.count(&mut words, "the number of nodes")?, line.count(&mut words, "the number of edges")?))
}

/// Many published files list each edge twice, or count it twice; any other difference is a damaged file.
fn check_count(found: u64, declared: u64, last: usize) -> Result<()> {
    if found == declared || found == 2 * declared || declared == 2 * found {
        return Ok(());
    }
    Err(Error::at(last, format!("the file ends after {found} edges, its header says {declared}"))
        .with_hint("is the file complete? if so, correct the number in the line that begins with p"))
}
