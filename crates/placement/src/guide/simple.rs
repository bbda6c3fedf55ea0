//! Guides that have learned nothing: what a trained one must beat.

use super::{OrderAdvice, Priorities};
use labrys_dataflow::Graph;
use labrys_search::{Guide, Seed};
use rand::RngExt as _;

/// Scores drawn by a seed; growth of memory does not count.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub Seed);

impl Guide<Graph> for Random {
    type Advice = OrderAdvice;

    fn advise(&self, graph: &Graph) -> OrderAdvice {
        let mut rng = self.0.stream("random guide", 0);
        let n = graph.op_count();
        let mut draw = || Priorities { score: (0..n).map(|_| rng.random()).collect(), weight: vec![0.0; n] };
        OrderAdvice { forward: draw(), backward: draw(), temperature: None }
    }
}

/// Always the op by which memory grows the least.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

impl Guide<Graph> for Greedy {
    type Advice = OrderAdvice;

    fn advise(&self, _: &Graph) -> OrderAdvice {
        OrderAdvice::default()
    }
}
