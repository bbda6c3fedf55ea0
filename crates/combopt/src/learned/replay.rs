//! Compressed experience (section 5.1): an episode is a graph's number and its actions, and a tuple is a step of an episode.
//!
//! 8 bytes a tuple. States are rebuilt on the fly from the graph and the actions so far.

use rand::{Rng, RngExt as _};
use std::collections::VecDeque;

/// One walk through an environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Episode {
    /// Which graph.
    pub graph: u32,
    /// Picked nodes.
    pub actions: Vec<u32>,
    /// What each was worth.
    pub rewards: Vec<f32>,
    /// Whether the last action completed the solution.
    pub done: bool,
}

/// The last so many steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    capacity: usize,
    episodes: VecDeque<Episode>,
    /// Tuples ever stored before each episode.
    starts: VecDeque<u64>,
    /// Tuples ever stored.
    stored: u64,
}

/// One experience: a state, an action, and what followed within n steps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tuple<'r> {
    /// Which graph.
    pub graph: u32,
    /// Actions that led to the state.
    pub before: &'r [u32],
    /// The action.
    pub action: u32,
    /// Discounted rewards of the action and those after it.
    pub rewards: f32,
    /// Actions that led to the state where the rewards end, and the discount there; none if the episode ended.
    pub after: Option<(&'r [u32], f32)>,
}

impl Replay {
    /// An empty memory for so many tuples.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, episodes: VecDeque::new(), starts: VecDeque::new(), stored: 0 }
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        (self.stored - self.starts.front().copied().unwrap_or(self.stored)) as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The episodes, oldest first.
    pub fn episodes(&self) -> impl Iterator<Item = &Episode> {
        self.episodes.iter()
    }

    /// The episode that is under way, if there is one.
    pub fn current(&self) -> Option<&Episode> {
        self.episodes.back().filter(|episode| !episode.done)
    }

    /// Begins an episode.
    pub fn begin(&mut self, graph: u32) {
        self.starts.push_back(self.stored);
        self.episodes.push_back(Episode { graph, ..Episode::default() });
    }

    /// Adds a step to the episode that is under way; forgets whole episodes when there are too many tuples.
    pub fn remember(&mut self, action: u32, reward: f32, done: bool) {
        if let Some(episode) = self.episodes.back_mut() {
            episode.actions.push(action);
            episode.rewards.push(reward);
            episode.done = done;
            self.stored += 1;
        }
        while self.len() > self.capacity && self.episodes.len() > 1 {
            self.episodes.pop_front();
            self.starts.pop_front();
        }
    }

    /// Puts back a saved episode.
    pub fn restore(&mut self, episode: Episode) {
        self.starts.push_back(self.stored);
        self.stored += episode.actions.len() as u64;
        self.episodes.push_back(episode);
    }

    /// A tuple drawn uniformly, with the rewards of up to `steps` steps.
    pub fn draw(&self, steps: usize, discount: f32, rng: &mut impl Rng) -> Option<Tuple<'_>> {
        let first = *self.starts.front()?;
        if self.is_empty() {
            return None;
        }
        let index = rng.random_range(first..self.stored);
        let episode = self.starts.partition_point(|&start| start <= index) - 1;
        let step = (index - self.starts[episode]) as usize;
        Some(tuple(&self.episodes[episode], step, steps, discount))
    }
}

fn tuple(episode: &Episode, step: usize, steps: usize, discount: f32) -> Tuple<'_> {
    let end = (step + steps).min(episode.actions.len());
    let rewards = episode.rewards[step..end].iter().rev().fold(0.0, |sum, reward| reward + discount * sum);
    let ended = episode.done && end == episode.actions.len();
    let after = (!ended).then(|| (&episode.actions[..end], discount.powi((end - step) as i32)));
    Tuple { graph: episode.graph, before: &episode.actions[..step], action: episode.actions[step], rewards, after }
}

#[cfg(test)]
mod tests {
    use super::*;
    use labrys_search::Seed;

    #[test]
    fn tuples_hold_n_steps_and_old_episodes_are_forgotten() {
        let mut replay = Replay::new(6);
        for graph in 0..3 {
            replay.begin(graph);
            for action in 0..4 {
                replay.remember(action, 1.0, action == 3);
            }
        }
        assert_eq!((replay.len(), replay.episodes().count()), (4, 1));
        let mut rng = Seed(0).stream("test", 0);
        for _ in 0..20 {
            let tuple = replay.draw(2, 0.5, &mut rng).unwrap();
            let step = tuple.before.len();
            assert_eq!((tuple.graph, tuple.action as usize), (2, step));
            assert_eq!(tuple.rewards, if step == 3 { 1.0 } else { 1.5 });
            assert_eq!(
                tuple.after.map(|(after, discount)| (after.len(), discount)),
                (step < 2).then_some((step + 2, 0.25))
            );
        }
    }
}
