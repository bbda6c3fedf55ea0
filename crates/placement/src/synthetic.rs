//! The paper's synthetic computation graphs (A.1.4), seedable and in any number.

use crate::baselines;
use crate::problem::{Objective, Problem};
use labrys_dataflow::graph::TimeSource;
use labrys_dataflow::{Graph, GraphBuilder, OpId, TensorId};
use labrys_graph::generate;
use labrys_search::{Limits, Runner, Seed, brkga, seed::Rng};
use rand::RngExt as _;
use rand_distr::{Distribution as _, Normal};
use rayon::prelude::*;
use std::sync::Arc;

/// The random graph models of table 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Edge probability 0.05.
    ErdosRenyi,
    /// Each node connected to 2 earlier ones.
    BarabasiAlbert,
    /// 4 neighbours, rewired with probability 0.3.
    WattsStrogatz,
    /// 4 blocks, edge probability 0.3 within and 0.01 across.
    StochasticBlock,
}

impl Family {
    /// All four.
    pub const ALL: [Self; 4] = [Self::ErdosRenyi, Self::BarabasiAlbert, Self::WattsStrogatz, Self::StochasticBlock];

    fn edges(self, n: u32, rng: &mut Rng) -> Vec<generate::Edge> {
        match self {
            Self::ErdosRenyi => generate::erdos_renyi(n, 0.05, rng),
            Self::BarabasiAlbert => generate::barabasi_albert(n, 2, rng),
            Self::WattsStrogatz => generate::watts_strogatz(n, 4, 0.3, rng),
            Self::StochasticBlock => generate::stochastic_block(n, 4, 0.3, 0.01, rng),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::ErdosRenyi => "er",
            Self::BarabasiAlbert => "ba",
            Self::WattsStrogatz => "ws",
            Self::StochasticBlock => "sbm",
        }
    }
}

/// One cost unit of the paper becomes this many nanoseconds: `compute_cost` counts microseconds.
const TIME_UNIT: f64 = 1000.0;

/// Graph number `number` under a seed, before the filter: the family is drawn first, then 50 to 200 ops.
pub fn graph(seed: Seed, number: u64) -> Graph {
    let mut rng = seed.stream("synthetic-ops", number);
    let family = Family::ALL[rng.random_range(0..4)];
    let n = rng.random_range(50..=200);
    of_family(family, n, number, &mut rng)
}

/// Whether a graph is *interesting* (A.1.4): ten times the evaluations take at least 18% off the run time on two devices.
pub fn is_interesting(seed: Seed, number: u64) -> bool {
    let problem = Problem::new(Arc::new(graph(seed, number)), 2, Objective::Makespan);
    let makespan = |evaluations| {
        let mut run = Runner::new(Limits { work: Some(evaluations), time: None }, seed.derive("filter", number));
        baselines::brkga::search(&problem, &brkga::Params::default(), &mut run);
        run.best_score().map_or(u64::MAX, |score| score.value) as f64
    };
    makespan(10_000) <= 0.82 * makespan(1_000)
}

/// The numbers of the first `count` graphs under a seed, of the interesting ones only if `filtered`.
pub fn numbers(seed: Seed, count: u64, filtered: bool) -> Vec<u64> {
    if !filtered {
        return (0..count).collect();
    }
    let mut kept: Vec<u64> = vec![];
    let mut next = 0;
    while (kept.len() as u64) < count {
        let missing = count - kept.len() as u64;
        // Collected in order, so that the number of threads does not matter.
        let more: Vec<u64> = (next..next + missing).into_par_iter().filter(|&n| is_interesting(seed, n)).collect();
        kept.extend(more);
        next += missing;
    }
    kept
}

/// A graph of one family with `n` ops and a source and a sink.
pub fn of_family(family: Family, n: u32, number: u64, rng: &mut Rng) -> Graph {
    let edges = family.edges(n, rng);
    let rank = generate::permutation(n, rng);
    // Op `rank[v]` stands for node v, so that edges lead from lower to higher ops.
    let mut arcs: Vec<(u32, u32)> = edges
        .into_iter()
        .map(|(a, b)| (rank[a as usize], rank[b as usize]))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    arcs.sort_unstable();
    let mut draft = Draft::new(format!("synthetic-{}-{number}", family.name()), n, rng);
    for &(before, after) in &arcs {
        let after = after as usize;
        draft.memory[after] += draft.depend(before, draft.ops[after], rng);
    }
    draft.finish(n, &arcs, rng)
}

/// How many layers back an op of [`layered`] takes its inputs from.
const LAYERS_BACK: u32 = 3;

/// A graph of `ops` ops in layers of `width`, to measure growth with size: times uniform in 10 to 100 microseconds, one output
/// each of 1 to 100 bytes, and one to three inputs from the three layers before.
///
/// # Errors
/// No ops at all, or more than a graph may have.
pub fn layered(ops: u32, width: u32, seed: Seed) -> labrys_dataflow::Result<Graph> {
    let (width, mut rng) = (width.max(1), seed.stream("layered", 0));
    let mut builder = GraphBuilder::new(format!("layered-{ops}x{width}"));
    let mut outputs: Vec<TensorId> = vec![];
    for i in 0..ops {
        let op = builder.op(&format!("op{i}"), "layered");
        builder.set_time(op, rng.random_range(10_000..=100_000), TimeSource::Measured);
        let layer = i / width;
        if layer > 0 {
            let sources = layer.saturating_sub(LAYERS_BACK) * width..layer * width;
            for _ in 0..rng.random_range(1..=3) {
                builder.input(op, outputs[rng.random_range(sources.clone()) as usize]);
            }
        }
        outputs.push(builder.output(op, &format!("op{i}:0"), rng.random_range(1..=100)));
    }
    builder.build()
}

