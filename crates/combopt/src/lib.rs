//! Graph problems, as RL4GO sees them: a learned policy constructs solutions node by node, split over ranks.

pub mod learned;
