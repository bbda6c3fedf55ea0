//! A round trip as an array, with the place of each city. Reversing a path costs its length, or that of the rest if that is shorter.

/// A tour that remembers how to undo its changes.
#[derive(Clone, Debug)]
pub(super) struct Tour {
    order: Vec<u32>,
    place: Vec<u32>,
    /// Places between which the order was reversed, since the last commit.
    log: Vec<(u32, u32)>,
}

impl Tour {
    pub(super) fn new(order: Vec<u32>) -> Self {
        let mut place = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&city, i)| place[city as usize] = i);
        Self { order, place, log: vec![] }
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    #[inline]
    pub(super) fn next(&self, city: u32) -> u32 {
        let i = self.place[city as usize] as usize + 1;
        self.order[if i == self.order.len() { 0 } else { i }]
    }

    #[inline]
    pub(super) fn previous(&self, city: u32) -> u32 {
        let i = self.place[city as usize] as usize;
        self.order[if i == 0 { self.order.len() - 1 } else { i - 1 }]
    }

    /// The city so many places after another.
    pub(super) fn after(&self, city: u32, steps: usize) -> u32 {
        self.order[(self.place[city as usize] as usize + steps) % self.order.len()]
    }

    /// Steps from one city forward to another.
    #[inline]
    pub(super) fn steps(&self, from: u32, to: u32) -> usize {
        let (from, to) = (self.place[from as usize] as usize, self.place[to as usize] as usize);
        if to >= from { to - from } else { to + self.order.len() - from }
    }

    /// Replaces the edges a-b and c-d by a-c and b-d. Both edges point the same way: b is next to a as d is next to c.
    pub(super) fn exchange(&mut self, a: u32, b: u32, c: u32, d: u32) {
        if self.next(a) == b { self.reverse(b, c) } else { self.reverse(a, d) }
    }

    /// Reverses the path from one city forward to another, or what is not on it.
    fn reverse(&mut self, from: u32, to: u32) {
        let n = self.order.len();
        let inner = self.steps(from, to) + 1;
        let (i, j) = (self.place[from as usize], self.place[to as usize]);
        let (i, j) =
            if 2 * inner <= n { (i, j) } else { ((j + 1) % n as u32, if i == 0 { n as u32 - 1 } else { i - 1 }) };
        self.log.push((i, j));
        self.reverse_places(i as usize, j as usize);
    }

    fn reverse_places(&mut self, mut i: usize, mut j: usize) {
        let n = self.order.len();
        let length = if j >= i { j - i + 1 } else { j + n - i + 1 };
        for _ in 0..length / 2 {
            let (a, b) = (self.order[i], self.order[j]);
            (self.order[i], self.order[j]) = (b, a);
            (self.place[a as usize], self.place[b as usize]) = (j as u32, i as u32);
            i = if i + 1 == n { 0 } else { i + 1 };
            j = if j == 0 { n - 1 } else { j - 1 };
        }
    }

    /// Keeps all changes.
    pub(super) fn commit(&mut self) {
        self.log.clear();
    }

    /// Undoes all changes since the last commit.
    pub(super) fn undo(&mut self) {
        while let Some((i, j)) = self.log.pop() {
            self.reverse_places(i as usize, j as usize);
        }
    }
}
