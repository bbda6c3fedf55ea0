//! Random graphs for unit tests, property tests and the checks of exact methods.

use labrys_dataflow::{Graph, GraphBuilder, OpId, TimeSource};
use labrys_graph::Id;
use labrys_search::Seed;
use rand::RngExt as _;
use std::sync::Arc;

/// A random DAG of at most `most_ops` ops with outputs, scratch memory, weights and control edges.
pub fn decorated(seed: u64, most_ops: usize) -> Arc<Graph> {
    let mut rng = Seed(seed).stream("decorated", 0);
    let mut b = GraphBuilder::new("random");
    let weights: Vec<_> = (0..3).map(|i| b.weight(&format!("w{i}"), rng.random_range(0..100))).collect();
    let mut tensors = vec![];
    for i in 0..rng.random_range(1..=most_ops) {
        let op = b.op(&format!("op{i}"), "op");
        b.set_time(op, rng.random_range(0..1_000_000), TimeSource::Measured);
        b.set_scratch(op, rng.random_range(0..50));
        for _ in 0..rng.random_range(0..4) {
            if !tensors.is_empty() {
                b.input(op, tensors[rng.random_range(0..tensors.len())]);
            }
        }
        if i > 0 && rng.random_bool(0.3) {
            b.control(op, OpId::new(rng.random_range(0..i)));
        }
        if rng.random_bool(0.3) {
            b.reads(op, weights[rng.random_range(0..3)]);
        }
        for port in 0..rng.random_range(0..3) {
            let tensor = b.output(op, &format!("t{i}:{port}"), rng.random_range(0..1000));
            if rng.random_bool(0.1) {
                b.keep(tensor);
            }
            tensors.push(tensor);
        }
    }
    Arc::new(b.build().unwrap())
}
