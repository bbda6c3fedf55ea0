//! Networks: parameters with the way they are used.

mod gated_graph;
mod gru;
mod lstm;
mod message_passing;
mod mlp;
mod readout;

pub use gated_graph::{GatedGraph, GatedReadout};
pub use gru::Gru;
pub use lstm::Lstm;
pub use message_passing::{Aggregation, MessagePassing, MessagePassingConfig, Update};
pub use mlp::{Activation, Mlp};
pub use readout::GraphReadout;
