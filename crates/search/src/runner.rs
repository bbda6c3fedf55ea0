//! The one shape of every search: limits, incumbents, a trace and an honest stop reason.

use crate::{Score, Seed};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When to stop. No limit at all means: when the method itself is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Wall-clock time, counted from [`Runner::new`]. Results under it may vary from run to run.
    pub time: Option<Duration>,
    /// Units of work: candidate solutions looked at, whether evaluated in full or by an incremental move. Reproducible.
    pub work: Option<u64>,
}

/// Which limit, or what else, ended a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The objective met the proven bound.
    Optimal,
    /// The method had nothing more to try.
    Finished,
    /// [`Limits::time`].
    TimeLimit,
    /// [`Limits::work`].
    WorkLimit,
    /// The user asked for it.
    Interrupted,
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Optimal => "proven optimal",
            Self::Finished => "finished",
            Self::TimeLimit => "time limit",
            Self::WorkLimit => "work limit",
            Self::Interrupted => "interrupted",
        })
    }
}

/// One improvement of the best solution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Incumbent {
    /// Since the start of the search.
    pub time: Duration,
    /// Work done by then.
    pub work: u64,
    /// The new best.
    pub score: Score,
    /// Which method found it.
    pub by: &'static str,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Outcome<S> {
    /// The best solution with its score, if any was found.
    pub best: Option<(Score, S)>,
    /// Every improvement, oldest first.
    pub trace: Vec<Incumbent>,
    /// What ended the search.
    pub stop: StopReason,
    /// Wall-clock time used.
    pub time: Duration,
    /// Work done.
    pub work: u64,
}

/// A clock and an interrupt flag that worker threads may look at.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    deadline: Option<Instant>,
    interrupt: Arc<AtomicBool>,
}

impl Stopwatch {
    /// Whether to stop at once: time is up or the user interrupted. Costs one clock read, so ask every few microseconds at most.
    pub fn rings(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed) || self.deadline.is_some_and(|d| Instant::now() >= d)
    }
}

/// Called with each new incumbent: a progress bar, a log.
pub type Listener = Box<dyn FnMut(&Incumbent) + Send>;

/// Runs a search: keeps the best solution, counts work and time, and says when to stop.
pub struct Runner<S> {
    limits: Limits,
    seed: Seed,
    bound: Option<u64>,
    interrupt: Arc<AtomicBool>,
    listener: Option<Listener>,
    started: Instant,
    work: u64,
    best: Option<(Score, S)>,
    trace: Vec<Incumbent>,
    stop: Option<StopReason>,
}

impl<S> Runner<S> {
    /// Starts the clock.
    pub fn new(limits: Limits, seed: Seed) -> Self {
        Self {
            limits,
            seed,
            bound: None,
            interrupt: Arc::default(),
            listener: None,
            started: Instant::now(),
            work: 0,
            best: None,
            trace: vec![],
            stop: None,
        }
    }

    /// A proven lower bound on the objective: meeting it ends the search as [`StopReason::Optimal`].
    #[must_use]
    pub fn with_bound(mut self, bound: u64) -> Self {
        self.bound = Some(bound);
        self
    }

    /// A better proven lower bound, found on the way.
    pub fn raise_bound(&mut self, bound: u64) {
        self.bound = self.bound.max(Some(bound));
    }

