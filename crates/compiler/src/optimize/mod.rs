//! Optimisers: which rewrites to do, and where, so that the cost of an expression falls.

pub mod value;
