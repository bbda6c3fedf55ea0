//! Computation graphs: ops, tensors and their costs; every format that Labrys reads or writes.
//!
//! Suggested reading order: [`graph`] (the vocabulary), [`builder`] (how a reader makes one), [`error`], then one reader.

pub mod builder;
pub mod cost;
pub mod cost_graph;
pub mod dot;
pub mod error;
pub mod graph;
pub mod hlo;
pub mod json;
pub mod names;
pub mod onnx;
pub mod read;

pub use builder::GraphBuilder;
pub use error::{Error, Result};
pub use graph::{Graph, OpId, TensorId, TimeSource, WeightId, Work};
