//! Sparse graphs, DAGs and typed ids: the ground floor that knows nothing of what is built on it.
//!
//! Suggested reading order: [`ids`] (typed indices), [`csr`] (adjacency), [`dag`] (orders and levels), [`undirected`]
//! (simple graphs with weights).

pub mod csr;
pub mod dag;
pub mod flow;
pub mod formats;
pub mod generate;
pub mod ids;
pub mod partition;
pub mod series_parallel;
pub mod undirected;

pub use csr::Csr;
pub use dag::Cycle;
pub use ids::Id;
pub use undirected::{Graph, GraphBuilder};
