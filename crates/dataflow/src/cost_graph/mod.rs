//! TensorFlow's `CostGraphDef`, binary and text: the format of the graphs in the REGAL paper.
//!
//! A node is an op (`_SOURCE` and the sink too), `node:port` names its tensors. `compute_cost` is in microseconds and counts as
//! measured, even where the node is marked `inaccurate`: there is nothing to compute it from. An input with a negative port is a control edge. `is_final` keeps all
//! outputs of its node. `persistent_memory_size` becomes a weight. Negative sizes and costs mean "unknown" and count as 0.
//! Aliases of outputs with inputs are not believed, as proto3 cannot tell "alias of input 0" from "not given". The format has no op
//! types and no names of tensors, so they do not survive it; times are rounded to whole microseconds, upwards below one.

mod convert;
mod proto;
mod text;
mod text_format;

use crate::{Error, Graph, Result};
use prost::Message;

/// The two encodings of a protobuf message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// The wire format.
    Binary,
    /// The text format.
    Text,
}

/// Reads the binary form.
///
/// # Errors
/// [`Error::File`] if this is no such message, [`Error::Node`] for inconsistent nodes, and those of
/// [`GraphBuilder::build`](crate::GraphBuilder::build).
pub fn read(bytes: &[u8]) -> Result<Graph> {
    let def = proto::CostGraphDef::decode(bytes)
        .map_err(|e| Error::file(format!("not a CostGraphDef: {e}")).with_hint("the file may be truncated"))?;
    convert::to_graph(&def)
}

/// Reads the text form.
///
/// # Errors
/// [`Error::Syntax`] with the line, and those of [`read`].
pub fn read_text(text: &str) -> Result<Graph> {
    convert::to_graph(&text::decode(text)?)
}

/// Writes a graph; see the module's documentation for what the format cannot hold.
pub fn write(graph: &Graph, encoding: Encoding) -> Vec<u8> {
    let def = convert::from_graph(graph);
    match encoding {
        Encoding::Binary => def.encode_to_vec(),
        Encoding::Text => text::encode(&def).into_bytes(),
    }
}
