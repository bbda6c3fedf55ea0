//! Unconfined nodes (Xiao & Nagamochi 2013), which are in some smallest cover. Dominated nodes are the simplest of them.

use super::kernel::Kernel;

/// What a look at the neighbourhood of the growing set found.
enum Found {
    /// The set can be improved without its first node.
    Unconfined,
    /// One node must join the set.
    Extend(u32),
    /// Neither.
    Nothing,
}

impl Kernel {
    /// Grows a set S that would have to be free with `v`; covers `v` if some neighbour of S proves that `v` need not be free.
    pub(super) fn unconfined(&mut self, v: u32) -> bool {
        // Sets grow by one node each; longer chains were never seen to pay.
        const MOST_NODES: usize = 24;
        let mut set = vec![v];
        self.marks().clear();
        self.second_marks.clear();
        self.add_closed(v);
        for _ in 0..MOST_NODES {
            match self.look_around(&set) {
                Found::Unconfined => {
                    self.cover(v);
                    return true;
                }
                Found::Extend(w) => {
                    set.push(w);
                    self.add_closed(w);
                }
                Found::Nothing => return false,
            }
        }
        false
    }

    /// `marks` is the closed neighbourhood of S, `second_marks` S itself.
    fn add_closed(&mut self, v: u32) {
        self.second_marks.insert(v);
        self.row(v);
        self.marks().insert(v);
        for i in 0..self.unswept_row(v).len() {
            let u = self.unswept_row(v)[i];
            self.marks().insert(u);
        }
    }

    fn look_around(&mut self, set: &[u32]) -> Found {
        let mut extend = None;
        for &s in set {
            for i in 0..self.unswept_row(s).len() {
                let u = self.unswept_row(s)[i];
                self.row(u);
                match self.outside(u) {
                    Some((0, _)) => return Found::Unconfined,
                    Some((1, w)) => extend = Some(w),
                    _ => {}
                }
            }
        }
        extend.map_or(Found::Nothing, Found::Extend)
    }

    /// For a node with exactly one neighbour in S: how many of its neighbours are not in N[S] (2 means two or more), and one of them.
    fn outside(&self, u: u32) -> Option<(u32, u32)> {
        let (mut inside, mut outside, mut last) = (0, 0, u);
        for &w in self.unswept_row(u) {
            if self.second_marks.contains(w) {
                inside += 1;
                if inside > 1 {
                    return None;
                }
            } else if !self.is_marked(w) {
                outside += 1;
                last = w;
                if outside > 1 {
                    return None;
                }
            }
        }
        Some((outside, last))
    }
}
