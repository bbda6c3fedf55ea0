//! The travelling salesman: distances, construction, iterated 3-opt on neighbour lists, bounds. No n x n matrix unless the file is one.

pub mod bound;
pub mod construct;
pub mod distance;
mod exact;
mod kd_tree;
mod neighbours;
mod solve;
#[cfg(test)]
mod tests;
mod three_opt;
mod tour;
pub mod tsplib;

pub use distance::{Cities, Metric};
pub use neighbours::Neighbours;
pub use solve::solve;
pub use three_opt::ThreeOpt;
