//! Two nodes of degree 3 with the same neighbours (Xiao & Nagamochi 2013).

use super::kernel::Kernel;
use super::lift::Entry;

impl Kernel {
    /// If the common neighbours are joined anywhere both twins are free, else the five become one node.
    pub(super) fn twin(&mut self, v: u32) -> bool {
        let &[a, b, c] = self.row(v) else { return false };
        let Some(twin) = self.find_twin(v, [a, b, c]) else { return false };
        if self.has_edge(a, b) || self.has_edge(b, c) || self.has_edge(a, c) {
            self.free(v);
            // Its neighbours are all covered now.
            self.free(twin);
            return true;
        }
        self.offset += 2;
        self.log.push(Entry::Fold { centre: v, twin: Some(twin), neighbours: vec![a, b, c] });
        self.set_aside(twin);
        self.contract(v, &[a, b, c]);
        true
    }

    fn find_twin(&mut self, v: u32, neighbours: [u32; 3]) -> Option<u32> {
        let fewest = neighbours.into_iter().min_by_key(|&u| self.degree(u))?;
        self.mark_neighbours(v);
        let candidates = self.neighbours(fewest);
        candidates.into_iter().find(|&u| u != v && self.degree(u) == 3 && self.all_marked(u))
    }

    fn all_marked(&mut self, u: u32) -> bool {
        self.row(u);
        self.unswept_row(u).iter().all(|&w| self.is_marked(w))
    }
}
