//! A lower bound on the peak memory: the least that can be live while some op runs, by minimum cuts.
//!
//! While op j runs, the ops that have run form a set S with all ancestors of j, none of its descendants, closed under
//! predecessors. A tensor is live if its producer is in S and a consumer is not, or if the graph outputs it. The least live sum
//! over all such S is a minimum cut: S is the source side, arcs from an op to its predecessors and from a tensor to its
//! consumers are infinite, the arc from a producer to its tensor has the tensor's size. Every plan passes through j, so the
//! greatest of these sums over any set of ops is a bound; d devices share it, each at least holding the largest op's own.

use crate::orders;
use crate::problem::{Problem, Weights};
use labrys_dataflow::{Graph, OpId, TensorId};
use labrys_graph::Id;
use labrys_graph::flow::{FlowNetwork, FlowNode, INFINITE};

/// Work that takes about 50 ms; enough for all ops of graphs with a few hundred.
pub const DEFAULT_BUDGET: u64 = 20_000_000;

/// Bytes that every plan needs on some device. Looks at about `budget` nodes and arcs; a larger budget may raise the bound.
pub fn memory(problem: &Problem, budget: u64) -> u64 {
    let graph = &*problem.graph;
    let largest = graph.ops().map(|op| own_memory(problem, op)).max().unwrap_or(0);
    let devices = problem.device_count().max(1) as u64;
    let weights = match problem.weights {
        Weights::Resident => weights_read(graph),
        Weights::Ignored => 0,
    };
    largest.max((weights + least_live_set(graph, budget)).div_ceil(devices))
}

/// What an op needs on its device whatever else is there.
fn own_memory(problem: &Problem, op: OpId) -> u64 {
    let graph = &problem.graph;
    let tensors: u64 = graph.inputs(op).iter().chain(graph.outputs(op)).map(|&t| graph.bytes(t)).sum();
    let weights: u64 = match problem.weights {
        Weights::Resident => graph.reads(op).iter().map(|&w| graph.weight_bytes(w)).sum(),
        Weights::Ignored => 0,
    };
    tensors + weights + graph.scratch(op)
}

/// Every weight that is read is resident somewhere.
fn weights_read(graph: &Graph) -> u64 {
    let mut read = vec![false; graph.weight_count()];
    graph.ops().flat_map(|op| graph.reads(op)).for_each(|w| read[w.index()] = true);
    graph.weights().filter(|w| read[w.index()]).map(|w| graph.weight_bytes(w)).sum()
}

/// The greatest of the least live sets over the ops, those first that hold most in the best order known.
///
/// What an op holds in any order is at least its minimum, so the search ends when that is below the bound found.
fn least_live_set(graph: &Graph, mut budget: u64) -> u64 {
    // The portfolio costs about as much as looking at every arc a hundred times.
    let is_large = (graph.op_count() + graph.dag().arcs()) as u64 > budget / 100;
    let orders = if is_large { vec![("file order", graph.topological().to_vec())] } else { orders::portfolio(graph) };
    let candidates = candidates(graph, &orders);
    let mut search = LiveSet::new(graph);
    let mut bound = 0;
    for (held, op) in candidates {
        if held <= bound || budget == 0 {
            break;
        }
        bound = bound.max(search.minimum(op, &mut budget));
    }
    bound
}

/// For each op the least that it holds in any of the orders, greatest first.
fn candidates(graph: &Graph, orders: &[(&str, Vec<OpId>)]) -> Vec<(u64, OpId)> {
    let mut held: Vec<(u64, OpId)> = graph.ops().map(|op| (u64::MAX, op)).collect();
    for (_, order) in orders {
        for (memory, op) in orders::profile(graph, order).into_iter().zip(order) {
            let least = &mut held[op.index()].0;
            *least = memory.min(*least);
        }
    }
    held.sort_by_key(|&(memory, op)| (std::cmp::Reverse(memory), op));
    held
}

