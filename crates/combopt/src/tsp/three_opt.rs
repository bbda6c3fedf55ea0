//! Iterated 3-opt (Johnson & McGeoch 1997): all sequential moves of three edges over neighbour lists, Lin-Kernighan's gain criterion, a
//! queue of cities in place of don't-look bits, and double bridges between near places as kicks.

use super::tour::Tour;
use super::{Cities, Neighbours};
use labrys_search::seed::Rng;
use rand::RngExt as _;
use std::collections::VecDeque;

/// Longest segment that a kick moves.
const LONGEST_KICK: usize = 50;

/// A search that can be continued at any time. At least 8 cities.
pub struct ThreeOpt<'c> {
    cities: &'c Cities,
    neighbours: &'c Neighbours,
    tour: Tour,
    length: u64,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    rng: Rng,
}

/// A move that shortens the tour: its cities t1..t6 as Lin and Kernighan number them, t5 and t6 being absent in a move of two edges.
struct Move {
    gain: i64,
    kind: Kind,
    t: [u32; 6],
}

/// How the pieces are put together again; the numbers are cities of [`Move`].
#[derive(Clone, Copy)]
enum Kind {
    /// Reverses t2..t4.
    TwoOpt,
    /// The same, and then again from the new end.
    Sequential,
    /// Exchanges t2..t5 and t6..t3 as they are.
    Swap,
    /// Reverses t2..t6 and t5..t3, each in its place.
    Turn,
}

/// Walks along the tour, forward or backward.
#[derive(Clone, Copy)]
struct Way<'t> {
    tour: &'t Tour,
    backward: bool,
}

impl Way<'_> {
    #[inline]
    fn next(self, city: u32) -> u32 {
        if self.backward { self.tour.previous(city) } else { self.tour.next(city) }
    }

    #[inline]
    fn previous(self, city: u32) -> u32 {
        if self.backward { self.tour.next(city) } else { self.tour.previous(city) }
    }

    #[inline]
    fn steps(self, from: u32, to: u32) -> usize {
        if self.backward { self.tour.steps(to, from) } else { self.tour.steps(from, to) }
    }
}

impl<'c> ThreeOpt<'c> {
    /// Begins with a tour of all cities.
    pub fn new(cities: &'c Cities, neighbours: &'c Neighbours, order: Vec<u32>, rng: Rng) -> Self {
        let n = order.len();
        let length = cities.length(&order);
        let queue = order.iter().copied().collect();
        Self { cities, neighbours, tour: Tour::new(order), length, queue, queued: vec![true; n], rng }
    }

    /// Length of the tour.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The tour.
    pub fn order(&self) -> &[u32] {
        self.tour.order()
    }

    /// Improves until no move helps or `stop` says so, which is asked now and then.
    pub fn descend(&mut self, stop: &mut dyn FnMut() -> bool) {
        const LOOKS_BETWEEN_STOPS: u32 = 256;
        let mut looks = 0u32;
        while let Some(city) = self.queue.pop_front() {
            self.queued[city as usize] = false;
            while self.improve(city) {}
            looks += 1;
            if looks.is_multiple_of(LOOKS_BETWEEN_STOPS) && stop() {
                return;
            }
        }
    }

    /// One kick and a descent; undone unless the tour is at least as short as before.
    pub fn kick(&mut self) {
        let before = self.length;
        self.tour.commit();
        self.double_bridge();
        while let Some(city) = self.queue.pop_front() {
            self.queued[city as usize] = false;
            while self.improve(city) {}
        }
        if self.length > before {
            self.tour.undo();
            self.length = before;
        }
    }

    fn distance(&self, a: u32, b: u32) -> i64 {
        self.cities.distance(a, b) as i64
    }

    fn push(&mut self, city: u32) {
        if !std::mem::replace(&mut self.queued[city as usize], true) {
            self.queue.push_back(city);
        }
    }

    /// Turns the order of three segments around that follow each other, none of them reversed: four new edges, which no sequential move of
    /// three undoes (Martin, Otto, Felten 1991).
    fn double_bridge(&mut self) {
        let n = self.tour.len();
        let longest = LONGEST_KICK.min((n - 2) / 3).max(1);
        let start = self.rng.random_range(0..n) as u32;
        // First and last city of each segment.
        let mut ends = [(0, 0); 3];
        let mut before = start;
        for segment in &mut ends {
            let last = self.tour.after(before, self.rng.random_range(1..=longest));
            *segment = (self.tour.next(before), last);
            before = last;
        }
        let [(b1, b2), (c1, c2), (d1, d2)] = ends;
        let end = self.tour.next(d2);
        let removed = [(start, b1), (b2, c1), (c2, d1), (d2, end)];
        let added = [(start, d1), (d2, c1), (c2, b1), (b2, end)];
        let sum = |edges: [(u32, u32); 4]| edges.iter().map(|&(a, b)| self.distance(a, b)).sum::<i64>();
        self.length = (self.length as i64 + sum(added) - sum(removed)) as u64;
        self.tour.exchange(start, b1, d2, end);
        self.tour.exchange(start, d2, d1, c2);
        self.tour.exchange(d2, c2, c1, b2);
        self.tour.exchange(c2, b2, b1, end);
        removed.iter().for_each(|&(a, b)| [a, b].into_iter().for_each(|city| self.push(city)));
    }

