//! The solver for max cut: greedy, reductions, then exact search if little is left, else annealing and tabu search in turns.

use super::reduce::{self, Reduced};
use super::tabu::Tabu;
use super::{State, anneal, bound, exact, greedy};
use crate::guide::NodeGuide;
use labrys_graph::Graph;
use labrys_search::{Runner, Score};

/// What the solver may use; each is a switch, so that what it is worth can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Reductions.
    pub reductions: bool,
    /// Annealing.
    pub anneal: bool,
    /// Tabu search with breakouts.
    pub tabu: bool,
    /// Exact search.
    pub exact: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self { reductions: true, anneal: true, tabu: true, exact: true }
    }
}

/// Weight of all positive edges. Scores are what a cut misses of it.
pub fn total_positive(graph: &Graph) -> i64 {
    graph.weighted_edges().map(|(_, weight)| weight.max(0)).sum()
}

/// Larger kernels are not tried exactly.
const MOST_EXACT: usize = 80;
/// Nodes of the exact search before it gives up: about a second.
const EXACT_BUDGET: u64 = 20_000_000;
/// Tabu search looks at every node for each move: above this annealing alone is better.
const MOST_TABU: usize = 5_000;
/// Work without any limit: sweeps over the kernel.
const DEFAULT_SWEEPS: u64 = 20_000;

/// Looks for the heaviest cut; the runner gets every improvement and the best bound.
pub fn solve(graph: &Graph, guide: Option<&NodeGuide>, switches: Switches, run: &mut Runner<Vec<bool>>) {
    let total = total_positive(graph);
    run.raise_bound((total - bound::upper_bound(graph)) as u64);
    let mut search = Search { graph, total, run };
    search.offer("greedy", &greedy::by_degree(graph));
    if let Some(guide) = guide {
        search.offer("guide", &greedy::by_advice(graph, &guide.advise(graph)));
    }
    let watch = search.run.stopwatch();
    let reduced = match switches.reductions {
        true => reduce::reduce(graph, &mut || watch.rings()),
        false => reduce::none(graph),
    };
    // An empty kernel needs no search: lifting is the optimum.
    let most = if switches.exact { MOST_EXACT } else { 0 };
    if reduced.kernel.nodes() <= most && search.exact(&reduced) {
        return;
    }
    if search.run.work_left() == u64::MAX && search.run.time_left().is_none() {
        search.run.limit_work(DEFAULT_SWEEPS * reduced.kernel.nodes() as u64);
    }
    search.improve(&reduced, switches);
}

/// Share of the limits at which each phase ends, and whether it is tabu search.
const PHASES: [(f64, bool); 6] = [(0.03, false), (0.10, true), (0.30, false), (0.40, true), (0.80, false), (1.0, true)];

struct Search<'a> {
    graph: &'a Graph,
    total: i64,
    run: &'a mut Runner<Vec<bool>>,
}

impl Search<'_> {
    /// Offers a cut of the graph after a descent.
    fn offer(&mut self, by: &'static str, side: &[bool]) {
        let mut state = State::new(self.graph, side);
        state.descend();
        let value = (self.total - state.cut()) as u64;
        self.run.offer(Score::feasible(value), by, || state.side().to_vec());
    }

    /// Whether the kernel was solved.
    fn exact(&mut self, reduced: &Reduced) -> bool {
        let watch = self.run.stopwatch();
        let mut left = EXACT_BUDGET;
        let solved = exact::heaviest_cut(&reduced.kernel, &mut |work| {
            left = left.saturating_sub(work);
            left == 0 || (left.is_multiple_of(1_024) && watch.rings())
        });
        if let Some((_, side)) = &solved {
            self.offer("exact search", &reduced.lift(side));
            if let Some(best) = self.run.best_score() {
                self.run.raise_bound(best.value);
            }
        }
        solved.is_some()
    }

    fn improve(&mut self, reduced: &Reduced, switches: Switches) {
        let n = reduced.kernel.nodes();
        let tabu = switches.tabu && n <= MOST_TABU;
        let mut begin = self.run.progress();
        for (i, &(end, is_tabu)) in PHASES.iter().enumerate() {
            let (is_tabu, end) = (tabu && (is_tabu || !switches.anneal), end.max(begin));
            if self.run.should_stop() || !(is_tabu || switches.anneal) {
                return;
            }
            if is_tabu {
                self.tabu(reduced, end, i as u64);
            } else {
                self.anneal(reduced, begin..end, i as u64);
            }
            begin = end;
        }
    }

    /// Anneals while the progress of the run goes from the begin of a phase to its end.
    fn anneal(&mut self, reduced: &Reduced, phase: std::ops::Range<f64>, number: u64) {
        let n = reduced.kernel.nodes();
        let mut rng = self.run.seed().stream("anneal", number);
        let thresholds = anneal::Thresholds::new(&mut rng);
        let mut state = State::new(&reduced.kernel, &vec![false; n]);
        let schedule = anneal::schedule(&state);
        let (mut best_cut, mut best) = (i64::MIN, vec![]);
        // Small graphs are swept often between looks at the clock.
        let sweeps = 4_096 / n.max(1) + 1;
        loop {
            let done = (self.run.progress() - phase.start) / (phase.end - phase.start).max(1e-9);
            if done >= 1.0 || self.run.should_stop() {
                break;
            }
            for _ in 0..sweeps {
                anneal::sweep(&mut state, schedule.temperature(done), &thresholds, &mut rng);
            }
            self.run.spend((sweeps * n) as u64);
            // Hot states are far from good: only the second half is looked at.
            if done > 0.5 && state.cut() > best_cut {
                best_cut = state.cut();
                best.clear();
                best.extend_from_slice(state.side());
            }
        }
        if !best.is_empty() {
            self.offer("annealing", &reduced.lift(&best));
        }
        self.offer("annealing", &reduced.lift(state.side()));
    }

    fn tabu(&mut self, reduced: &Reduced, end: f64, number: u64) {
        let n = reduced.kernel.nodes();
        let start = self.run.best().map_or_else(|| vec![false; n], |(_, side)| reduced.restrict(side));
        let mut tabu = Tabu::new(State::new(&reduced.kernel, &start), self.run.seed().stream("tabu", number));
        let mut known = tabu.best().0;
        let steps = (100_000 / n.max(1) + 1) as u64;
        while self.run.progress() < end && !self.run.should_stop() {
            tabu.run(steps);
            self.run.spend(steps * n as u64);
            if tabu.best().0 > known {
                known = tabu.best().0;
                self.offer("tabu search", &reduced.lift(tabu.best().1));
            }
        }
    }
}
