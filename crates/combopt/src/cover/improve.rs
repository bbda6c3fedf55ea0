//! Rounds of local search and exact search over the components of the kernel.

use super::part::Part;
use super::solve::Switches;
use labrys_search::Runner;

/// Steps of local search in a component in the first round.
const FIRST_STEPS: u64 = 4_000;
/// As long as there is hope, exact search gets at least so many visits for each step of local search in a round, up to a few
/// milliseconds.
const VISITS_A_STEP: u64 = 25;
const LEAST_BUDGET: u64 = 1_000_000;
/// Local search in one round takes no longer than about this many visits, so that results come out.
const MOST_VISITS: u64 = 100_000_000;

/// Improves the parts in rounds that grow; `tell` is called after each. Ends when all are proven or the runner stops.
pub(super) fn improve<S>(
    parts: &mut [Part],
    switches: Switches,
    run: &mut Runner<S>,
    tell: &mut dyn FnMut(&[Part], &mut Runner<S>),
) {
    let mut steps = FIRST_STEPS;
    while !run.should_stop() {
        let mut open = false;
        for part in parts.iter_mut().filter(|part| !part.is_proven()) {
            let watch = run.stopwatch();
            // Without local search all of them are for exact search.
            let mut visits = steps.saturating_mul(part.step_cost());
            if switches.local_search {
                let most = steps.min(MOST_VISITS / part.step_cost()).max(FIRST_STEPS).min(run.work_left());
                let made = part.improve(most, &mut || watch.rings());
                run.spend(made);
                visits = made * part.step_cost();
            }
            if switches.exact && !part.is_proven() {
                let share = if switches.local_search { part.exact_share() } else { 1.0 };
                let least = if part.is_hopeful() { LEAST_BUDGET.min(VISITS_A_STEP.saturating_mul(steps)) } else { 0 };
                part.prove(((visits as f64 * share) as u64).max(least), &mut || watch.rings());
                run.spend(1);
            }
            open |= !part.is_proven();
            if run.should_stop() {
                break;
            }
        }
        tell(parts, run);
        if !open || !(switches.local_search || switches.exact) {
            return;
        }
        steps = steps.saturating_mul(2);
    }
}
