//! Annealing from a guide's order skips the hot part of its schedule, so that the order survives: the less time, the more of it.

use super::style::{self, Style};
use crate::problem::Plan;
use labrys_dataflow::Graph;
use labrys_search::Runner;

/// Moves per op for which the temperature of a guide is meant: ten milliseconds for some hundred ops.
pub(super) const MOVES_PER_OP: f64 = 100.0;
/// The start temperature grows with this power of the number of moves, so that a long search begins as hot as without a guide.
const EXPONENT: f64 = 0.4;

/// With more moves per op than these a guide's order no longer is what matters, and may even be in the way.
const LONG: f64 = 1_000.0;
/// Moves that all walks do in a second, roughly.
const MOVES_PER_SECOND: f64 = 1e6;

/// A plan with a guide's order.
#[derive(Clone, Debug)]
pub struct GuidedPlan {
    /// The plan.
    pub plan: Plan,
    /// Where to begin if there is time for a hundred moves per op; as without a guide if it is none.
    pub temperature: Option<f64>,
}

/// How many walks should start as if there were no guide: one more in a long search, and one more where tensors come in few sizes.
/// There the peak is a plateau, and what is close to the guide's plan can be worse than what annealing finds by itself.
pub(super) fn unguided_walks(graph: &Graph, run: &Runner<Plan>) -> u64 {
    u64::from(is_long(graph, run)) + u64::from(style::has_few_sizes(graph))
}

/// Whether a search has time for more than [`LONG`] moves per op.
pub(super) fn is_long(graph: &Graph, run: &Runner<Plan>) -> bool {
    let by_time = run.time_left().map_or(f64::INFINITY, |time| time.as_secs_f64() * MOVES_PER_SECOND);
    by_time.min(run.work_left() as f64) > LONG * graph.op_count() as f64
}

/// The schedule of an annealing that began at some progress of its runner.
pub(super) struct WarmStart {
    /// Where to begin if there are [`MOVES_PER_OP`].
    temperature: f64,
    style: Style,
    ops: f64,
    first_progress: f64,
}

impl WarmStart {
    /// `progress` is that of the runner, now.
    pub fn new(temperature: f64, graph: &Graph, progress: f64) -> Self {
        let (style, ops) = (Style::for_graph(graph), graph.op_count().max(1) as f64);
        Self { temperature, style, ops, first_progress: progress }
    }

    /// Where in the schedule to be at some progress of the runner, after `done` moves of the annealing.
    pub fn progress(&self, progress: f64, done: u64) -> f64 {
        let share = ((progress - self.first_progress) / (1.0 - self.first_progress).max(1e-9)).clamp(0.0, 1.0);
        // How many moves there will be is known as soon as some are done.
        let moves_per_op = if share > 0.0 { done as f64 / share / self.ops } else { MOVES_PER_OP };
        let skipped = self.style.progress_at(self.temperature * (moves_per_op / MOVES_PER_OP).powf(EXPONENT));
        skipped + (1.0 - skipped) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use labrys_search::Seed;

    #[test]
    fn more_moves_begin_hotter_and_all_end_cold() {
        let graph = synthetic::graph(Seed(0), 0);
        let warm = WarmStart { ops: 100.0, ..WarmStart::new(0.5, &graph, 0.5) };
        let schedule = Style::for_graph(&graph);
        assert!((schedule.temperature(warm.progress(0.5, 0)) - 0.5).abs() < 1e-9, "nothing is known yet");
        let early = |done| warm.progress(0.501, done);
        assert!(early(20) > early(200) && early(200) > early(20_000), "10, 100 and 10,000 moves per op");
        assert!((early(20_000) - 0.002).abs() < 1e-9, "nothing is skipped");
        assert_eq!(warm.progress(1.0, 500_000), 1.0);
        let at_once = WarmStart { first_progress: 1.0, ..warm };
        assert!(at_once.progress(1.0, 0) < 1.0, "no time at all");
    }
}
