//! Topological orders and longest paths of directed acyclic graphs given as successor lists.

use crate::{Csr, Id};

/// A directed cycle: each node has an arc to the next, the last to the first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the graph has a cycle of {} nodes", .0.len())]
pub struct Cycle<T: std::fmt::Debug>(pub Vec<T>);

/// A topological order that keeps nodes in index order wherever the arcs allow (Kahn's algorithm, smallest ready index first).
///
/// # Errors
/// The nodes of one cycle, if there is one.
pub fn topological_order<T: Id>(succs: &Csr<T>) -> Result<Vec<T>, Cycle<T>> {
    let n = succs.rows();
    let mut missing = in_degrees(succs);
    let mut ready: std::collections::BinaryHeap<std::cmp::Reverse<u32>> =
        (0..n).filter(|&v| missing[v] == 0).map(|v| std::cmp::Reverse(v as u32)).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(std::cmp::Reverse(v)) = ready.pop() {
        order.push(T::new(v as usize));
        for &s in succs.row(v as usize) {
            missing[s.index()] -= 1;
            if missing[s.index()] == 0 {
                ready.push(std::cmp::Reverse(s.index() as u32));
            }
        }
    }
    if order.len() == n { Ok(order) } else { Err(find_cycle(succs, &missing)) }
}

/// Number of arcs into each node.
pub fn in_degrees<T: Id>(succs: &Csr<T>) -> Vec<u32> {
    let mut degree = vec![0u32; succs.rows()];
    for row in succs.iter() {
        for s in row {
            degree[s.index()] += 1;
        }
    }
    degree
}

/// Every node left over by Kahn's algorithm has a left-over predecessor, so walking predecessors must come back to a node seen before.
fn find_cycle<T: Id>(succs: &Csr<T>, missing: &[u32]) -> Cycle<T> {
    let preds: Csr<T> = succs.transpose(succs.rows());
    let start = missing.iter().position(|&m| m > 0).expect("called only when nodes are left over");
    let mut seen_at = vec![usize::MAX; succs.rows()];
    let mut walk = vec![];
    let mut v = start;
    while seen_at[v] == usize::MAX {
        seen_at[v] = walk.len();
        walk.push(T::new(v));
        v = preds
            .row(v)
            .iter()
            .find(|p| missing[p.index()] > 0)
            .expect("a left-over node has a left-over predecessor")
            .index();
    }
    let mut cycle = walk.split_off(seen_at[v]);
    cycle.reverse();
    Cycle(cycle)
}

/// For each node the heaviest path that starts with it, its own weight included: the *b-level* of scheduling theory.
pub fn b_levels<T: Id>(order: &[T], succs: &Csr<T>, weight: impl Fn(T) -> u64) -> Vec<u64> {
    let mut level = vec![0u64; succs.rows()];
    for &v in order.iter().rev() {
        let below = succs.row(v.index()).iter().map(|s| level[s.index()]).max().unwrap_or(0);
        level[v.index()] = below + weight(v);
    }
    level
}

/// For each node the heaviest path that ends just before it, its own weight excluded: the *t-level*.
pub fn t_levels<T: Id>(order: &[T], succs: &Csr<T>, weight: impl Fn(T) -> u64) -> Vec<u64> {
    let mut level = vec![0u64; succs.rows()];
    for &v in order {
        let done = level[v.index()] + weight(v);
        for s in succs.row(v.index()) {
            level[s.index()] = level[s.index()].max(done);
        }
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;
    crate::define_id!(
        /// A test id.
        Node
    );

    fn diamond() -> Csr<Node> {
        Csr::from_rows([vec![Node(1), Node(2)], vec![Node(3)], vec![Node(3)], vec![]])
    }

    #[test]
    fn order_keeps_indices_where_it_can() {
        assert_eq!(topological_order(&diamond()).unwrap(), [Node(0), Node(1), Node(2), Node(3)]);
    }

    #[test]
    fn a_cycle_is_named_in_arc_order() {
        let csr = Csr::from_rows([vec![Node(1)], vec![Node(2)], vec![Node(3)], vec![Node(1)]]);
        let Cycle(cycle) = topological_order(&csr).unwrap_err();
        assert_eq!(cycle.len(), 3);
        for (i, v) in cycle.iter().enumerate() {
            assert!(csr.row(v.index()).contains(&cycle[(i + 1) % 3]));
        }
    }

    #[test]
    fn levels_of_a_diamond() {
        let order = topological_order(&diamond()).unwrap();
        let weight = |v: Node| [1, 10, 2, 4][v.index()];
        assert_eq!(b_levels(&order, &diamond(), weight), [15, 14, 6, 4]);
        assert_eq!(t_levels(&order, &diamond(), weight), [0, 1, 1, 11]);
    }
}
