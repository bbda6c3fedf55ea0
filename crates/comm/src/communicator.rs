//! Typed collectives. Reductions add in the order of ranks, so that every rank gets the same bits.

use crate::traffic::{Collective, Traffic};
use crate::transport::{Alone, Transport, starts};
use crate::{CommError, ExactSum};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use std::cell::Cell;
use std::ops::Range;

/// Up to so many bytes, the number of messages matters more than their lengths.
const FEW_BYTES: usize = 1024;

/// A value that ranks can send and add.
pub trait Element: Pod {
    /// Their sum; integers wrap around, so that their sums do not depend on any order.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

impl Element for f32 {
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl Element for f64 {
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl Element for i64 {
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Element for u32 {
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Element for u64 {
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// One rank's access to the collectives.
pub struct Communicator {
    transport: Box<dyn Transport>,
    traffic: Cell<Traffic>,
}

impl Communicator {
    /// Collectives over an engine.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self { transport: Box::new(transport), traffic: Cell::default() }
    }

    /// The only rank.
    pub fn alone() -> Self {
        Self::new(Alone)
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// A communicator of the ranks that give the same color, in the order of their ranks here. All ranks must call it.
    pub fn split(&self, color: usize) -> Result<Self, CommError> {
        Ok(Self { transport: self.transport.split(color)?, traffic: Cell::default() })
    }

    /// What this rank has sent so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    /// All ranks' values, in the order of ranks; `counts` says how many each rank has.
    pub fn all_gather<T: Element>(&self, own: &[T], counts: &[usize]) -> Result<Vec<T>, CommError> {
        let mut all = vec![T::zeroed(); counts.iter().sum()];
        self.all_gather_into(own, counts, &mut all)?;
        Ok(all)
    }

    /// [`all_gather`](Self::all_gather) into a buffer.
    pub fn all_gather_into<T: Element>(&self, own: &[T], counts: &[usize], all: &mut [T]) -> Result<(), CommError> {
        self.count(Collective::AllGather, size_of_val(own) * (self.size() - 1));
        self.gather(own, counts, all)
    }

    /// Sends `parts[r]` values of `send` to rank `r`; receives `counts[r]` values from rank `r`.
    pub fn all_to_all<T: Element>(&self, send: &[T], parts: &[usize], counts: &[usize]) -> Result<Vec<T>, CommError> {
        let mut received = vec![T::zeroed(); counts.iter().sum()];
        self.all_to_all_into(send, parts, counts, &mut received)?;
        Ok(received)
    }

    /// [`all_to_all`](Self::all_to_all) into a buffer.
    pub fn all_to_all_into<T: Element>(
        &self,
        send: &[T],
        parts: &[usize],
        counts: &[usize],
        received: &mut [T],
    ) -> Result<(), CommError> {
        self.count(Collective::AllToAll, size_of::<T>() * (send.len() - parts[self.rank()]));
        self.exchange(send, parts, received, counts)
    }

    /// One number from each rank to each, so that ranks learn how much is to come.
    pub fn all_to_all_counts(&self, parts: &[usize]) -> Result<Vec<usize>, CommError> {
        let send: Vec<u64> = parts.iter().map(|&part| part as u64).collect();
        let ones = vec![1; self.size()];
        Ok(self.all_to_all(&send, &ones, &ones)?.into_iter().map(|count| count as usize).collect())
    }

    /// The values of one rank, on all ranks. Other ranks' values are overwritten; lengths must agree.
    pub fn broadcast<T: Element>(&self, values: &mut [T], root: usize) -> Result<(), CommError> {
        let here = self.rank() == root;
        self.count(Collective::Broadcast, if here { size_of_val(values) * (self.size() - 1) } else { 0 });
        let own = if here { values.to_vec() } else { vec![] };
        let counts: Vec<usize> = (0..self.size()).map(|rank| if rank == root { values.len() } else { 0 }).collect();
        self.gather(&own, &counts, values)
    }

    /// Sums over ranks; every rank gets its part of them. `parts` says how many values each rank gets.
    pub fn reduce_scatter_sum<T: Element>(&self, values: &[T], parts: &[usize]) -> Result<Vec<T>, CommError> {
        let own = parts[self.rank()];
        self.count(Collective::ReduceScatter, size_of::<T>() * (values.len() - own));
        self.reduce_part(values, parts)
    }

    /// Sums over ranks, on every rank: a reduce-scatter and an all-gather, which together send least. Few values are sent
    /// by all to all instead, which takes one message less.
    pub fn all_reduce_sum<T: Element>(&self, values: &mut [T]) -> Result<(), CommError> {
        if size_of_val(values) <= FEW_BYTES {
            return self.all_reduce_few(values);
        }
        let parts: Vec<usize> = (0..self.size()).map(|rank| share(values.len(), self.size(), rank).len()).collect();
        let own = parts[self.rank()];
        self.count(Collective::AllReduce, size_of::<T>() * (values.len() - own + own * (self.size() - 1)));
        let sums = self.reduce_part(values, &parts)?;
        self.gather(&sums, &parts, values)
    }

    fn all_reduce_few<T: Element>(&self, values: &mut [T]) -> Result<(), CommError> {
        self.count(Collective::AllReduce, size_of_val(values) * (self.size() - 1));
        let mut all = vec![T::zeroed(); values.len() * self.size()];
        self.gather(values, &vec![values.len(); self.size()], &mut all)?;
        add_up(&all, values);
        Ok(())
    }

    /// Adds up exact sums over ranks: the result does not depend on their number.
    pub fn all_reduce_exact(&self, sum: &mut ExactSum) -> Result<(), CommError> {
        self.all_reduce_sum(sum.limbs_mut())
    }

    /// Waits for all ranks.
    pub fn barrier(&self) -> Result<(), CommError> {
        self.gather::<u64>(&[], &vec![0; self.size()], &mut [])
    }

    fn gather<T: Element>(&self, own: &[T], counts: &[usize], all: &mut [T]) -> Result<(), CommError> {
        self.transport.all_gather_v(cast_slice(own), cast_slice_mut(all), &in_bytes::<T>(counts))
    }

    fn exchange<T: Element>(
        &self,
        send: &[T],
        parts: &[usize],
        received: &mut [T],
        counts: &[usize],
    ) -> Result<(), CommError> {
        let (parts, counts) = (in_bytes::<T>(parts), in_bytes::<T>(counts));
        self.transport.all_to_all_v(cast_slice(send), &parts, cast_slice_mut(received), &counts)
    }

    fn reduce_part<T: Element>(&self, values: &[T], parts: &[usize]) -> Result<Vec<T>, CommError> {
        let own = parts[self.rank()];
        let mut received = vec![T::zeroed(); own * self.size()];
        self.exchange(values, parts, &mut received, &vec![own; self.size()])?;
        let mut sums = vec![T::zeroed(); own];
        add_up(&received, &mut sums);
        Ok(sums)
    }

    fn count(&self, collective: Collective, bytes: usize) {
        let mut traffic = self.traffic.get();
        traffic.count(collective, bytes);
        self.traffic.set(traffic);
    }
}

/// Which of `len` things a rank has if they are dealt out in blocks of nearly equal length.
pub fn share(len: usize, ranks: usize, rank: usize) -> Range<usize> {
    len * rank / ranks..len * (rank + 1) / ranks
}

/// Sums of as many values of each rank, rank by rank.
fn add_up<T: Element>(all: &[T], sums: &mut [T]) {
    let (first, others) = all.split_at(sums.len());
    sums.copy_from_slice(first);
    for part in others.chunks_exact(sums.len().max(1)) {
        sums.iter_mut().zip(part).for_each(|(sum, &value)| *sum = sum.plus(value));
    }
}

fn in_bytes<T>(counts: &[usize]) -> Vec<usize> {
    counts.iter().map(|count| count * size_of::<T>()).collect()
}

/// Splits received values by sender.
pub fn by_sender<'v, T>(values: &'v [T], counts: &[usize]) -> Vec<&'v [T]> {
    let starts = starts(counts);
    starts.windows(2).map(|range| &values[range[0]..range[1]]).collect()
}
