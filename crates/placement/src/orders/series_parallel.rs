//! The order of least peak memory of a series-parallel graph.
//!
//! A part of the graph becomes a sequence of *hill-valley segments*, each with its peak and its net change of memory, sorted by
//! the rule that says which of two independent segments goes first; parts in parallel are merged, parts in series appended, and
//! segments that the rule would rather have the other way round stick together. Liu, "An application of generalized tree
//! pebbling to sparse matrix factorization", 1987, for trees; Abdel-Wahab & Kameda, "Scheduling to minimize maximum cumulative
//! cost subject to series-parallel precedence constraints", 1978, in general; Kayaaslan, Lambert, Marchal & Ucar, "Scheduling
//! series-parallel task graphs to minimize peak memory", 2018, for two-terminal task graphs, where the end of the shrinking
//! segments is the minimum cut.
//!
//! Optimal if each tensor has a consumer that comes after all its others, as with one consumer or a skip connection: then it is
//! known which op frees what. Else the consumer last in file order is taken to free the tensor, and the order is a heuristic.

use labrys_dataflow::{Graph, OpId};
use labrys_graph::Id;
use labrys_graph::series_parallel::{Part, decompose};
use std::collections::BTreeSet;

/// The order, or `None` if the graph is not series-parallel. O(n log^2 n + m).
pub(super) fn order(graph: &Graph) -> Option<Vec<OpId>> {
    let tree = decompose(graph.dag())?;
    let mut segments = Segments::new(graph);
    let mut sequences: Vec<Sequence> = vec![];
    for &part in &tree {
        let sequence = match part {
            // Made when it is used, as a tree of one element takes as much memory as one of eleven.
            Part::Node(_) => Sequence::new(),
            Part::Series(a, b) => {
                let [first, second] = [a, b].map(|part| segments.take(&tree, &mut sequences, part));
                segments.append(first, second)
            }
            Part::Parallel(a, b) => {
                let [first, second] = [a, b].map(|part| segments.take(&tree, &mut sequences, part));
                union(first, second)
            }
        };
        sequences.push(sequence);
    }
    let root = segments.take(&tree, &mut sequences, tree.len() as u32 - 1);
    Some(root.into_iter().flat_map(|(_, first)| segments.ops(first)).collect())
}

/// Segments by rank, then by first op. Segments of the same rank do not depend on each other.
type Sequence = BTreeSet<(u64, OpId)>;

/// Segments, known by their first op; at the start each op is one.
struct Segments {
    /// Most bytes held during the segment, on top of those held before.
    peak: Vec<i64>,
    /// Bytes held after the segment, on top of those held before.
    net: Vec<i64>,
    last: Vec<OpId>,
    /// The op after each one in its segment.
    next: Vec<Option<OpId>>,
}

impl Segments {
    fn new(graph: &Graph) -> Self {
        let freed = freed(graph);
        let made = |op| graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum::<u64>() as i64;
        Self {
            peak: graph.ops().map(|op| made(op) + graph.scratch(op) as i64).collect(),
            net: graph.ops().map(|op| made(op) - freed[op.index()] as i64).collect(),
            last: graph.ops().collect(),
            next: vec![None; graph.op_count()],
        }
    }

    /// Low ranks go first: shrinking segments by ascending peak, then growing ones by descending fall from the peak.
    fn rank(&self, segment: OpId) -> u64 {
        let (peak, net) = (self.peak[segment.index()], self.net[segment.index()]);
        if net <= 0 { peak as u64 } else { u64::MAX - (peak - net) as u64 }
    }

    /// Runs one segment right after another from now on.
    fn join(&mut self, a: OpId, b: OpId) -> OpId {
        let (i, j) = (a.index(), b.index());
        self.peak[i] = self.peak[i].max(self.net[i] + self.peak[j]);
        self.net[i] += self.net[j];
        self.next[self.last[i].index()] = Some(b);
        self.last[i] = self.last[j];
        a
    }

