//! Constructive orders for low memory. No single one wins, they differ by up to 2x either way: a portfolio, always.
//!
//! All of them look at one device that holds everything; placement comes later. Each takes O((n + m) log n), or near that, and
//! runs forwards in time or, on the reversed graph, backwards: a backward order tends to be good where a forward one is bad.
//! Series-parallel graphs have an optimal order besides.

mod by_level;
mod depth_first;
pub(crate) mod frontier;
mod list;
mod post_order;
mod profile;
mod series_parallel;
pub(crate) mod view;

pub(crate) use list::by_key;
pub use profile::{peak, profile};

use labrys_dataflow::{Graph, OpId};
use list::TieBreak;
use rayon::prelude::*;
use view::View;

type Construct = fn(View<'_>) -> Vec<OpId>;

pub(crate) const BACKWARD: bool = true;
pub(crate) const FORWARD: bool = false;

/// The portfolio: name, direction, rule.
const RULES: [(&str, bool, Construct); 11] = [
    ("b-level", FORWARD, by_level::order),
    ("t-level", BACKWARD, by_level::order),
    ("depth-first", FORWARD, depth_first::order),
    ("depth-first, backward", BACKWARD, depth_first::order),
    ("post-order", FORWARD, post_order::order),
    ("post-order, backward", BACKWARD, post_order::order),
    ("list", FORWARD, |view| list::order(view, TieBreak::FileOrder)),
    ("list, backward", BACKWARD, |view| list::order(view, TieBreak::FileOrder)),
    ("list, latest first", FORWARD, |view| list::order(view, TieBreak::LatestReady)),
    ("list, latest first, backward", BACKWARD, |view| list::order(view, TieBreak::LatestReady)),
    ("list, earliest first", FORWARD, |view| list::order(view, TieBreak::EarliestReady)),
];

/// How many orders are made at a time, whatever the number of threads: whoever has had enough stops in between.
const BATCH: usize = 4;

/// All constructive orders with their names, a few at a time: first the file order, alone, then what is best where it exists.
pub fn batches(graph: &Graph) -> impl Iterator<Item = Vec<(&'static str, Vec<OpId>)>> {
    let construct = |&(name, backward, rule): &(&'static str, bool, Construct)| (name, rule(View { graph, backward }));
    let constructed = RULES.chunks(BATCH).map(move |rules| rules.par_iter().map(construct).collect());
    let file_order = std::iter::once_with(|| vec![("file order", graph.topological().to_vec())]);
    let series_parallel = move || series_parallel::order(graph).map(|order| vec![("series-parallel", order)]);
    file_order.chain(std::iter::once_with(series_parallel).flatten()).chain(constructed)
}

/// Number of orders that [`views`] gives.
pub(crate) const VIEWS: usize = 8;

/// The first orders of the portfolio, without their names: levels, depth-first, post-order and list, both ways.
pub(crate) fn views(graph: &Graph) -> Vec<Vec<OpId>> {
    RULES[..VIEWS].par_iter().map(|&(_, backward, rule)| rule(View { graph, backward })).collect()
}

/// All constructive orders at once.
pub fn portfolio(graph: &Graph) -> Vec<(&'static str, Vec<OpId>)> {
    batches(graph).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use labrys_search::Seed;

    #[test]
    fn every_order_is_topological() {
        for number in 0..20 {
            let graph = synthetic::graph(Seed(3), number);
            for (name, order) in portfolio(&graph) {
                let mut ran = vec![false; graph.op_count()];
                for op in order {
                    assert!(graph.preds(op).iter().all(|p| ran[p.0 as usize]), "{name}, graph {number}");
                    assert!(!std::mem::replace(&mut ran[op.0 as usize], true), "{name}: op {} twice", op.0);
                }
                assert!(ran.iter().all(|&r| r), "{name} forgets ops");
            }
        }
    }

    /// Two chains of big tensors that end small: whoever alternates between them holds twice as much.
    #[test]
    fn orders_that_look_at_memory_finish_one_branch_first() {
        let mut b = labrys_dataflow::GraphBuilder::new("branches");
        let heads: Vec<OpId> = (0..2).map(|i| b.op(&format!("head{i}"), "op")).collect();
        let big: Vec<_> = heads.iter().map(|&op| b.output(op, "big", 100)).collect();
        let tails: Vec<OpId> = (0..2).map(|i| b.op(&format!("tail{i}"), "op")).collect();
        for i in 0..2 {
            b.input(tails[i], big[i]);
            b.output(tails[i], "small", 1);
        }
        let graph = b.build().unwrap();
        for (name, order) in portfolio(&graph) {
            let expected = if ["file order", "b-level", "t-level"].contains(&name) { 201 } else { 101 };
            assert_eq!(peak(&graph, &order), expected, "{name}");
        }
    }
}
