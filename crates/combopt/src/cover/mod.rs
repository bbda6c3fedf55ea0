//! Vertex cover, and with it independent set and max clique: reductions, local search, branch and bound.

pub mod bound;
pub mod branch;
pub mod clique;
pub mod greedy;
mod improve;
pub mod local_search;
mod part;
mod solve;
pub mod sparse_clique;
#[cfg(test)]
mod tests;

pub use solve::{Switches, solve};

/// The nodes that are marked.
pub fn listed(marked: &[bool]) -> Vec<u32> {
    marked.iter().zip(0..).filter(|&(&marked, _)| marked).map(|(_, v)| v).collect()
}

/// Number of nodes that are marked.
pub fn size(marked: &[bool]) -> usize {
    marked.iter().filter(|&&marked| marked).count()
}
