//! Proven lower bounds on the objectives: what no plan can beat.

mod memory;

pub use memory::{DEFAULT_BUDGET, memory};
