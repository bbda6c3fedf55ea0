//! ONNX: models in.
//!
//! Suggested reading order: [`read`], `evaluate` (walks the nodes), `ops` (one file per operator family).

mod control;
mod declared;
mod dtype;
mod evaluate;
mod node;
mod ops;
mod order;
#[allow(missing_docs, clippy::all)]
#[rustfmt::skip]
pub mod proto;
mod read;
mod value;

pub use read::{OnnxModel, Options, read};
