//! Evaluations per second of the paper's decoder, against the textbook one.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use labrys_placement::decode::{PaperDecoder, heap::HeapDecoder};
use labrys_placement::{Objective, Problem, Simulator, synthetic};
use labrys_search::{Seed, brkga::Decoder as _};
use rand::RngExt as _;
use std::sync::Arc;

fn decoders(c: &mut Criterion) {
    for objective in [Objective::Makespan, Objective::PeakMemory] {
        let mut group = c.benchmark_group(format!("decode {objective:?}"));
        let mut rng = Seed(0).stream("bench", 0);
        let graph = synthetic::of_family(synthetic::Family::StochasticBlock, 150, 0, &mut rng);
        let problem = Problem::new(Arc::new(graph), 2, objective);
        let decoder = PaperDecoder::new(&problem);
        let keys: Vec<Vec<f32>> = (0..256).map(|_| (0..decoder.genes()).map(|_| rng.random()).collect()).collect();
        group.throughput(Throughput::Elements(problem.graph.op_count() as u64));
        let mut scratch = decoder.scratch();
        let mut next = (0..keys.len()).cycle();
        group.bench_function(BenchmarkId::new("bucket queue", "fused"), |b| {
            b.iter(|| decoder.evaluate(&keys[next.next().unwrap()], &mut scratch));
        });
        let mut textbook = HeapDecoder::new(&problem);
        let mut simulator = Simulator::for_score(&problem);
        group.bench_function(BenchmarkId::new("binary heap", "textbook"), |b| {
            b.iter(|| problem.score(&simulator.simulate(textbook.decode(&keys[next.next().unwrap()]))));
        });
        group.finish();
    }
}

criterion_group!(benches, decoders);
criterion_main!(benches);
