//! Anytime search over any problem: one [`Runner`] with limits, seed, incumbents and a stop reason, and the
//! metaheuristics that run under it.
//!
//! Suggested reading order: [`score`], [`runner`], [`seed`], then [`brkga`], [`anneal`] and [`guide`]; for searches by steps [`space`], [`state_graph`], then
//! [`best_first`], [`beam`] and [`mcts`]; [`mod@surroundings`] and [`goals`] for what is learned from them.

pub mod anneal;
pub mod beam;
pub mod best_first;
pub mod brkga;
mod exploration;
pub mod goals;
pub mod guide;
pub mod mcts;
pub mod quantiles;
pub mod runner;
pub mod score;
pub mod seed;
pub mod space;
pub mod state_graph;
pub mod surroundings;
#[cfg(test)]
mod toy;

pub use beam::beam;
pub use best_first::best_first;
pub use goals::Goal;
pub use guide::Guide;
pub use mcts::mcts;
pub use runner::{Incumbent, Limits, Outcome, Runner, StopReason, Stopwatch};
pub use score::Score;
pub use seed::Seed;
pub use space::Space;
pub use state_graph::{Improvement, StateGraph};
pub use surroundings::surroundings;
