//! Max cut: reductions to a smaller weighted graph, annealing, tabu search with breakouts, exact search on small kernels.

pub mod anneal;
pub mod bound;
pub mod exact;
pub mod greedy;
pub mod reduce;
mod solve;
mod state;
pub mod tabu;
#[cfg(test)]
mod tests;

pub use solve::{Switches, solve, total_positive};
pub use state::State;