    /// A flag that ends the search when it becomes true (Ctrl-C).
    #[must_use]
    pub fn with_interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupt = flag;
        self
    }

    /// Somebody to tell of each new incumbent.
    #[must_use]
    pub fn with_listener(mut self, listener: Listener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The seed that all streams derive from.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The proven bound, if there is one.
    pub fn bound(&self) -> Option<u64> {
        self.bound
    }

    /// Best score so far.
    pub fn best_score(&self) -> Option<Score> {
        self.best.as_ref().map(|(score, _)| *score)
    }

    /// Best solution so far.
    pub fn best(&self) -> Option<&(Score, S)> {
        self.best.as_ref()
    }

    /// Work done so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Wall-clock time so far.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Work left under the limit, `u64::MAX` without one.
    pub fn work_left(&self) -> u64 {
        self.limits.work.map_or(u64::MAX, |limit| limit.saturating_sub(self.work))
    }

    /// Time left under the limit, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        self.limits.time.map(|limit| limit.saturating_sub(self.elapsed()))
    }

    /// Share of the tighter limit that is used up, in [0, 1]; 0 without limits. Drives temperature schedules.
    pub fn progress(&self) -> f64 {
        let work = self.limits.work.map_or(0.0, |limit| self.work as f64 / limit.max(1) as f64);
        let time = self.limits.time.map_or(0.0, |limit| self.elapsed().as_secs_f64() / limit.as_secs_f64().max(1e-9));
        work.max(time).min(1.0)
    }

    /// The clock and the interrupt flag, for worker threads.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch {
            deadline: self.limits.time.and_then(|t| self.started.checked_add(t)),
            interrupt: Arc::clone(&self.interrupt),
        }
    }

    /// Narrows the limits for one phase of a search; returns the old ones for [`set_limits`](Self::set_limits). Whether to
    /// stop is then asked afresh.
    pub fn set_limits(&mut self, limits: Limits) -> Limits {
        self.stop = None;
        std::mem::replace(&mut self.limits, limits)
    }

    /// A runner for a search within this one, with a share of the limits that are left: same interrupt, its own seed and best.
    #[must_use]
    pub fn part<T>(&self, share: f64, label: &str) -> Runner<T> {
        let limits = Limits {
            time: self.time_left().map(|time| time.mul_f64(share)),
            work: self.limits.work.map(|_| (self.work_left() as f64 * share) as u64),
        };
        Runner::new(limits, self.seed.derive(label, 0)).with_interrupt(Arc::clone(&self.interrupt))
    }

    /// Lowers the work limit to `most` if it is higher.
    pub fn limit_work(&mut self, most: u64) {
        self.limits.work = Some(self.limits.work.map_or(most, |work| work.min(most)));
    }

    /// Counts work.
    pub fn spend(&mut self, work: u64) {
        self.work = self.work.saturating_add(work);
    }

    /// Offers a solution; it is built and kept only if it is better than the best so far. Says whether it was.
    pub fn offer(&mut self, score: Score, by: &'static str, solution: impl FnOnce() -> S) -> bool {
        if self.best.as_ref().is_some_and(|(best, _)| *best <= score) {
            return false;
        }
        self.best = Some((score, solution()));
        let incumbent = Incumbent { time: self.elapsed(), work: self.work, score, by };
        self.trace.push(incumbent);
        if let Some(listener) = &mut self.listener {
            listener(&incumbent);
        }
        true
    }

    /// Whether a limit is reached; remembers which. Reads the clock.
    pub fn should_stop(&mut self) -> bool {
        if self.stop.is_none() {
            self.stop = self.reached();
        }
        self.stop.is_some()
    }

    fn reached(&self) -> Option<StopReason> {
        let met = |best: Score| best.is_feasible() && self.bound.is_some_and(|bound| best.value <= bound);
        if self.best_score().is_some_and(met) {
            Some(StopReason::Optimal)
        } else if self.interrupt.load(Ordering::Relaxed) {
            Some(StopReason::Interrupted)
        } else if self.limits.work.is_some_and(|limit| self.work >= limit) {
            Some(StopReason::WorkLimit)
        } else if self.limits.time.is_some_and(|limit| self.elapsed() >= limit) {
            Some(StopReason::TimeLimit)
        } else {
            None
        }
    }

    /// Ends the search.
    pub fn finish(mut self) -> Outcome<S> {
        self.should_stop();
        Outcome {
            time: self.elapsed(),
            best: self.best,
            trace: self.trace,
            stop: self.stop.unwrap_or(StopReason::Finished),
            work: self.work,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(limits: Limits) -> Runner<u32> {
        Runner::new(limits, Seed(0)).with_bound(5)
    }

    #[test]
    fn keeps_the_first_of_equals_and_logs_each_improvement() {
        let mut run = runner(Limits::default());
        assert!(run.offer(Score::feasible(9), "a", || 1));
        assert!(!run.offer(Score::feasible(9), "b", || 2));
        assert!(run.offer(Score::feasible(8), "c", || 3));
        let outcome = run.finish();
        assert_eq!(outcome.best, Some((Score::feasible(8), 3)));
        assert_eq!(outcome.trace.iter().map(|i| i.by).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(outcome.stop, StopReason::Finished);
    }

    #[test]
    fn says_what_stopped_it() {
        let mut run = runner(Limits { work: Some(3), time: None });
        run.spend(3);
        assert!(run.should_stop());
        run.offer(Score::feasible(5), "late", || 1);
        assert_eq!(run.finish().stop, StopReason::WorkLimit, "the first reason stands");

        let mut run = runner(Limits::default());
        run.offer(Score { excess: 1, value: 0 }, "infeasible", || 1);
        assert!(!run.should_stop());
        run.offer(Score::feasible(5), "optimal", || 1);
        assert_eq!(run.finish().stop, StopReason::Optimal);

        let flag = Arc::new(AtomicBool::new(true));
        let run = runner(Limits::default()).with_interrupt(flag);
        assert_eq!(run.finish().stop, StopReason::Interrupted);
        let run = runner(Limits { time: Some(Duration::ZERO), work: None });
        assert_eq!(run.finish().stop, StopReason::TimeLimit);
    }
}
