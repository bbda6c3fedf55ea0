//! Is an answer valid, and what is it worth? Slow and obvious; shares nothing with the solvers.

use labrys_graph::Graph;

/// What is wrong with an answer. Nodes are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A node that is not in the graph.
    #[error("there is no node {0}")]
    NoSuchNode(u32),
    /// A node is listed twice.
    #[error("node {0} is listed twice")]
    Twice(u32),
    /// An edge with no end in the cover.
    #[error("edge {0}-{1} is not covered")]
    Uncovered(u32, u32),
    /// Two nodes of an independent set are neighbours.
    #[error("nodes {0} and {1} are neighbours")]
    Neighbours(u32, u32),
    /// Two nodes of a clique are no neighbours.
    #[error("nodes {0} and {1} are no neighbours")]
    Strangers(u32, u32),
    /// A tour that leaves out a city.
    #[error("city {0} is not on the tour")]
    Missing(u32),
}

/// Which nodes are listed; each may be listed once.
fn members(nodes: usize, listed: &[u32]) -> Result<Vec<bool>, Violation> {
    let mut is_member = vec![false; nodes];
    for &v in listed {
        let slot = is_member.get_mut(v as usize).ok_or(Violation::NoSuchNode(v))?;
        if std::mem::replace(slot, true) {
            return Err(Violation::Twice(v));
        }
    }
    Ok(is_member)
}

/// Size of a vertex cover.
///
/// # Errors
/// If it is none.
pub fn vertex_cover(graph: &Graph, nodes: &[u32]) -> Result<u64, Violation> {
    let covered = members(graph.nodes(), nodes)?;
    match graph.edges().find(|&(a, b)| !covered[a as usize] && !covered[b as usize]) {
        Some((a, b)) => Err(Violation::Uncovered(a, b)),
        None => Ok(nodes.len() as u64),
    }
}

/// Size of an independent set.
///
/// # Errors
/// If it is none.
pub fn independent_set(graph: &Graph, nodes: &[u32]) -> Result<u64, Violation> {
    let inside = members(graph.nodes(), nodes)?;
    match graph.edges().find(|&(a, b)| inside[a as usize] && inside[b as usize]) {
        Some((a, b)) => Err(Violation::Neighbours(a, b)),
        None => Ok(nodes.len() as u64),
    }
}

/// Size of a clique.
///
/// # Errors
/// If it is none.
pub fn clique(graph: &Graph, nodes: &[u32]) -> Result<u64, Violation> {
    members(graph.nodes(), nodes)?;
    for (i, &a) in nodes.iter().enumerate() {
        if let Some(&b) = nodes[..i].iter().find(|&&b| !graph.has_edge(a, b)) {
            return Err(Violation::Strangers(b, a));
        }
    }
    Ok(nodes.len() as u64)
}

/// Weight of the edges between the listed nodes and the others.
///
/// # Errors
/// If the list is no set of nodes.
pub fn cut(graph: &Graph, side: &[u32]) -> Result<i64, Violation> {
    let inside = members(graph.nodes(), side)?;
    let across = graph.weighted_edges().filter(|&((a, b), _)| inside[a as usize] != inside[b as usize]);
    Ok(across.map(|(_, weight)| weight).sum())
}

/// Length of a round trip that visits each of `cities` cities once, in the order listed.
///
/// # Errors
/// If it does not.
pub fn tour(cities: usize, order: &[u32], distance: impl Fn(u32, u32) -> u64) -> Result<u64, Violation> {
    let visited = members(cities, order)?;
    if let Some(missing) = visited.iter().position(|&visited| !visited) {
        return Err(Violation::Missing(missing as u32));
    }
    let legs = order.iter().zip(order.iter().cycle().skip(1));
    Ok(legs.map(|(&from, &to)| distance(from, to)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_answers_are_valued_and_others_named() {
        let graph = Graph::from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)]);
        assert_eq!(vertex_cover(&graph, &[2, 0]), Ok(2));
        assert_eq!(vertex_cover(&graph, &[2]), Err(Violation::Uncovered(0, 1)));
        assert_eq!(vertex_cover(&graph, &[2, 4]), Err(Violation::NoSuchNode(4)));
        assert_eq!(independent_set(&graph, &[3, 1]), Ok(2));
        assert_eq!(independent_set(&graph, &[3, 3]), Err(Violation::Twice(3)));
        assert_eq!(independent_set(&graph, &[3, 2]), Err(Violation::Neighbours(2, 3)));
        assert_eq!(clique(&graph, &[0, 1, 2]), Ok(3));
        assert_eq!(clique(&graph, &[0, 2, 3]), Err(Violation::Strangers(0, 3)));
        assert_eq!(cut(&graph, &[2]), Ok(3));
        assert_eq!(cut(&graph, &[]), Ok(0));
        let line = |a: u32, b: u32| u64::from(a.abs_diff(b));
        assert_eq!(tour(4, &[0, 2, 3, 1], line), Ok(6));
        assert_eq!(tour(4, &[0, 2, 3], line), Err(Violation::Missing(1)));
        assert_eq!(tour(0, &[], line), Ok(0));
    }
}
