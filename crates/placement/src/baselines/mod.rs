//! The methods that the paper compares with (section 5.2), one per file, named as in the paper.

pub mod random;
