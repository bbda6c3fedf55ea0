//! Run time: list passes by size, moves per second of both annealers.

#![allow(missing_docs)] // criterion_main! makes an undocumented function

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use labrys_placement::{Link, Objective, Plan, Problem, bounds, list, superstep, synthetic};
use labrys_search::{Limits, Runner, Seed};
use std::sync::Arc;

const MOVES: u64 = 100_000;

fn portfolio(problem: &Problem, constructive: fn(&Problem, &mut Runner<Plan>)) -> Plan {
    let mut run = Runner::new(Limits::default(), Seed(0));
    constructive(problem, &mut run);
    run.finish().best.expect("a constructive method offers a plan").1
}

fn constructive(c: &mut Criterion) {
    let mut group = c.benchmark_group("super-step list portfolio");
    group.sample_size(10);
    for ops in [1_000, 10_000, 100_000] {
        let graph = synthetic::layered(ops, 100, Seed(1)).unwrap();
        let problem = Problem::new(Arc::new(graph), 2, Objective::Makespan);
        group.throughput(Throughput::Elements(u64::from(ops)));
        group.bench_with_input(BenchmarkId::from_parameter(ops), &problem, |b, problem| {
            b.iter(|| portfolio(problem, superstep::constructive));
        });
    }
    group.finish();
    let problem = Problem::new(Arc::new(synthetic::graph(Seed(0), 0)), 2, Objective::Makespan);
    c.bench_function("makespan bound", |b| b.iter(|| bounds::makespan(&problem)));
}

type Improver = fn(&Problem, &Plan, &mut Runner<Plan>);

fn moves(c: &mut Criterion) {
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let free = Problem::new(Arc::new(synthetic::graph(Seed(0), 0)), 2, Objective::Makespan);
    let start = portfolio(&free, superstep::constructive);
    let finite = free.clone().with_link(Link { bandwidth: Some(1e6), latency: 1_000 });
    let mut group = c.benchmark_group("annealing moves");
    group.throughput(Throughput::Elements(MOVES));
    group.sample_size(10);
    let cases: [(&str, &Problem, Improver); 3] = [
        ("super-steps", &free, superstep::anneal::anneal),
        ("plans, free links", &free, list::anneal::anneal),
        ("plans, finite links", &finite, list::anneal::anneal),
    ];
    for (name, problem, improve) in cases {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut run = Runner::new(Limits { work: Some(MOVES), time: None }, Seed(0));
                one_thread.install(|| improve(problem, &start, &mut run));
                run.finish()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, constructive, moves);
criterion_main!(benches);
