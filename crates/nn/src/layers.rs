//! Networks: parameters with the way they are used.

mod lstm;
mod message_passing;
mod mlp;
mod readout;

pub use lstm::Lstm;
pub use message_passing::{Aggregation, MessagePassing, MessagePassingConfig, Update};
pub use mlp::{Activation, Mlp};
pub use readout::GraphReadout;
