//! Bringing rows of other ranks here.

use super::blocks::{ExchangeMode, Halo, LocalGraph};
use super::buffers::Buffer;
use super::sample::Batch;
use labrys_comm::{CommError, Communicator};
use std::ops::Deref;

/// The rows of all positions.
pub(crate) enum Rows<'r> {
    /// One rank's are all.
    Local(&'r [f32]),
    /// Brought together.
    All(Buffer),
}

impl Deref for Rows<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Self::Local(rows) => rows,
            Self::All(rows) => rows,
        }
    }
}

/// The rows of all positions of a batch, from the local rows of each rank.
pub(crate) fn exchange<'r>(
    comm: &Communicator,
    mode: ExchangeMode,
    batch: &Batch<'_>,
    local: &'r [f32],
    width: usize,
) -> Result<Rows<'r>, CommError> {
    if comm.size() == 1 {
        return Ok(Rows::Local(local));
    }
    Ok(Rows::All(match mode {
        ExchangeMode::AllReduce => all_reduce(comm, batch, local, width)?,
        ExchangeMode::AllGather => all_gather(comm, batch, local, width)?,
        ExchangeMode::Halo => halo(comm, batch, local, width)?,
    }))
}

/// Local rows of a state within `local`.
fn rows_of<'r>(batch: &Batch<'_>, sample: usize, local: &'r [f32], width: usize) -> &'r [f32] {
    &local[batch.starts[sample] * width..batch.starts[sample + 1] * width]
}

fn all_reduce(comm: &Communicator, batch: &Batch<'_>, local: &[f32], width: usize) -> Result<Buffer, CommError> {
    let mut buffer = Buffer::of_anything(batch.positions[batch.samples.len()] * width);
    buffer.fill(0.0);
    for (sample, state) in batch.samples.iter().enumerate() {
        let start = (batch.positions[sample] + state.graph.block().start) * width;
        let rows = rows_of(batch, sample, local, width);
        buffer[start..start + rows.len()].copy_from_slice(rows);
    }
    comm.all_reduce_sum(&mut buffer)?;
    Ok(buffer)
}

fn all_gather(comm: &Communicator, batch: &Batch<'_>, local: &[f32], width: usize) -> Result<Buffer, CommError> {
    let block = |graph: &LocalGraph, rank: usize| graph.starts[rank + 1] - graph.starts[rank];
    let of_rank = |rank: usize| batch.samples.iter().map(|state| block(state.graph, rank) * width).sum();
    let counts: Vec<usize> = (0..comm.size()).map(of_rank).collect();
    let mut all = Buffer::of_anything(counts.iter().sum());
    comm.all_gather_into(local, &counts, &mut all)?;
    if batch.samples.len() == 1 {
        return Ok(all);
    }
    // Rank by rank, state by state, to state by state, rank by rank.
    let mut buffer = Buffer::of_anything(all.len());
    let mut from = 0;
    for rank in 0..comm.size() {
        for (sample, state) in batch.samples.iter().enumerate() {
            let to = (batch.positions[sample] + state.graph.starts[rank]) * width;
            let length = block(state.graph, rank) * width;
            buffer[to..to + length].copy_from_slice(&all[from..from + length]);
            from += length;
        }
    }
    Ok(buffer)
}

fn halo(comm: &Communicator, batch: &Batch<'_>, local: &[f32], width: usize) -> Result<Buffer, CommError> {
    let (send, parts) = wanted(comm, batch, local, width);
    let from = |rank: usize| halos(batch).map(|(_, halo)| halo.from[rank] * width).sum();
    let counts: Vec<usize> = (0..comm.size()).map(from).collect();
    let mut buffer = Buffer::of_anything(batch.positions[batch.samples.len()] * width);
    let mut places: Vec<usize> = vec![];
    for sample in 0..batch.samples.len() {
        let start = batch.positions[sample] * width;
        let rows = rows_of(batch, sample, local, width);
        buffer[start..start + rows.len()].copy_from_slice(rows);
        places.push(start + rows.len());
    }
    if let [place] = places[..] {
        comm.all_to_all_into(&send, &parts, &counts, &mut buffer[place..])?;
        return Ok(buffer);
    }
    let mut received = Buffer::of_anything(counts.iter().sum());
    comm.all_to_all_into(&send, &parts, &counts, &mut received)?;
    // Rank by rank, state by state, to state by state, rank by rank.
    let mut from = 0;
    for rank in 0..comm.size() {
        for (sample, halo) in halos(batch) {
            let (to, length) = (places[sample], halo.from[rank] * width);
            buffer[to..to + length].copy_from_slice(&received[from..from + length]);
            (places[sample], from) = (to + length, from + length);
        }
    }
    Ok(buffer)
}

/// Local rows that other ranks need, rank by rank, and how many values each gets.
fn wanted(comm: &Communicator, batch: &Batch<'_>, local: &[f32], width: usize) -> (Buffer, Vec<usize>) {
    let to = |rank: usize| halos(batch).map(|(_, halo)| halo.to[rank].len() * width).sum();
    let parts: Vec<usize> = (0..comm.size()).map(to).collect();
    let mut send = Buffer::of_anything(parts.iter().sum());
    let mut places = send.chunks_exact_mut(width);
    for rank in 0..comm.size() {
        for (sample, halo) in halos(batch) {
            let rows = rows_of(batch, sample, local, width);
            for (&row, place) in halo.to[rank].iter().zip(&mut places) {
                place.copy_from_slice(&rows[row as usize * width..][..width]);
            }
        }
    }
    (send, parts)
}

/// Which rows of each state travel.
fn halos<'b>(batch: &'b Batch<'_>) -> impl Iterator<Item = (usize, &'b Halo)> {
    batch.samples.iter().enumerate().filter_map(|(sample, state)| Some((sample, state.graph.halo()?)))
}
