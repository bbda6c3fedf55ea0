//! Ranks that compute together: collectives behind one trait, with threads or MPI processes below it.
//!
//! A [`Transport`] moves bytes between ranks. A [`Communicator`] makes typed collectives of it, reduces in the order of
//! ranks, and counts what was sent. [`ExactSum`] adds numbers so that neither order nor grouping changes a bit: what is
//! summed that way does not depend on the number of ranks or threads.
//!
//! ```
//! use labrys_comm::{CommError, Communicator, threads};
//!
//! let sums = threads::run(3, |comm: &Communicator| -> Result<u64, CommError> {
//!     let mut value = [comm.rank() as u64];
//!     comm.all_reduce_sum(&mut value)?;
//!     Ok(value[0])
//! });
//! assert_eq!(sums.unwrap(), [3, 3, 3]);
//! ```
//!
//! Suggested reading order: [`transport`], [`communicator`], [`threads`], then [`exact`].

pub mod communicator;
mod error;
pub mod exact;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod threads;
pub mod traffic;
pub mod transport;

pub use communicator::{Communicator, Element};
pub use error::CommError;
pub use exact::ExactSum;
pub use traffic::{Collective, Traffic};
pub use transport::{Alone, Transport};
