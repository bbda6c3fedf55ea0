//! Ranks as processes under `mpirun`.

use crate::transport::{Transport, starts};
use crate::{CommError, Communicator};
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::{Communicator as _, CommunicatorCollectives as _};

/// Runs a function as one rank of the world that `mpirun` started, or as the only rank without it.
///
/// A rank that returns an error or panics ends the whole run: MPI has no other way to free those that wait for it.
pub fn run<T, E: std::fmt::Display>(
    body: impl FnOnce(&Communicator) -> Result<T, E>,
    report: impl FnOnce(&E),
) -> Result<T, CommError> {
    let universe = mpi::initialize().ok_or_else(|| CommError::Start("it is running already".into()))?;
    let guard = AbortUnlessDone(universe.world());
    let communicator = Communicator::new(World { world: universe.world() });
    match body(&communicator) {
        Ok(value) => {
            std::mem::forget(guard);
            drop(universe);
            Ok(value)
        }
        Err(error) => {
            report(&error);
            guard.0.abort(1)
        }
    }
}

struct AbortUnlessDone(SimpleCommunicator);

impl Drop for AbortUnlessDone {
    fn drop(&mut self) {
        self.0.abort(1);
    }
}

struct World {
    world: SimpleCommunicator,
}

impl Transport for World {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn all_gather_v(&self, send: &[u8], recv: &mut [u8], counts: &[usize]) -> Result<(), CommError> {
        let (counts, places) = (in_32_bits(counts)?, in_32_bits(&starts(counts))?);
        let mut recv = PartitionMut::new(recv, &counts[..], &places[..counts.len()]);
        self.world.all_gather_varcount_into(send, &mut recv);
        Ok(())
    }

    fn all_to_all_v(
        &self,
        send: &[u8],
        send_counts: &[usize],
        recv: &mut [u8],
        recv_counts: &[usize],
    ) -> Result<(), CommError> {
        let (sent, from) = (in_32_bits(send_counts)?, in_32_bits(&starts(send_counts))?);
        let (received, to) = (in_32_bits(recv_counts)?, in_32_bits(&starts(recv_counts))?);
        let send = Partition::new(send, &sent[..], &from[..sent.len()]);
        let mut recv = PartitionMut::new(recv, &received[..], &to[..received.len()]);
        self.world.all_to_all_varcount_into(&send, &mut recv);
        Ok(())
    }

    fn split(&self, color: usize) -> Result<Box<dyn Transport>, CommError> {
        let color = i32::try_from(color).map_err(|_| CommError::TooLarge { bytes: color })?;
        match self.world.split_by_color(Color::with_value(color)) {
            Some(world) => Ok(Box::new(World { world })),
            None => Err(CommError::Start("a part of the world is empty".into())),
        }
    }
}

/// MPI's counts.
fn in_32_bits(counts: &[usize]) -> Result<Vec<i32>, CommError> {
    let convert = |&bytes: &usize| i32::try_from(bytes).map_err(|_| CommError::TooLarge { bytes });
    counts.iter().map(convert).collect()
}