    /// The second sequence after the first: joins what the rank would have the other way round, which is around the seam.
    fn append(&mut self, mut first: Sequence, mut second: Sequence) -> Sequence {
        let Some((mut rank, mut seam)) = second.pop_first() else { return first };
        loop {
            if let Some((_, before)) = first.last().copied().filter(|last| last.0 >= rank) {
                first.pop_last();
                seam = self.join(before, seam);
            } else if let Some((_, after)) = second.first().copied().filter(|next| next.0 <= rank) {
                second.pop_first();
                seam = self.join(seam, after);
            } else {
                break;
            }
            rank = self.rank(seam);
        }
        first.insert((rank, seam));
        union(first, second)
    }

    /// Moves out the sequence of a part.
    fn take(&self, tree: &[Part<OpId>], sequences: &mut [Sequence], part: u32) -> Sequence {
        match tree[part as usize] {
            Part::Node(op) => Sequence::from([(self.rank(op), op)]),
            _ => std::mem::take(&mut sequences[part as usize]),
        }
    }

    /// The ops of a segment in order.
    fn ops(&self, first: OpId) -> impl Iterator<Item = OpId> {
        std::iter::successors(Some(first), |op| self.next[op.index()])
    }
}

/// Both sequences in one; moves the smaller one, so that each segment moves O(log n) times in all.
fn union(first: Sequence, second: Sequence) -> Sequence {
    let (mut large, small) = if first.len() < second.len() { (second, first) } else { (first, second) };
    large.extend(small);
    large
}

/// Bytes that each op frees, if a tensor goes with its last consumer in file order.
fn freed(graph: &Graph) -> Vec<u64> {
    let mut last: Vec<OpId> = graph.tensors().map(|t| graph.producer(t)).collect();
    for &op in graph.topological() {
        graph.inputs(op).iter().for_each(|t| last[t.index()] = op);
    }
    let mut freed = vec![0; graph.op_count()];
    for tensor in graph.tensors().filter(|&t| !graph.is_kept(t)) {
        freed[last[tensor.index()].index()] += graph.bytes(tensor);
    }
    freed
}

#[cfg(test)]
mod tests {
    use super::super::peak;
    use super::*;
    use labrys_dataflow::{GraphBuilder, TensorId};
    use labrys_search::{Seed, seed::Rng};
    use rand::RngExt as _;

    /// Builds random series-parallel graphs; `shared` tells whether an op gives all its successors the same tensor.
    struct Generator {
        builder: GraphBuilder,
        rng: Rng,
        shared: bool,
    }

    /// A part of the graph: where arcs enter and leave it.
    struct Ends {
        heads: Vec<OpId>,
        tails: Vec<OpId>,
    }

    impl Generator {
        fn graph(seed: Seed, number: u64, shared: bool) -> Graph {
            let mut rng = seed.stream("series-parallel", number);
            let ops = rng.random_range(1..=9);
            let mut generator = Self { builder: GraphBuilder::new("random"), rng, shared };
            let ends = generator.part(ops);
            for tail in ends.tails {
                let tensor = generator.tensor(tail);
                if generator.rng.random_bool(0.5) {
                    generator.builder.keep(tensor);
                }
            }
            generator.builder.build().unwrap()
        }

        fn op(&mut self) -> OpId {
            let op = self.builder.op("op", "op");
            if self.rng.random_bool(0.3) {
                self.builder.set_scratch(op, self.rng.random_range(0..30));
            }
            op
        }

        fn tensor(&mut self, op: OpId) -> TensorId {
            let bytes = self.rng.random_range(0..20);
            self.builder.output(op, "tensor", bytes)
        }

        fn part(&mut self, ops: u32) -> Ends {
            if ops == 1 {
                let op = self.op();
                return Ends { heads: vec![op], tails: vec![op] };
            }
            if ops > 2 && self.rng.random_bool(0.2) {
                return self.residual(ops);
            }
            let cut = self.rng.random_range(1..ops);
            let (first, second) = (self.part(cut), self.part(ops - cut));
            if self.rng.random_bool(0.5) {
                return Ends {
                    heads: [first.heads, second.heads].concat(),
                    tails: [first.tails, second.tails].concat(),
                };
            }
            self.connect(&first.tails, &second.heads);
            Ends { heads: first.heads, tails: second.tails }
        }