/// Where an op stands relative to the op that runs.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    /// Must have run.
    Ancestor,
    /// Cannot have run: the op itself and its descendants.
    Descendant,
    /// May have run or not: the node of the network that decides.
    Free(FlowNode),
}

const SOURCE: FlowNode = FlowNode(0);
const SINK: FlowNode = FlowNode(1);

/// Buffers for one minimum cut after another.
struct LiveSet<'g> {
    graph: &'g Graph,
    network: FlowNetwork,
    relation: Vec<Relation>,
    stack: Vec<OpId>,
}

impl<'g> LiveSet<'g> {
    fn new(graph: &'g Graph) -> Self {
        Self { graph, network: FlowNetwork::default(), relation: vec![], stack: vec![] }
    }

    /// The least live sum while `op` runs, or a lower bound on it if the budget runs out.
    fn minimum(&mut self, op: OpId, budget: &mut u64) -> u64 {
        let graph = self.graph;
        self.relate(op);
        self.network.reset(2);
        for other in graph.ops() {
            if self.relation[other.index()] == Relation::Free(SOURCE) {
                self.relation[other.index()] = Relation::Free(self.network.node());
            }
        }
        let own = graph.outputs(op).iter().map(|&t| graph.bytes(t)).sum::<u64>() + graph.scratch(op);
        let live = own + graph.tensors().map(|tensor| self.add_tensor(tensor)).sum::<u64>();
        self.add_precedence();
        *budget = budget.saturating_sub((graph.op_count() + graph.tensor_count()) as u64);
        live + self.network.max_flow(SOURCE, SINK, budget)
    }

    fn relate(&mut self, op: OpId) {
        self.relation.clear();
        self.relation.resize(self.graph.op_count(), Relation::Free(SOURCE));
        for (side, next) in
            [(Relation::Ancestor, Graph::preds as fn(&Graph, OpId) -> &[OpId]), (Relation::Descendant, Graph::succs)]
        {
            self.stack.push(op);
            while let Some(v) = self.stack.pop() {
                for &w in next(self.graph, v) {
                    if self.relation[w.index()] != side {
                        self.relation[w.index()] = side;
                        self.stack.push(w);
                    }
                }
            }
        }
        self.relation[op.index()] = Relation::Descendant;
    }

    /// Adds what depends on free ops to the network, and returns the bytes that are live whatever they do.
    fn add_tensor(&mut self, tensor: TensorId) -> u64 {
        let (graph, relation) = (self.graph, &self.relation);
        let bytes = graph.bytes(tensor);
        let consumers = graph.consumers(tensor);
        let stays = graph.is_kept(tensor) || consumers.iter().any(|c| relation[c.index()] == Relation::Descendant);
        let producer = match relation[graph.producer(tensor).index()] {
            Relation::Ancestor if stays => return bytes,
            Relation::Ancestor => SOURCE,
            Relation::Free(node) => node,
            Relation::Descendant => return 0,
        };
        if stays {
            self.network.arc(producer, SINK, bytes);
            return 0;
        }
        let free = |op: &OpId| match relation[op.index()] {
            Relation::Free(node) => Some(node),
            _ => None,
        };
        let mut waiting = consumers.iter().filter_map(free).peekable();
        if bytes > 0 && waiting.peek().is_some() {
            let node = self.network.node();
            self.network.arc(producer, node, bytes);
            waiting.for_each(|consumer| self.network.arc(node, consumer, INFINITE));
        }
        0
    }