    fn improve(&mut self, t1: u32) -> bool {
        let found = self.find(t1, false).or_else(|| self.find(t1, true));
        found.as_ref().is_some_and(|found| {
            self.apply(found);
            true
        })
    }

    fn apply(&mut self, &Move { gain, kind, t: [t1, t2, t3, t4, t5, t6] }: &Move) {
        let tour = &mut self.tour;
        match kind {
            Kind::TwoOpt => tour.exchange(t1, t2, t4, t3),
            Kind::Sequential => {
                tour.exchange(t1, t2, t4, t3);
                tour.exchange(t1, t4, t6, t5);
            }
            Kind::Turn => {
                tour.exchange(t1, t2, t6, t5);
                tour.exchange(t2, t5, t3, t4);
            }
            Kind::Swap => {
                tour.exchange(t1, t2, t3, t4);
                tour.exchange(t1, t3, t6, t5);
                tour.exchange(t3, t5, t2, t4);
            }
        }
        self.length = (self.length as i64 - gain) as u64;
        let touched = if matches!(kind, Kind::TwoOpt) { 4 } else { 6 };
        [t1, t2, t3, t4, t5, t6][..touched].iter().for_each(|&city| self.push(city));
    }

    /// The first move that helps from `t1`; `backward` numbers the tour the other way round.
    fn find(&self, t1: u32, backward: bool) -> Option<Move> {
        let way = Way { tour: &self.tour, backward };
        let t2 = way.next(t1);
        let removed = self.distance(t1, t2);
        for &(t3, added) in self.neighbours.of(t2) {
            let gain = removed - i64::from(added);
            if gain <= 0 {
                break;
            }
            if t3 == t1 || t3 == way.next(t2) {
                continue;
            }
            let found = self.sequential(way, [t1, t2, t3], gain).or_else(|| self.detour(way, [t1, t2, t3], gain));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// t4 before t3: closes to a move of two edges, or goes on to three.
    fn sequential(&self, way: Way<'_>, [t1, t2, t3]: [u32; 3], gain: i64) -> Option<Move> {
        let t4 = way.previous(t3);
        let gain = gain + self.distance(t3, t4);
        let closed = gain - self.distance(t4, t1);
        if closed > 0 {
            return Some(Move { gain: closed, kind: Kind::TwoOpt, t: [t1, t2, t3, t4, t1, t1] });
        }
        let at = way.steps(t2, t3);
        for &(t5, added) in self.neighbours.of(t4) {
            let gain = gain - i64::from(added);
            if gain <= 0 {
                break;
            }
            // On t2..t4 the path runs the other way by now.
            let t6 = if way.steps(t2, t5) >= at { way.previous(t5) } else { way.next(t5) };
            if t5 == t3 || t5 == t4 || t6 == t4 {
                continue;
            }
            let closed = gain + self.distance(t5, t6) - self.distance(t6, t1);
            if closed > 0 {
                return Some(Move { gain: closed, kind: Kind::Sequential, t: [t1, t2, t3, t4, t5, t6] });
            }
        }
        None
    }

    /// t4 after t3: t2..t3 is a circle now, which is opened between t5 and t6 on either side.
    fn detour(&self, way: Way<'_>, [t1, t2, t3]: [u32; 3], gain: i64) -> Option<Move> {
        let t4 = way.next(t3);
        let gain = gain + self.distance(t3, t4);
        let length = way.steps(t2, t3);
        for &(t5, added) in self.neighbours.of(t4) {
            let gain = gain - i64::from(added);
            if gain <= 0 {
                break;
            }
            if way.steps(t2, t5) > length {
                continue;
            }
            if t5 != t3 {
                let t6 = way.next(t5);
                let closed = gain + self.distance(t5, t6) - self.distance(t6, t1);
                if closed > 0 {
                    return Some(Move { gain: closed, kind: Kind::Swap, t: [t1, t2, t3, t4, t5, t6] });
                }
            }
            if t5 != t2 && t5 != t3 {
                let t6 = way.previous(t5);
                let closed = gain + self.distance(t5, t6) - self.distance(t6, t1);
                if closed > 0 {
                    return Some(Move { gain: closed, kind: Kind::Turn, t: [t1, t2, t3, t4, t5, t6] });
                }
            }
        }
        None
    }
}
