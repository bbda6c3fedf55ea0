//! Tabu search by single moves (Kochenberger et al. 2013) with breakouts (Benlic & Hao 2013).

use super::State;
use labrys_search::seed::Rng;
use rand::RngExt as _;

/// A search that can be continued at any time.
pub struct Tabu {
    state: State,
    best: Vec<bool>,
    best_cut: i64,
    /// Best of the current descent, which a breakout ends.
    local_cut: i64,
    /// Step until which a node must stay.
    tabu_until: Vec<u64>,
    step: u64,
    since_better: u64,
    breakouts: u64,
    rng: Rng,
}

impl Tabu {
    /// Begins with a cut.
    pub fn new(state: State, rng: Rng) -> Self {
        let best = state.side().to_vec();
        let (best_cut, n) = (state.cut(), state.nodes());
        Self {
            state,
            best,
            best_cut,
            local_cut: best_cut,
            tabu_until: vec![0; n],
            step: 0,
            since_better: 0,
            breakouts: 0,
            rng,
        }
    }

    /// The heaviest cut so far.
    pub fn best(&self) -> (i64, &[bool]) {
        (self.best_cut, &self.best)
    }

    /// Makes so many moves.
    pub fn run(&mut self, steps: u64) {
        let n = self.state.nodes() as u64;
        // Without a better cut for so long a breakout is due.
        let patience = 4 * n + 1_000;
        for _ in 0..steps {
            self.step += 1;
            let Some(v) = self.best_move() else { continue };
            self.state.flip(v);
            self.tabu_until[v as usize] = self.step + n / 100 + self.rng.random_range(3..=13);
            self.since_better += 1;
            if self.state.cut() > self.local_cut {
                (self.local_cut, self.since_better) = (self.state.cut(), 0);
                self.keep();
            }
            if self.since_better > patience {
                self.break_out();
            }
        }
    }

    fn keep(&mut self) {
        if self.state.cut() > self.best_cut {
            self.best_cut = self.state.cut();
            self.best.copy_from_slice(self.state.side());
            self.breakouts = 0;
        }
    }

    /// The move of the highest gain that is not tabu, or that leads to a new best; ties by chance.
    fn best_move(&mut self) -> Option<u32> {
        let aspired = self.best_cut - self.state.cut();
        let (mut best, mut best_gain, mut ties) = (None, i64::MIN, 0u32);
        for (v, &gain) in self.state.gains().iter().enumerate() {
            if gain < best_gain || (self.tabu_until[v] > self.step && gain <= aspired) {
                continue;
            }
            if gain > best_gain {
                (best, best_gain, ties) = (Some(v as u32), gain, 1);
            } else {
                ties += 1;
                if self.rng.random_range(0..ties) == 0 {
                    best = Some(v as u32);
                }
            }
        }
        best
    }

    /// Moves random nodes, more from one breakout to the next; now and then from the best cut again.
    fn break_out(&mut self) {
        let n = self.state.nodes();
        self.breakouts += 1;
        if self.breakouts.is_multiple_of(8) {
            let best = self.best.clone();
            self.state.reset(&best);
        }
        let moves = n / 50 + 1 + (self.breakouts as usize % 8) * (n / 40);
        for _ in 0..moves {
            let v = self.rng.random_range(0..n) as u32;
            self.state.flip(v);
            self.tabu_until[v as usize] = self.step + self.rng.random_range(3..=13);
        }
        (self.local_cut, self.since_better) = (self.state.cut(), 0);
    }
}
