//! Problems on graphs: vertex cover, independent set, max clique, max cut and the travelling salesman.
//!
//! Suggested reading order: [`problem`] (vocabulary), [`check`] (what a valid answer is), [`problems`] (one file for each: the
//! environment in which a solution is built), then [`cover`] with [`reduce`], [`cut`] and [`tsp`]: the solvers; [`learned`] is RL4GO, a
//! policy that constructs solutions node by node, split over ranks.

pub mod check;
pub mod cover;
pub mod cut;
pub mod guide;
pub mod learned;
pub mod problem;
pub mod problems;
pub mod reduce;
pub mod tsp;

pub use guide::NodeGuide;
pub use problem::{Environment, Problem, Step};