struct Draft {
    builder: GraphBuilder,
    source: OpId,
    ops: Vec<OpId>,
    outputs: Vec<Vec<TensorId>>,
    sizes: Vec<u64>,
    /// Sum of the distinct input and output sizes of each op.
    memory: Vec<u64>,
}

impl Draft {
    /// Each op produces 0, 1 or 2 tensors with probability 0.1, 0.8, 0.1, of size N(50, 10).
    fn new(name: String, n: u32, rng: &mut Rng) -> Self {
        let mut builder = GraphBuilder::new(name);
        let source = builder.op("_SOURCE", "source");
        let size = Normal::new(50.0f64, 10.0).expect("a positive deviation");
        let (mut ops, mut outputs, mut sizes, mut memory) = (vec![], vec![], vec![], vec![]);
        for v in 0..n {
            let op = builder.op(&format!("op{v}"), "synthetic");
            let count = [0, 1, 1, 1, 1, 1, 1, 1, 1, 2][rng.random_range(0..10)];
            let tensors: Vec<TensorId> = (0..count)
                .map(|port| {
                    let bytes = f64::max(size.sample(rng), 0.0).round() as u64;
                    sizes.push(bytes);
                    builder.output(op, &format!("op{v}:{port}"), bytes)
                })
                .collect();
            memory.push(tensors.iter().map(|t| sizes[t.0 as usize]).sum());
            ops.push(op);
            outputs.push(tensors);
        }
        Self { builder, source, ops, outputs, sizes, memory }
    }

    /// Makes `after` depend on node `before` and returns the bytes that this passes: a control edge with probability 0.2, or
    /// always if there is no output, else a uniformly drawn output.
    fn depend(&mut self, before: u32, after: OpId, rng: &mut Rng) -> u64 {
        let before = before as usize;
        let outputs = &self.outputs[before];
        if outputs.is_empty() || rng.random_bool(0.2) {
            self.builder.control(after, self.ops[before]);
            return 0;
        }
        let tensor = outputs[rng.random_range(0..outputs.len())];
        self.builder.input(after, tensor);
        self.sizes[tensor.0 as usize]
    }

    /// Run times are the memory of all inputs and outputs with 10% Gaussian noise; source and sink cost nothing.
    fn finish(mut self, n: u32, arcs: &[(u32, u32)], rng: &mut Rng) -> Graph {
        let noise = Normal::new(0.0f64, 0.1).expect("a positive deviation");
        for (v, &op) in self.ops.iter().enumerate() {
            let cost = self.memory[v] as f64 * (1.0 + noise.sample(rng));
            self.builder.set_time(op, (cost.max(0.0).round() * TIME_UNIT) as u64, TimeSource::Measured);
        }
        self.builder.set_time(self.source, 0, TimeSource::Measured);
        let (mut is_head, mut is_tail) = (vec![true; n as usize], vec![true; n as usize]);
        for &(before, after) in arcs {
            is_tail[before as usize] = false;
            is_head[after as usize] = false;
        }
        let sink = self.builder.op("_SINK", "sink");
        self.builder.set_time(sink, 0, TimeSource::Measured);
        for v in 0..n as usize {
            if is_head[v] {
                self.builder.control(self.ops[v], self.source);
            }
            if is_tail[v] {
                // Control edges, as source and sink have no memory costs; this reproduces the paper's gaps (docs/placement.md).
                self.builder.control(sink, self.ops[v]);
            }
        }
        self.builder.build().expect("edges lead from lower to higher ops and sizes are small")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_the_papers() {
        let (mut ops, mut tensors, mut control, mut data, mut bytes) = (0, 0, 0, 0, 0);
        for number in 0..200 {
            let g = graph(Seed(1), number);
            assert!((52..=202).contains(&g.op_count()));
            ops += g.op_count() - 2;
            tensors += g.tensor_count();
            bytes += g.tensors().map(|t| g.bytes(t)).sum::<u64>();
            let inner = g.ops().filter(|&op| g.kind(op) == "synthetic");
            for op in inner {
                control += g.control(op).iter().filter(|&&before| g.kind(before) != "source").count();
                data += g.inputs(op).len();
            }
        }
        assert!((0.97..1.03).contains(&(tensors as f64 / ops as f64)));
        assert!((49.5..50.5).contains(&(bytes as f64 / tensors as f64)));
        // 10% of the ops have no output, and of the rest 20% are control edges: 28% in all.
        let share = control as f64 / (control + data) as f64;
        assert!((0.25..0.31).contains(&share), "{share}");
    }

    #[test]
    fn the_filter_keeps_most_graphs() {
        let numbers = numbers(Seed(0), 10, true);
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((9..20).contains(&numbers[9]), "{numbers:?}");
    }

    #[test]
    fn layers_have_the_size_and_inputs_asked_for() {
        let g = layered(1_000, 20, Seed(1)).unwrap();
        assert_eq!(g.op_count(), 1_000);
        for op in g.ops().skip(20) {
            assert!((1..=3).contains(&g.inputs(op).len()));
            assert!(g.preds(op).iter().all(|before| (1..=3).contains(&(op.0 / 20 - before.0 / 20))));
        }
        assert!(layered(0, 20, Seed(1)).is_err());
    }

    #[test]
    fn the_same_number_is_the_same_graph() {
        let (a, b) = (graph(Seed(5), 7), graph(Seed(5), 7));
        assert_eq!((a.total_time(), a.dag()), (b.total_time(), b.dag()));
        assert_ne!(a.total_time(), graph(Seed(5), 8).total_time());
    }
}
