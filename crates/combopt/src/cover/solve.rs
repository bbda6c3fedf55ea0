//! The solver for vertex cover: greedy, reductions, then local search and exact search on what is left.

use super::improve::improve;
use super::part::Part;
use super::{greedy, size};
use crate::guide::NodeGuide;
use crate::reduce::{Reduced, Rules, reduce};
use labrys_graph::Graph;
use labrys_search::{Runner, Score};

/// What the solver may use; each is a switch, so that what it is worth can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Reductions.
    pub rules: Rules,
    /// Local search.
    pub local_search: bool,
    /// Branch and bound.
    pub exact: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self { rules: Rules::ALL, local_search: true, exact: true }
    }
}

/// Looks for the smallest vertex cover; the runner gets every improvement and the best lower bound.
pub fn solve(graph: &Graph, guide: Option<&NodeGuide>, switches: Switches, run: &mut Runner<Vec<bool>>) {
    let watch = run.stopwatch();
    offer(run, "min-degree greedy", greedy::min_degree(graph));
    let reduced = reduce(graph, switches.rules, &mut || watch.rings());
    let start = start(&reduced.kernel, guide);
    offer(run, "reductions", reduced.lift(&start));
    if run.should_stop() {
        return;
    }
    let mut parts: Vec<Part> = components(&reduced.kernel)
        .into_iter()
        .zip(0..)
        .map(|(nodes, i)| Part::new(&reduced.kernel, nodes, &start, run.seed().stream("local search", i)))
        .collect();
    parts.sort_by_key(|part| part.nodes.len());
    tell(&reduced, &parts, run);
    improve(&mut parts, switches, run, &mut |parts, run| tell(&reduced, parts, run));
}

/// Where the search begins: the better of min-degree greedy and the guide's cover.
fn start(kernel: &Graph, guide: Option<&NodeGuide>) -> Vec<bool> {
    let greedy = greedy::min_degree(kernel);
    match guide.map(|guide| greedy::by_advice(kernel, &guide.advise(kernel))) {
        Some(guided) if size(&guided) < size(&greedy) => guided,
        _ => greedy,
    }
}

/// Components with edges; isolated nodes need no cover.
fn components(kernel: &Graph) -> Vec<Vec<u32>> {
    kernel.components().into_iter().filter(|nodes| nodes.len() > 1).collect()
}

fn tell(reduced: &Reduced, parts: &[Part], run: &mut Runner<Vec<bool>>) {
    let value = reduced.offset + parts.iter().map(Part::size).sum::<usize>();
    run.raise_bound((reduced.offset + parts.iter().map(|part| part.bound).sum::<usize>()) as u64);
    if run.best_score().is_some_and(|best| best.value <= value as u64) {
        return;
    }
    let mut cover = vec![false; reduced.kernel.nodes()];
    for part in parts {
        part.nodes.iter().zip(&part.best).for_each(|(&v, &covered)| cover[v as usize] = covered);
    }
    offer(run, "local search", reduced.lift(&cover));
}

fn offer(run: &mut Runner<Vec<bool>>, by: &'static str, cover: Vec<bool>) {
    run.offer(Score::feasible(size(&cover) as u64), by, || cover);
}
