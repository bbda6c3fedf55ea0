//! Alternatives: two sets of which one is free and the other covered in some smallest cover (Xiao & Nagamochi 2013). Their common
//! neighbours are covered, and the rest of the neighbours of one are joined to the rest of the other's.

use super::kernel::Kernel;
use super::lift::Entry;

impl Kernel {
    /// A funnel: `v` and a neighbour `u` such that the other neighbours of `v` are a clique.
    pub(super) fn funnel(&mut self, v: u32) -> bool {
        // Counting the edges between neighbours is quadratic.
        const MOST_DEGREE: usize = 12;
        let degree = self.degree(v);
        if degree > MOST_DEGREE {
            return false;
        }
        let row = self.neighbours(v);
        let inner: Vec<usize> =
            row.iter().map(|&a| row.iter().filter(|&&b| a != b && self.has_edge(a, b)).count()).collect();
        let edges: usize = inner.iter().sum::<usize>() / 2;
        let clique = (degree - 1) * (degree - 2) / 2;
        let Some(i) = inner.iter().position(|&own| edges - own == clique) else { return false };
        self.replace_alternative(&[v], &[row[i]])
    }

    /// A desk: a cycle of four nodes of degree 3 or 4 without chords, whose opposite pairs have no common neighbours outside.
    pub(super) fn desk(&mut self, v: u32) -> bool {
        if !(3..=4).contains(&self.degree(v)) {
            return false;
        }
        let row = self.neighbours(v);
        for (i, &b1) in row.iter().enumerate() {
            for &b2 in &row[..i] {
                if let Some(a2) = self.opposite(v, b1, b2)
                    && self.is_desk([v, a2], [b1, b2])
                    && self.replace_alternative(&[v, a2], &[b1, b2])
                {
                    return true;
                }
            }
        }
        false
    }

    /// The fourth node of a cycle without chords.
    fn opposite(&mut self, v: u32, b1: u32, b2: u32) -> Option<u32> {
        let fits = |degree: usize| (3..=4).contains(&degree);
        if !fits(self.degree(b1)) || !fits(self.degree(b2)) || self.has_edge(b1, b2) {
            return None;
        }
        let candidates = self.neighbours(b1);
        candidates.into_iter().find(|&a| a != v && fits(self.degree(a)) && self.has_edge(a, b2) && !self.has_edge(a, v))
    }

    /// Each pair has at most two neighbours outside the cycle, and none is common to both pairs.
    fn is_desk(&mut self, a: [u32; 2], b: [u32; 2]) -> bool {
        let mut beside = |pair: [u32; 2], other: [u32; 2]| {
            let mut nodes: Vec<u32> =
                pair.iter().flat_map(|&v| self.neighbours(v)).filter(|u| !other.contains(u)).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let (near_a, near_b) = (beside(a, b), beside(b, a));
        near_a.len() <= 2 && near_b.len() <= 2 && !near_a.iter().any(|u| near_b.contains(u))
    }

    /// Removes two alternatives, if that does not add many edges.
    fn replace_alternative(&mut self, first: &[u32], second: &[u32]) -> bool {
        const MOST_NEW_EDGES: usize = 64;
        let around = |kernel: &mut Self, nodes: &[u32]| -> Vec<u32> {
            let mut all: Vec<u32> = nodes.iter().flat_map(|&v| kernel.neighbours(v)).collect();
            all.retain(|u| !first.contains(u) && !second.contains(u));
            all.sort_unstable();
            all.dedup();
            all
        };
        let (near_first, near_second) = (around(self, first), around(self, second));
        let (common, beside_first): (Vec<u32>, Vec<u32>) =
            near_first.iter().partition(|u| near_second.binary_search(u).is_ok());
        let beside_second: Vec<u32> =
            near_second.into_iter().filter(|u| near_first.binary_search(u).is_err()).collect();
        if beside_first.len() * beside_second.len() > MOST_NEW_EDGES {
            return false;
        }
        common.into_iter().for_each(|u| self.cover(u));
        self.offset += first.len();
        let entry =
            Entry::Alternative { first: first.to_vec(), second: second.to_vec(), beside_first: beside_first.clone() };
        self.log.push(entry);
        first.iter().chain(second).for_each(|&v| self.set_aside(v));
        self.join(&beside_first, &beside_second);
        true
    }
}
