//! From random keys to plans.
