//! The learned value of a state: how much cheaper an expression can become within t steps of rewriting, for all t at once.
//!
//! The draft's section 4.2. Read [`encode`] (an expression as a graph), [`net`] (the graph network) and [`learned`] (the
//! network as the guide of a search) first; then [`explore`] (searches to learn from), [`dataset`] and [`train`].

pub mod dataset;
pub mod encode;
pub mod explore;
pub mod kinds;
pub mod learned;
pub mod memo;
pub mod net;
pub mod train;

pub use encode::ExprGraph;
pub use learned::LearnedValue;
pub use net::{Shape, ValueError, ValueNet};
