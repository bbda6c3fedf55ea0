//! Placement and scheduling of computation graphs over devices (REGAL, ICLR 2020), for run time or peak memory.
//!
//! Suggested reading order: [`problem`] (the vocabulary and the performance model), [`check`] (what a valid plan is),
//! [`simulate`] (the same, fast).

pub mod arena;
pub mod baselines;
pub mod bounds;
pub mod check;
pub mod decode;
pub mod explain;
pub mod guide;
pub mod learned;
pub mod list;
pub mod orders;
pub mod peak;
pub mod plan_file;
pub mod present;
pub mod problem;
#[cfg(test)]
mod random_graph;
pub mod settings;
pub mod simulate;
pub mod solve;
pub mod superstep;
pub mod synthetic;

pub use check::{Violation, check};
pub use plan_file::PlanFile;
pub use problem::{Cost, Device, DeviceId, Link, Objective, Plan, Problem, Step, Transfers, Weights};
pub use settings::Settings;
pub use simulate::{Observer, Simulator};
