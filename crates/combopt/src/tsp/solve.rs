//! The solver for TSP: construction, 3-opt, kicks; a bound by 1-trees beside it.

use super::{Cities, Neighbours, ThreeOpt, bound, construct, exact};
use crate::guide::CityGuide;
use labrys_search::{Runner, Score};

/// Neighbours that moves look at.
const NEIGHBOURS: usize = 8;
/// Rounds of the bound.
const BOUND_ROUNDS: u32 = 120;
/// Share of the time that the bound may take.
const BOUND_SHARE: f64 = 0.08;
/// Kicks between looks at the clock.
const KICKS: u64 = 64;
/// Kicks for each city when there is no limit.
const DEFAULT_KICKS: u64 = 1_000;

/// Looks for the shortest tour; the runner gets every improvement and the bound.
pub fn solve(cities: &Cities, guide: Option<&CityGuide>, run: &mut Runner<Vec<u32>>) {
    let n = cities.len();
    if n <= exact::MOST_CITIES {
        let tour = exact::shortest_tour(cities);
        run.raise_bound(cities.length(&tour));
        offer(run, cities, "exact", tour);
        return;
    }
    offer(run, cities, "space-filling curve", construct::space_filling(cities));
    if run.work_left() == u64::MAX && run.time_left().is_none() {
        run.limit_work(DEFAULT_KICKS * n as u64);
    }
    let neighbours = Neighbours::new(cities, NEIGHBOURS);
    run.raise_bound(bound::two_nearest(cities, &neighbours));
    offer(run, cities, "greedy edges", construct::greedy_edges(cities, &neighbours));
    if let Some(guide) = guide {
        offer(run, cities, "guide", construct::by_advice(cities, &neighbours, &guide.advise(cities)));
    }
    let Some((_, start)) = run.best() else { return };
    let mut search = ThreeOpt::new(cities, &neighbours, start.clone(), run.seed().stream("kicks", 0));
    let watch = run.stopwatch();
    search.descend(&mut || watch.rings());
    offer(run, cities, "3-opt", search.order().to_vec());
    raise_bound(cities, search.length(), run);
    while !run.should_stop() {
        let kicks = KICKS.min(run.work_left());
        (0..kicks).for_each(|_| search.kick());
        run.spend(kicks);
        let length = Score::feasible(search.length());
        run.offer(length, "kicks", || search.order().to_vec());
    }
}

fn offer(run: &mut Runner<Vec<u32>>, cities: &Cities, by: &'static str, tour: Vec<u32>) {
    run.offer(Score::feasible(cities.length(&tour)), by, || tour);
}

/// The bound takes a fixed number of rounds, or what a share of the time allows.
fn raise_bound(cities: &Cities, upper: u64, run: &mut Runner<Vec<u32>>) {
    // Beyond, a single round takes seconds.
    const MOST_CITIES: usize = 20_000;
    if cities.len() > MOST_CITIES {
        return;
    }
    let (watch, end) = (run.stopwatch(), run.progress() + BOUND_SHARE);
    let bound = bound::held_karp(cities, upper, BOUND_ROUNDS, &mut || watch.rings() || run.progress() >= end);
    run.raise_bound(bound);
}
