//! Problems on graphs: vertex cover, independent set, max clique, max cut and the travelling salesman.
//!
//! Suggested reading order: [`problem`] (vocabulary), [`check`] (what a valid answer is), then [`cover`] with [`reduce`], [`cut`] and
//! [`tsp`]: the solvers; [`learned`] is RL4GO, a policy that constructs solutions node by node in an environment, split over ranks.

pub mod check;
pub mod cover;
pub mod cut;
pub mod guide;
pub mod learned;
pub mod problem;
pub mod reduce;
pub mod tsp;

pub use guide::NodeGuide;
pub use problem::Problem;
