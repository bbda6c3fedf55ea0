//! Random problems for property tests.

use labrys_dataflow::{GraphBuilder, OpId, TimeSource};
use labrys_graph::Id;
use labrys_placement::{Link, Objective, Problem, Transfers, Weights};
use labrys_search::Seed;
use proptest::prelude::*;
use std::sync::Arc;

/// A random problem of every kind that the model knows.
pub fn problems() -> impl Strategy<Value = (Problem, u64)> {
    let link = prop_oneof![
        Just(Link::FREE),
        (1.0e6f64..1.0e9, 0u64..100_000).prop_map(|(rate, latency)| Link { bandwidth: Some(rate), latency })
    ];
    let transfers = prop_oneof![Just(Transfers::Synchronous), Just(Transfers::Asynchronous)];
    (any::<u64>(), 1usize..5, link, transfers, any::<bool>()).prop_map(|(seed, devices, link, transfers, weights)| {
        let graph = decorated(seed);
        let weights = if weights { Weights::Resident } else { Weights::Ignored };
        let mut problem = Problem::new(graph, devices, Objective::Makespan)
            .with_link(link)
            .with_transfers(transfers)
            .with_weights(weights);
        // Odd devices take half as long again.
        let slow = problem.times[0].iter().map(|time| time * 3 / 2).collect();
        problem.times.push(slow);
        for (i, device) in problem.devices.iter_mut().enumerate() {
            device.class = i % 2;
        }
        (problem, seed)
    })
}

/// A random DAG with outputs, scratch memory, weights and control edges.
fn decorated(seed: u64) -> Arc<labrys_dataflow::Graph> {
    use rand::RngExt as _;
    let mut rng = Seed(seed).stream("decorated", 0);
    let mut b = GraphBuilder::new("random");
    let weights: Vec<_> = (0..3).map(|i| b.weight(&format!("w{i}"), rng.random_range(0..100))).collect();
    let mut tensors = vec![];
    for i in 0..rng.random_range(1..40usize) {
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
