//! Choosing nodes: all ranks come to the same choice.

use super::sample::Sample;
use labrys_comm::{CommError, Communicator};
use rand::{Rng, RngExt as _};
use std::cmp::Ordering;

/// A node with its score.
type Scored = (f32, u32);

/// Best first: higher scores, then lower numbers. What is not a number comes last.
pub(crate) fn better(a: &Scored, b: &Scored) -> Ordering {
    let key = |score: f32| if score.is_nan() { f32::NEG_INFINITY } else { score };
    key(b.0).total_cmp(&key(a.0)).then(a.1.cmp(&b.1))
}

/// The best `count` candidates of all ranks by the scores of local rows, best first; fewer if there are not so many.
pub fn best(comm: &Communicator, state: &Sample<'_>, scores: &[f32], count: usize) -> Result<Vec<u32>, CommError> {
    let first = state.graph.block().start as u32;
    let candidates = scores.iter().zip(&state.candidates).zip(first..).filter(|((_, candidate), _)| **candidate);
    let mut own: Vec<Scored> = candidates.map(|((&score, _), node)| (score, node)).collect();
    keep_best(&mut own, count);
    if comm.size() > 1 {
        own = gather(comm, &own, count)?;
        keep_best(&mut own, count);
    }
    Ok(own.into_iter().map(|(_, node)| node).collect())
}

fn keep_best(scored: &mut Vec<Scored>, count: usize) {
    if count == 0 {
        return scored.clear();
    }
    if scored.len() > count {
        scored.select_nth_unstable_by(count - 1, better);
        scored.truncate(count);
    }
    scored.sort_unstable_by(better);
}

/// The best of each rank, on all ranks; a score and its node travel as one number.
fn gather(comm: &Communicator, own: &[Scored], count: usize) -> Result<Vec<Scored>, CommError> {
    const NOBODY: u32 = u32::MAX;
    let pack = |&(score, node): &Scored| u64::from(score.to_bits()) << 32 | u64::from(node);
    let mut packed: Vec<u64> = own.iter().map(pack).collect();
    packed.resize(count, u64::from(NOBODY));
    let all = comm.all_gather(&packed, &vec![count; comm.size()])?;
    let unpacked = all.into_iter().map(|packed| (f32::from_bits((packed >> 32) as u32), packed as u32));
    Ok(unpacked.filter(|&(_, node)| node != NOBODY).collect())
}

/// Number of candidates on each rank.
fn candidates(comm: &Communicator, state: &Sample<'_>) -> Result<Vec<u64>, CommError> {
    let own = state.candidates.iter().filter(|&&candidate| candidate).count() as u64;
    comm.all_gather(&[own], &vec![1; comm.size()])
}

/// Number of candidates on all ranks.
pub fn candidate_count(comm: &Communicator, state: &Sample<'_>) -> Result<u64, CommError> {
    Ok(candidates(comm, state)?.into_iter().sum())
}

/// A candidate drawn uniformly. All ranks must have equal generators.
pub fn random(comm: &Communicator, state: &Sample<'_>, rng: &mut impl Rng) -> Result<Option<u32>, CommError> {
    let counts = candidates(comm, state)?;
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return Ok(None);
    }
    let index = rng.random_range(0..total);
    let before: u64 = counts[..comm.rank()].iter().sum();
    let first = state.graph.block().start as u32;
    let mut own = state.candidates.iter().zip(first..).filter(|(candidate, _)| **candidate).map(|(_, node)| node);
    let here = (before..before + counts[comm.rank()]).contains(&index);
    // Each rank but the owner gives 0.
    let mut node = [if here { own.nth((index - before) as usize).map_or(0, |node| node) } else { 0 }];
    comm.all_reduce_sum(&mut node)?;
    Ok(Some(node[0]))
}