    /// A free op has run only if its free predecessors have.
    fn add_precedence(&mut self) {
        for op in self.graph.ops() {
            if let Relation::Free(node) = self.relation[op.index()] {
                for pred in self.graph.preds(op) {
                    if let Relation::Free(before) = self.relation[pred.index()] {
                        self.network.arc(node, before, INFINITE);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Objective, synthetic};
    use labrys_search::Seed;
    use std::sync::Arc;

    /// Least live bytes while `op` runs, over all sets of ops that may have run before it.
    fn brute_force(graph: &Graph, op: OpId) -> u64 {
        let n = graph.op_count();
        let has = |set: u32, op: OpId| set >> op.0 & 1 == 1;
        let closed = |set: u32| graph.ops().all(|v| !has(set, v) || graph.preds(v).iter().all(|&p| has(set, p)));
        let before = |set: u32| graph.preds(op).iter().all(|&p| has(set, p)) && !has(set, op);
        let live = |set: u32, t: TensorId| {
            let waits = graph.is_kept(t) || graph.consumers(t).iter().any(|&c| !has(set, c));
            graph.producer(t) == op || has(set, graph.producer(t)) && waits
        };
        let sum = |set: u32| graph.tensors().filter(|&t| live(set, t)).map(|t| graph.bytes(t)).sum::<u64>();
        (0..1 << n).filter(|&set| before(set) && closed(set)).map(sum).min().unwrap() + graph.scratch(op)
    }

    fn small_graph(number: u64) -> Graph {
        use rand::RngExt as _;
        let mut rng = Seed(9).stream("small", number);
        let mut b = labrys_dataflow::GraphBuilder::new("small");
        let n = rng.random_range(2..11usize);
        let mut tensors = vec![];
        for i in 0..n {
            let op = b.op(&format!("op{i}"), "op");
            b.set_scratch(op, rng.random_range(0..30));
            for _ in 0..rng.random_range(0..3) {
                if !tensors.is_empty() {
                    b.input(op, tensors[rng.random_range(0..tensors.len())]);
                }
            }
            if i > 0 && rng.random_bool(0.2) {
                b.control(op, OpId::new(rng.random_range(0..i)));
            }
            for port in 0..rng.random_range(0..3) {
                let tensor = b.output(op, &format!("t{i}:{port}"), rng.random_range(0..50));
                if rng.random_bool(0.1) {
                    b.keep(tensor);
                }
                tensors.push(tensor);
            }
        }
        b.build().unwrap()
    }

    #[test]
    fn each_minimum_is_the_brute_force_minimum() {
        for number in 0..200 {
            let graph = small_graph(number);
            let mut search = LiveSet::new(&graph);
            for op in graph.ops() {
                let minimum = search.minimum(op, &mut 1_000_000);
                assert_eq!(minimum, brute_force(&graph, op), "graph {number}, op {}", op.0);
                assert!((0..50).all(|budget| search.minimum(op, &mut { budget }) <= minimum));
            }
        }
    }

    #[test]
    fn the_pruned_maximum_is_the_maximum() {
        for number in 0..10 {
            let graph = synthetic::graph(Seed(2), number);
            let mut search = LiveSet::new(&graph);
            let all = graph.ops().map(|op| search.minimum(op, &mut { u64::MAX })).max().unwrap();
            assert_eq!(least_live_set(&graph, u64::MAX), all);
        }
    }

    #[test]
    fn devices_share_weights_and_live_tensors() {
        let mut b = labrys_dataflow::GraphBuilder::new("weights");
        let weight = b.weight("w", 100);
        let (first, second) = (b.op("first", "op"), b.op("second", "op"));
        b.reads(first, weight);
        let tensor = b.output(first, "t", 11);
        b.input(second, tensor);
        let mut problem = Problem::new(Arc::new(b.build().unwrap()), 1, Objective::PeakMemory);
        assert_eq!(memory(&problem, DEFAULT_BUDGET), 111);
        problem = problem.with_weights(Weights::Ignored);
        assert_eq!(memory(&problem, DEFAULT_BUDGET), 11);
        let mut two = Problem::new(Arc::clone(&problem.graph), 2, Objective::PeakMemory);
        assert_eq!(memory(&two, DEFAULT_BUDGET), 111, "the first op holds its weight and its output on one device");
        two = two.with_weights(Weights::Ignored);
        assert_eq!(memory(&two, DEFAULT_BUDGET), 11);
    }
}
