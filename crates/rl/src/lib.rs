//! Learning by steps of gradient descent that can be stopped at any time, and REINFORCE for choices on graphs.
//!
//! [`TrainingRun`] drives any [`Objective`], supervised or not: minibatches in parallel, Adam, clipping, validation, early
//! stop, the best model, and a state on disk from which a killed run goes on to the same bytes. [`Reinforce`] is the
//! objective of the paper: an [`Environment`] gives graphs and rewards, a [`Policy`] gives logits and a baseline.
//!
//! Suggested reading order: [`objective`], [`run`], then [`policy`] and [`reinforce`].

pub mod config;
pub mod curves;
pub mod metrics;
pub mod objective;
pub mod policy;
pub mod reinforce;
pub mod run;
mod state;

pub use config::TrainingConfig;
pub use objective::{Example, Figures, Objective};
pub use policy::{Actions, Choice, EncoderConfig, GraphPolicy, GraphPolicyConfig, HeadConfig, Policy, Scope};
pub use reinforce::{Baseline, Environment, Reinforce, ReinforceConfig};
pub use run::{Ending, Progress, Summary, TrainingError, TrainingRun};
