//! Peak-memory annealing, moves per second: one iteration is 10,000 moves after the constructive starts.

#![allow(missing_docs)] // criterion_main! makes an undocumented function

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use labrys_placement::synthetic::{Family, of_family};
use labrys_placement::{DeviceId, Objective, Plan, Problem, peak};
use labrys_search::{Limits, Runner, Seed};
use std::sync::Arc;

const MOVES: u64 = 10_000;

fn moves(c: &mut Criterion) {
    let mut group = c.benchmark_group("peak annealing");
    group.throughput(Throughput::Elements(MOVES)).sample_size(20);
    for n in [200, 2_000, 20_000] {
        let graph = of_family(Family::BarabasiAlbert, n, 0, &mut Seed(1).stream("bench", 0));
        let graph = Arc::new(graph);
        for devices in [1, 2] {
            let problem = Problem::new(Arc::clone(&graph), devices, Objective::PeakMemory);
            let device = vec![DeviceId(0); graph.op_count()];
            let start = Plan::with_lazy_transfers(&graph, device, graph.topological(), devices);
            group.bench_function(BenchmarkId::new(format!("{devices} devices"), n), |b| {
                b.iter(|| {
                    let mut run = Runner::new(Limits { time: None, work: Some(MOVES) }, Seed(0));
                    peak::anneal(&problem, &start, &mut run);
                    run.best_score()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, moves);
criterion_main!(benches);
