//! Run time over free synchronous links, the paper's setting.
//!
//! A transfer that costs nothing is still a rendezvous: it waits until both devices have finished what stands before it. A
//! schedule is therefore a sequence of *super-steps*. Within one, an op may use what earlier super-steps produced anywhere
//! and what its own device has produced in this one; control edges only say what starts after what. For two devices the
//! makespan is half the total time plus half the sum over super-steps of the difference of the two loads, so that a good
//! schedule either meets often at moments when the loads are even, or seldom.
//!
//! Suggested reading order: [`schedule`], [`list`], [`priority`], [`perturb`], [`anneal`].

pub mod anneal;
pub(crate) mod arcs;
pub(crate) mod list;
pub mod perturb;
pub(crate) mod priority;
pub(crate) mod queue;
pub(crate) mod schedule;

use crate::problem::{Plan, Problem, Transfers};
use crate::simulate::Simulator;
use arcs::Arcs;
use labrys_search::{Limits, Runner};
use list::ListDecoder;
use priority::Priorities;

/// Whether transfers are pure rendezvous, so that this module is the right one.
pub fn applies(problem: &Problem) -> bool {
    problem.transfers == Transfers::Synchronous && problem.has_free_links()
}

/// How long a device waits for others, as a share of the mean run time of an op. The best single value comes first.
const THRESHOLDS: [f64; 6] = [0.1, 0.03, 0.2, 0.0, 0.4, 0.05];

/// Offers the plans of list scheduling with every priority and threshold, each under the name of its priority, until the runner
/// stops; the first one always.
pub fn constructive(problem: &Problem, run: &mut Runner<Plan>) {
    let arcs = Arcs::new(&problem.graph);
    let priorities = Priorities::new(problem);
    let mut decoder = ListDecoder::new(problem, &arcs);
    let mut simulator = Simulator::new(problem);
    let mut best = u64::MAX;
    for (name, priority) in &priorities.all {
        decoder.rank_by(|op| priority[op.0 as usize]);
        for share in THRESHOLDS {
            let makespan = decoder.decode((share * priorities.mean as f64) as u64);
            run.spend(1);
            if makespan < best {
                best = makespan;
                let plan = decoder.schedule().plan(problem);
                run.offer(problem.score(&simulator.simulate(&plan)), name, || plan);
            }
            if run.should_stop() {
                return;
            }
        }
    }
}

/// Share of the time that goes to random keys; annealing has the rest.
const KEYS_SHARE: f64 = 0.7;
/// Ops that random keys decode in all, about, under a limit on work: some tenths of a second. Decoding an order is one unit of
/// work as a move of annealing is, but takes a hundred times as long.
const KEYS_OPS: u64 = 4_000_000;

/// Improves `start` until the runner stops: random keys first, then annealing from the best plan so far.
pub fn improve(problem: &Problem, start: &Plan, run: &mut Runner<Plan>) {
    let limits = run.set_limits(Limits::default());
    let keys = KEYS_OPS / problem.graph.op_count() as u64;
    run.set_limits(Limits {
        work: limits.work.map(|work| run.work() + (work.saturating_sub(run.work()) / 2).min(keys)),
        time: limits.time.map(|time| run.elapsed() + time.saturating_sub(run.elapsed()).mul_f64(KEYS_SHARE)),
    });
    perturb::perturb(problem, run);
    run.set_limits(limits);
    let best = run.best().map_or(start, |(_, plan)| plan).clone();
    anneal::anneal(problem, &best, run);
}
