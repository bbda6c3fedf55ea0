//! The methods that the paper compares with (section 5.2), one per file, named as in the paper.

pub mod brkga;
pub mod cp_sat;
pub mod gp_dfs;
pub mod heft;
pub mod list;
pub mod local_search;
pub mod random;
pub mod tuned_brkga;
