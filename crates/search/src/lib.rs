//! Anytime search over any problem: one [`Runner`] with limits, seed, incumbents and a stop reason, and the
//! metaheuristics that run under it.
//!
//! Suggested reading order: [`score`], [`runner`], [`seed`], then [`brkga`], [`anneal`] and [`guide`].

pub mod anneal;
pub mod brkga;
pub mod guide;
pub mod quantiles;
pub mod runner;
pub mod score;
pub mod seed;

pub use guide::Guide;
pub use runner::{Incumbent, Limits, Outcome, Runner, StopReason, Stopwatch};
pub use score::Score;
pub use seed::Seed;
