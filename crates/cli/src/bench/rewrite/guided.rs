//! How much sooner a guided search reaches what an unguided one finds.

use labrys_report::table::{Align, Cell, Table};
use labrys_search::Improvement;
use serde::Serialize;

/// Costs that differ by less are equal.
const EQUAL: f64 = 1e-9;

/// What a search found on the way, and how many states it expanded in all.
#[derive(Clone)]
pub(super) struct Trail {
    pub improvements: Vec<Improvement>,
    pub expansions: u64,
    /// States that it saw.
    pub states: u64,
}

impl Trail {
    /// The least cost.
    pub(super) fn best(&self) -> f64 {
        self.improvements.last().map_or(f64::INFINITY, |last| last.cost)
    }

    /// States that were expanded before one of at most this cost was found; all of them, if none was.
    fn until(&self, cost: f64) -> u64 {
        let found = self.improvements.iter().find(|improvement| improvement.cost <= cost + EQUAL);
        found.map_or(self.expansions, |improvement| improvement.expansions)
    }

    fn reaches(&self, cost: f64) -> bool {
        self.best() <= cost + EQUAL
    }
}

/// Guided searches of a set against the unguided one.
#[derive(Serialize)]
pub(super) struct Speedup {
    pub set: &'static str,
    /// Expansions of the unguided search until its own best, all expressions together; then of each guided one until the same costs.
    unguided: u64,
    guided: Vec<u64>,
    /// Expressions for which each guided search reaches it.
    reached: Vec<usize>,
    /// The same for the best that any of these searches finds: a search that does not find it counts with all its expansions.
    unguided_to_best: u64,
    guided_to_best: Vec<u64>,
    /// Expressions for which the unguided search, and each guided one, finds it.
    best_by_unguided: usize,
    best_by_guided: Vec<usize>,
    expressions: usize,
}

impl Speedup {
    /// From one trail for each expression without a guide, and for each guide.
    pub(super) fn new(set: &'static str, unguided: &[Trail], guided: &[Vec<Trail>]) -> Self {
        let targets: Vec<f64> = unguided.iter().map(Trail::best).collect();
        let least = |index: usize| guided.iter().map(|trails| trails[index].best()).fold(targets[index], f64::min);
        let best: Vec<f64> = (0..unguided.len()).map(least).collect();
        let sum =
            |trails: &[Trail], costs: &[f64]| trails.iter().zip(costs).map(|(trail, cost)| trail.until(*cost)).sum();
        let count = |trails: &[Trail], costs: &[f64]| {
            trails.iter().zip(costs).filter(|(trail, cost)| trail.reaches(**cost)).count()
        };
        Self {
            set,
            unguided: sum(unguided, &targets),
            guided: guided.iter().map(|trails| sum(trails, &targets)).collect(),
            reached: guided.iter().map(|trails| count(trails, &targets)).collect(),
            unguided_to_best: sum(unguided, &best),
            guided_to_best: guided.iter().map(|trails| sum(trails, &best)).collect(),
            best_by_unguided: count(unguided, &best),
            best_by_guided: guided.iter().map(|trails| count(trails, &best)).collect(),
            expressions: unguided.len(),
        }
    }
}

/// The middle one, the lower of two.
fn median<T: Copy + Ord>(values: &[T]) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

/// A row a set, medians over guides.
pub(super) fn table(speedups: &[Speedup]) -> Table {
    let columns = [
        ("set", Align::Left),
        ("to the unguided best: unguided", Align::Right),
        ("guided", Align::Right),
        ("ratio", Align::Right),
        ("reached", Align::Right),
        ("to the best of all: unguided", Align::Right),
        ("guided", Align::Right),
        ("ratio", Align::Right),
        ("found unguided", Align::Right),
        ("guided", Align::Right),
    ];
    let mut table = Table::new("expansions until a cost is reached, medians over guides", &columns);
    for speedup in speedups {
        let whole = |count: Option<u64>| count.map_or(Cell::Missing, |count| Cell::Number(count as f64, 0));
        let ratio = |unguided: u64, guided: Option<u64>| {
            guided.map_or(Cell::Missing, |guided| Cell::Number(unguided as f64 / guided.max(1) as f64, 1))
        };
        let share = |count: Option<usize>| {
            count.map_or(Cell::Missing, |count| Cell::Text(format!("{count} of {}", speedup.expressions)))
        };
        let (guided, to_best) = (median(&speedup.guided), median(&speedup.guided_to_best));
        table.push(vec![
            Cell::Text(speedup.set.to_owned()),
            whole(Some(speedup.unguided)),
            whole(guided),
            ratio(speedup.unguided, guided),
            share(median(&speedup.reached)),
            whole(Some(speedup.unguided_to_best)),
            whole(to_best),
            ratio(speedup.unguided_to_best, to_best),
            share(Some(speedup.best_by_unguided)),
            share(median(&speedup.best_by_guided)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trail(found: &[(u64, f64)], expansions: u64) -> Trail {
        let improvement = |&(expansions, cost): &(u64, f64)| Improvement { expansions, states: expansions * 10, cost };
        Trail { improvements: found.iter().map(improvement).collect(), expansions, states: expansions * 10 }
    }

    #[test]
    fn expansions_are_counted_to_the_same_cost() {
        let unguided = [trail(&[(0, 9.0), (5, 7.0), (50, 5.0)], 100)];
        let guided = [trail(&[(0, 9.0), (4, 4.0)], 80), trail(&[(0, 9.0), (3, 6.0)], 80)];
        let guided: Vec<Vec<Trail>> = guided.into_iter().map(|trail| vec![trail]).collect();
        let speedup = Speedup::new("set", &unguided, &guided);
        assert_eq!((speedup.unguided, &speedup.guided[..], &speedup.reached[..]), (50, &[4, 80][..], &[1, 0][..]));
        assert_eq!((speedup.unguided_to_best, &speedup.guided_to_best[..]), (100, &[4, 80][..]));
        assert_eq!((speedup.best_by_unguided, &speedup.best_by_guided[..]), (0, &[1, 0][..]));
        assert_eq!(median(&[3, 1, 2]), Some(2));
    }
}
