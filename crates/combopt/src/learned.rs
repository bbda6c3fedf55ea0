//! The learned part, RL4GO: structure2vec scores the nodes of a graph, DQN trains it, and every stage runs split over ranks.
//!
//! Results do not depend on the number of ranks or threads, bit for bit: sums over neighbours have the order of the
//! neighbours, and sums over rows are exact ([`labrys_comm::ExactSum`]).
//!
//! Suggested reading order: [`environment`] (problems), [`blocks`] (how a graph is split), [`sample`] (what the model
//! sees), [`model`] (equations 1 and 2), [`select`] and [`rollout`] (inference), [`replay`], [`dqn`] and [`training`].

pub mod analytic;
pub mod blocks;
mod buffers;
pub mod dataset;
pub mod dqn;
pub mod environment;
mod exchange;
pub mod greedy;
pub mod guide;
pub mod incremental;
mod kernels;
pub mod memory;
pub mod model;
pub mod numbering;
pub mod ranks;
pub mod replay;
pub mod rollout;
pub mod sample;
pub mod select;
pub mod training;

pub use blocks::{ExchangeMode, LocalGraph};
pub use dqn::{Dqn, DqnConfig};
pub use environment::{Environment, IndependentSet, MaxCut, Problem, TravellingSalesman, VertexCover};
pub use incremental::{incremental, incremental_until};
pub use model::{Model, ModelConfig, ModelKind, Ranks};
pub use numbering::Numbering;
pub use rollout::{Rollout, Selection, rollout};
pub use training::{Dataset, LearningConfig, LearningRun};
