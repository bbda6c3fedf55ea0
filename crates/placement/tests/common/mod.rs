//! Random problems for property tests.

use labrys_placement::{Link, Objective, Problem, Transfers, Weights};
use proptest::prelude::*;

#[path = "../../src/random_graph.rs"]
mod random_graph;

/// A random problem of every kind that the model knows.
pub fn problems() -> impl Strategy<Value = (Problem, u64)> {
    let link = prop_oneof![
        Just(Link::FREE),
        (1.0e6f64..1.0e9, 0u64..100_000).prop_map(|(rate, latency)| Link { bandwidth: Some(rate), latency })
    ];
    let transfers = prop_oneof![Just(Transfers::Synchronous), Just(Transfers::Asynchronous)];
    (any::<u64>(), 1usize..5, link, transfers, any::<bool>()).prop_map(|(seed, devices, link, transfers, weights)| {
        let graph = random_graph::decorated(seed, 39);
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
