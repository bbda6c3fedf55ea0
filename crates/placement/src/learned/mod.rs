//! REGAL: a policy that proposes where BRKGA looks (paper, section 4).
//!
//! Reading order: [`features`] (what the policy sees), [`actions`] (what it chooses), [`environment`] (what that is worth),
//! [`model`] (a trained policy, used), [`augment`] (variants of real graphs, and which are for what).

pub mod actions;
pub mod augment;
pub mod environment;
pub mod features;
pub mod model;

pub use environment::{PlacementBandit, Settings};
pub use model::{Engine, Model, ModelError, Recipe};
