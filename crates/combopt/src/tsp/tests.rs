use super::*;
use crate::check;
use labrys_search::{Guide, Limits, Outcome, Runner, Seed, StopReason};
use rand::RngExt as _;

fn random(n: usize, seed: u64) -> Cities {
    let mut rng = Seed(seed).stream("cities", 0);
    let point = |_| (f64::from(rng.random_range(0..1_000u32)), f64::from(rng.random_range(0..1_000u32)));
    Cities::at_points(Metric::Euclidean, (0..n).map(point).collect())
}

fn run(cities: &Cities, work: u64) -> (u64, Outcome<Vec<u32>>) {
    let mut runner = Runner::new(Limits { time: None, work: Some(work) }, Seed(1));
    solve(cities, None, &mut runner);
    (runner.bound().unwrap_or(0), runner.finish())
}

fn length(cities: &Cities, outcome: &Outcome<Vec<u32>>) -> u64 {
    let (score, tour) = outcome.best.as_ref().unwrap();
    assert_eq!(check::tour(cities.len(), tour, |a, b| cities.distance(a, b)), Ok(score.value));
    score.value
}

#[test]
fn few_cities_are_solved_at_once() {
    for n in 0..=12 {
        let cities = random(n, n as u64);
        let (bound, outcome) = run(&cities, 1_000);
        assert_eq!((outcome.stop, bound), (StopReason::Optimal, length(&cities, &outcome)), "{n}");
    }
}

/// 3-opt with kicks against dynamic programming.
#[test]
fn kicks_find_the_optimum_of_small_problems() {
    for seed in 0..30 {
        let cities = random(8 + seed as usize % 5, seed);
        let optimum = cities.length(&exact::shortest_tour(&cities));
        let neighbours = Neighbours::new(&cities, 6);
        let start = construct::space_filling(&cities);
        let mut search = ThreeOpt::new(&cities, &neighbours, start, Seed(seed).stream("kicks", 0));
        search.descend(&mut || false);
        for _ in 0..300 {
            search.kick();
            assert_eq!(check::tour(cities.len(), search.order(), |a, b| cities.distance(a, b)), Ok(search.length()));
        }
        assert_eq!(search.length(), optimum, "seed {seed}");
    }
}

#[test]
fn constructions_are_tours_and_bounds_hold() {
    for (n, seed) in [(13, 1), (100, 2), (500, 3)] {
        let cities = random(n, seed);
        let neighbours = Neighbours::new(&cities, 8);
        let (bound, outcome) = run(&cities, 2_000);
        let best = length(&cities, &outcome);
        assert!(bound <= best && bound as f64 >= 0.9 * best as f64, "{bound} {best}");
        assert!(bound::two_nearest(&cities, &neighbours) <= best);
        let advice = [f32::NAN, 3.0, f32::INFINITY];
        for tour in [
            construct::space_filling(&cities),
            construct::greedy_edges(&cities, &neighbours),
            construct::by_advice(&cities, &neighbours, &advice),
        ] {
            let checked = check::tour(n, &tour, |a, b| cities.distance(a, b)).unwrap();
            assert!(checked >= best);
        }
    }
}

#[test]
fn neighbours_are_the_nearest() {
    let clustered = Cities::at_points(
        Metric::Euclidean,
        (0..60).map(|i| (f64::from(i % 7).powi(4), f64::from(i * i % 11))).collect(),
    );
    let line = Cities::at_points(Metric::Euclidean, (0..40).map(|i| (f64::from(i * i), 5.0)).collect());
    let same = Cities::at_points(Metric::Euclidean, vec![(2.0, 2.0); 20]);
    // Meridians are near each other up there, and the date line is a line like any other.
    let arctic = |i: u32| (f64::from(60 + i % 29), f64::from(i * 47 % 360) - 180.0);
    let arctic = Cities::at_points(Metric::Geographic, (0..200).map(arctic).collect());
    for cities in [random(300, 4), clustered, line, same, arctic] {
        let neighbours = Neighbours::new(&cities, 7);
        for city in 0..cities.len() as u32 {
            let mut all: Vec<u64> =
                (0..cities.len() as u32).filter(|&u| u != city).map(|u| cities.distance(city, u)).collect();
            all.sort_unstable();
            let found: Vec<u64> = neighbours.of(city).iter().map(|&(_, d)| u64::from(d)).collect();
            assert_eq!(found, all[..7]);
        }
    }
}

#[test]
fn the_same_seed_and_work_give_the_same_tour() {
    let cities = random(200, 9);
    assert_eq!(run(&cities, 1_000).1.best, run(&cities, 1_000).1.best);
}

/// Scores that mean nothing.
struct Reversed;

impl Guide<Cities> for Reversed {
    type Advice = Vec<f32>;

    fn advise(&self, cities: &Cities) -> Vec<f32> {
        (0..cities.len() + 2).map(|v| -(v as f32)).collect()
    }
}

#[test]
fn any_guide_is_safe() {
    let cities = random(150, 5);
    let mut runner = Runner::new(Limits { time: None, work: Some(500) }, Seed(1));
    solve(&cities, Some(&Reversed), &mut runner);
    let outcome = runner.finish();
    assert!(length(&cities, &outcome) <= length(&cities, &run(&cities, 1).1));
}
