//! The learned value of a state: how much cheaper an expression can become within t steps of rewriting, for all t at once.
//!
//! The draft's section 4.2, and a network that says instead how much there is to gain and how many steps away it is, taught by ways that other
//! methods know. Read [`encode`] (an expression as a graph, with [`kinds`] and [`marks`] of nodes), [`net`] (the graph network) and [`learned`] (the network
//! as the guide of a search) first; then [`explore`] (searches to learn from), `teach` and [`generate`] (ways to learn from, and expressions),
//! [`dataset`] and [`train`].

pub mod dataset;
pub mod encode;
pub mod explore;
pub mod generate;
pub mod kinds;
pub mod learned;
pub mod marks;
pub mod memo;
pub mod net;
mod teach;
pub mod train;

pub use encode::ExprGraph;
pub use learned::LearnedValue;
pub use net::{Shape, ValueError, ValueNet};