        fn connect(&mut self, before: &[OpId], after: &[OpId]) {
            for &from in before {
                let common = self.shared.then(|| self.tensor(from));
                for &to in after {
                    if self.rng.random_bool(0.1) {
                        self.builder.control(to, from);
                    } else {
                        let tensor = common.unwrap_or_else(|| self.tensor(from));
                        self.builder.input(to, tensor);
                    }
                }
            }
        }

        /// A body between two ops, and a tensor that body and last op read both.
        fn residual(&mut self, ops: u32) -> Ends {
            let start = self.op();
            let body = self.part(ops - 2);
            let end = self.op();
            let tensor = self.tensor(start);
            body.heads.iter().chain([&end]).for_each(|&op| self.builder.input(op, tensor));
            self.connect(&body.tails, &[end]);
            Ends { heads: vec![start], tails: vec![end] }
        }
    }

    /// The least peak over all topological orders, by dynamic programming over the sets of ops that ran.
    fn least_peak(graph: &Graph) -> u64 {
        let n = graph.op_count();
        let is_in = |set: usize, op: OpId| set >> op.index() & 1 == 1;
        let is_held = |set, &t: &TensorId| {
            is_in(set, graph.producer(t))
                && (graph.is_kept(t) || graph.consumers(t).iter().any(|&consumer| !is_in(set, consumer)))
        };
        let mut least = vec![u64::MAX; 1 << n];
        least[0] = 0;
        for set in 0..1usize << n {
            let held: u64 = graph.tensors().filter(|t| is_held(set, t)).map(|t| graph.bytes(t)).sum();
            for op in graph.ops().filter(|&op| !is_in(set, op) && graph.preds(op).iter().all(|&p| is_in(set, p))) {
                let made: u64 = graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum();
                let (before, after) = (least[set], &mut least[set | 1 << op.index()]);
                *after = (*after).min(before.max(held + made + graph.scratch(op)));
            }
        }
        least[(1 << n) - 1]
    }

    fn assert_topological(graph: &Graph, order: &[OpId]) {
        let mut ran = vec![false; graph.op_count()];
        for &op in order {
            assert!(graph.preds(op).iter().all(|p| ran[p.index()]));
            assert!(!std::mem::replace(&mut ran[op.index()], true), "op {} twice", op.0);
        }
        assert!(ran.iter().all(|&r| r), "an op is forgotten");
    }

    #[test]
    fn no_order_needs_less_memory() {
        for number in 0..3_000 {
            let graph = Generator::graph(Seed(1), number, false);
            let order = order(&graph).expect("series-parallel by construction");
            assert_topological(&graph, &order);
            assert_eq!(peak(&graph, &order), least_peak(&graph), "graph {number}");
        }
    }

    #[test]
    fn shared_tensors_give_a_topological_order() {
        let mut optimal = 0;
        for number in 0..500 {
            let graph = Generator::graph(Seed(2), number, true);
            let order = order(&graph).expect("series-parallel by construction");
            assert_topological(&graph, &order);
            optimal += u32::from(peak(&graph, &order) == least_peak(&graph));
        }
        assert!(optimal >= 400, "only {optimal} of 500 are optimal");
    }

    #[test]
    fn other_graphs_have_none() {
        let mut b = GraphBuilder::new("n");
        let ops: Vec<OpId> = (0..4).map(|i| b.op(&format!("op{i}"), "op")).collect();
        [(0, 2), (0, 3), (1, 3)].iter().for_each(|&(from, to)| b.control(ops[to], ops[from]));
        assert_eq!(order(&b.build().unwrap()), None);
    }

    #[test]
    fn a_long_chain_beside_a_fork_is_fine() {
        let mut b = GraphBuilder::new("long");
        let root = b.op("root", "op");
        let mut chain = root;
        for i in 0..20_000 {
            let tensor = b.output(chain, "link", 1 + i % 7);
            chain = b.op("chain", "op");
            b.input(chain, tensor);
            let leaf = b.op("leaf", "op");
            b.control(leaf, root);
        }
        let graph = b.build().unwrap();
        assert_topological(&graph, &order(&graph).unwrap());
    }
}
