//! Kernelisation for vertex cover and independent set: rules that make a graph smaller without losing every optimum, and the way back.
//!
//! The rules are those of Akiba & Iwata 2016 ("Branch-and-reduce ... is practical") and Lamm et al. 2017. Each stands in a file named
//! after it. In the words of this module a node is *covered* when it goes into the cover, and *free* when it stays out.

mod alternative;
mod degree;
mod kernel;
mod lift;
mod linear;
mod matching;
#[cfg(test)]
mod tests;
mod twin;
mod unconfined;

pub use kernel::Kernel;
pub use lift::Log;
pub use matching::half_integral_bound;

use labrys_graph::Graph;

/// Which rules are used: each is a switch, so that what it is worth can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Nodes of degree 0, 1 and 2 (folding).
    pub degree: bool,
    /// Unconfined nodes, which include dominated ones.
    pub unconfined: bool,
    /// Twins of degree 3.
    pub twin: bool,
    /// Funnels and desks.
    pub alternative: bool,
    /// The linear relaxation (Nemhauser & Trotter), which includes crowns.
    pub linear: bool,
}

impl Rules {
    /// All of them.
    pub const ALL: Self = Self { degree: true, unconfined: true, twin: true, alternative: true, linear: true };
    /// None: the kernel is the graph.
    pub const NONE: Self = Self { degree: false, unconfined: false, twin: false, alternative: false, linear: false };
}

/// A graph made smaller: its kernel and how to turn a cover of the kernel into one of the graph.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// What is left.
    pub kernel: Graph,
    /// Covering the graph takes so many nodes more than covering the kernel.
    pub offset: usize,
    log: Log,
    /// Node of the reducer for each node of the kernel.
    ids: Vec<u32>,
    nodes: usize,
}

impl Reduced {
    /// The cover of the graph that a cover of the kernel stands for; as good as the kernel's.
    pub fn lift(&self, kernel_cover: &[bool]) -> Vec<bool> {
        let mut cover = vec![false; self.nodes];
        for (&id, &covered) in self.ids.iter().zip(kernel_cover) {
            cover[id as usize] = covered;
        }
        self.log.undo(&mut cover);
        cover
    }
}

/// Applies the rules until none applies or `stop` says so; it may stop at any time.
pub fn reduce(graph: &Graph, rules: Rules, stop: &mut dyn FnMut() -> bool) -> Reduced {
    let mut kernel = Kernel::new(graph);
    kernel.exhaust(rules, stop);
    kernel.finish()
}
