//! TSP: a picked city is inserted into the partial tour where it adds least; the reward is minus what it adds.

use crate::problem::{Environment, Step};
use crate::tsp::Cities;

/// A partial round trip. A step costs O(length of the tour).
#[derive(Clone, Debug)]
pub struct TspEnv<'c> {
    cities: &'c Cities,
    tour: Vec<u32>,
    on_tour: Vec<bool>,
    picked: Vec<u32>,
    length: i64,
}

impl<'c> TspEnv<'c> {
    /// The empty tour.
    pub fn new(cities: &'c Cities) -> Self {
        Self { cities, tour: vec![], on_tour: vec![false; cities.len()], picked: vec![], length: 0 }
    }

    /// The partial tour in its order.
    pub fn tour(&self) -> &[u32] {
        &self.tour
    }

    /// Where a city adds least, and how much that is.
    fn cheapest_place(&self, city: u32) -> (usize, i64) {
        let n = self.tour.len();
        let distance = |a: u32, b: u32| self.cities.distance(a, b) as i64;
        let added = |i: usize| {
            let (before, after) = (self.tour[i], self.tour[(i + 1) % n]);
            (i + 1, distance(before, city) + distance(city, after) - distance(before, after))
        };
        (0..n).map(added).min_by_key(|&(_, added)| added).unwrap_or((0, 0))
    }
}

impl Environment for TspEnv<'_> {
    fn nodes(&self) -> usize {
        self.cities.len()
    }

    fn reset(&mut self) {
        self.tour.clear();
        self.on_tour.fill(false);
        self.picked.clear();
        self.length = 0;
    }

    fn step(&mut self, node: u32) -> Step {
        if !self.is_candidate(node) {
            return Step { reward: 0, done: self.is_done() };
        }
        let (place, added) = self.cheapest_place(node);
        self.tour.insert(place, node);
        self.on_tour[node as usize] = true;
        self.picked.push(node);
        self.length += added;
        Step { reward: -added, done: self.is_done() }
    }

    fn is_candidate(&self, node: u32) -> bool {
        self.on_tour.get(node as usize).is_some_and(|&on_tour| !on_tour)
    }

    fn is_done(&self) -> bool {
        self.tour.len() == self.cities.len()
    }

    fn picked(&self) -> &[u32] {
        &self.picked
    }

    fn value(&self) -> i64 {
        -self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsp::Metric;

    #[test]
    fn insertion_keeps_the_length() {
        let points: Vec<(f64, f64)> = (0..30).map(|i| (f64::from(i * 37 % 101), f64::from(i * 53 % 97))).collect();
        let cities = Cities::at_points(Metric::Euclidean, points);
        let mut environment = TspEnv::new(&cities);
        let mut total = 0;
        while let Some(&city) = environment.candidates().first() {
            total += environment.step(city).reward;
            assert_eq!(-total, cities.length(environment.tour()) as i64);
        }
        assert!(environment.is_done() && environment.value() == total);
        assert_eq!(environment.step(0), Step { reward: 0, done: true });
    }
}
