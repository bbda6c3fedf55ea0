//! ONNX: models in, annotated models out.
//!
//! Suggested reading order: [`read`], `evaluate` (walks the nodes), `ops` (one file per operator family), [`write_annotated`].

mod control;
mod declared;
mod dtype;
mod evaluate;
mod liveness;
mod node;
mod ops;
mod order;
#[allow(missing_docs, clippy::all)]
#[rustfmt::skip]
pub mod proto;
mod read;
mod value;
mod write;

pub use read::{OnnxModel, Options, read};
pub use write::write_annotated;
