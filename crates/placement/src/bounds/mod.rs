//! Proven lower bounds on the objectives: what no plan can beat.

mod makespan;
mod memory;

pub use makespan::makespan;
pub use memory::{DEFAULT_BUDGET, memory};
