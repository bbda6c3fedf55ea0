//! Nodes of degree 0, 1 and 2.

use super::kernel::Kernel;
use super::lift::Entry;

impl Kernel {
    /// A node of degree 0 is free, and so is one of degree 1. One of degree 2 is free if its neighbours are joined, else it is folded
    /// with them into one node (Chen, Kanj, Jia 2001).
    pub(super) fn low_degree(&mut self, v: u32) {
        let &[a, b] = self.row(v) else {
            self.free(v);
            return;
        };
        if self.has_edge(a, b) {
            self.free(v);
            return;
        }
        self.offset += 1;
        self.log.push(Entry::Fold { centre: v, twin: None, neighbours: vec![a, b] });
        self.contract(v, &[a, b]);
    }
}
