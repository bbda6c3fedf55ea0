//! XLA HLO text, before or after scheduling.
//!
//! The entry computation becomes the graph; its instructions become ops in the order of the text, which in a scheduled module
//! is the order that XLA chose to run them in.
//!
//! - Parameters and constants are weights: the caller owns them.
//! - `tuple`, `get-tuple-element`, `bitcast`, `opt-barrier`, `add-dependency`, the `-done` of an asynchronous pair and sharding
//!   annotations hand buffers on; they are no ops. Tokens are control edges. An `opt-barrier` does not order what it holds.
//! - An op with a tuple as its result has a tensor for each array in it. What ROOT returns is kept to the end.
//! - `fusion`: one op; the arithmetic of its body, but memory traffic only of its operands and results, and of an operand that
//!   is only sliced the slices alone.
//! - `while`: one op; body and condition times the trip count, which is XLA's `known_trip_count`, else that of a counter with
//!   constant step and bound, else 1. Its scratch is the peak of the body in the order of the text. Elements of the loop state
//!   that the body hands on are handed on; the others are new tensors (XLA updates them in place).
//! - `conditional`: one op that costs what its costliest branch costs. `call` is inlined.
//! - Updates in place (`dynamic-update-slice`, `scatter`) make new tensors, but move only what they touch.
//! - Collectives and custom calls cost their bytes. Instructions without users are ops like any other.
//!
//! Suggested reading order: `module`, `shape`, `parse`, `forward` (what is plumbing), `cost`, `lower`.

mod attribute;
mod callgraph;
mod cost;
mod cursor;
mod flops;
mod forward;
mod liveness;
mod lower;
mod module;
mod parse;
mod shape;
mod trip_count;

use crate::{Graph, Result};

/// A module's graph.
#[derive(Clone, Debug)]
pub struct HloModule {
    /// The entry computation, without times: a roofline fills them from [`Work`](crate::Work).
    pub graph: Graph,
    /// Whether the order of the ops is a schedule of XLA's, rather than any order that fits the data flow.
    pub is_scheduled: bool,
}

/// Reads HLO text.
///
/// # Errors
/// [`Error::Syntax`](crate::Error::Syntax) with the line for whatever is malformed or inconsistent: unknown operands, missing
/// ENTRY, repeated names, wrong shapes, recursion, tuple indices out of range; and those of
/// [`GraphBuilder::build`](crate::GraphBuilder::build).
pub fn read(text: &str) -> Result<HloModule> {
    let module = parse::parse(text)?;
    Ok(HloModule { graph: lower::lower(&module)?, is_scheduled: module.is_scheduled })
}
