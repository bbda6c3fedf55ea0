//! Times one training step of the paper's graph network: 4 graphs of 200 ops, 32 wide, 16 rounds, forward, backward, Adam.
//!
//! Reads commands from stdin, one a line (`train`, `joined` or `infer`, then a number of repetitions), and answers each
//! with `WALL/CPU` milliseconds of every repetition; `benches/train_step.py` asks so, in turn with PyTorch. `joined` puts
//! the graphs into one batch. Threads: `RAYON_NUM_THREADS`.
#![allow(clippy::print_stdout)]

use labrys_nn::{
    Activation, Adam, Gradients, GraphBatch, Matrix, MessagePassing, MessagePassingConfig, Mlp, Params, Tape,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use std::time::Instant;

/// Ops of a graph, and features of an op and of an edge, as in the paper (A.2).
const OPS: usize = 200;
const FEATURES: (usize, usize) = (11, 3);
/// Edges of the paper's four synthetic families at 200 ops.
const EDGES: [usize; 4] = [995, 396, 400, 1620];
/// Logits of an op.
const LOGITS: usize = 54;

struct Net {
    encoder: MessagePassing,
    head: Mlp,
}

fn main() {
    let mut rng = Pcg64Mcg::seed_from_u64(0);
    let graphs: Vec<GraphBatch> = EDGES.iter().map(|&edges| graph(OPS, edges, &mut rng)).collect();
    let joined = [GraphBatch::join(&graphs.iter().collect::<Vec<_>>())];
    let large = graph(10_000, 25_000, &mut rng);
    let mut params = Params::new();
    let encoder =
        MessagePassing::new(&mut params, "net", MessagePassingConfig::paper(FEATURES.0, FEATURES.1), &mut rng);
    let head = Mlp::new(&mut params, "head", &[32, 32, LOGITS], Activation::Relu, &mut rng);
    let (net, mut adam) = (Net { encoder, head }, Adam::new(&params, 1e-4));
    for line in std::io::stdin().lines() {
        let line = line.unwrap_or_default();
        let (command, count) = line.split_once(' ').unwrap_or((&line, "1"));
        let times: Vec<String> = (0..count.parse().unwrap_or(1))
            .map(|_| {
                let (start, cpu) = (Instant::now(), cpu_ms());
                match command {
                    "train" => step(&net, &mut params, &mut adam, &graphs),
                    "joined" => step(&net, &mut params, &mut adam, &joined),
                    _ => infer(&net, &params, &large),
                }
                format!("{:.3}/{:.3}", start.elapsed().as_secs_f64() * 1e3, cpu_ms() - cpu)
            })
            .collect();
        println!("{}", times.join(" "));
    }
}

/// CPU time of all threads.
fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn graph(ops: usize, edges: usize, rng: &mut Pcg64Mcg) -> GraphBatch {
    let mut random = |rows, cols| Matrix::new(rows, cols, (0..rows * cols).map(|_| rng.random::<f32>()).collect());
    let (nodes, features) = (random(ops, FEATURES.0), random(edges, FEATURES.1));
    let mut edge = || {
        let (a, b) = (rng.random_range(0..ops as u32), rng.random_range(0..ops as u32));
        (a.min(b), a.max(b))
    };
    // By target, as every reader of models lists them.
    let mut edges: Vec<(u32, u32)> = (0..edges).map(|_| edge()).collect();
    edges.sort_unstable_by_key(|&(source, target)| (target, source));
    GraphBatch::new(nodes, features, edges.into_iter().collect()).expect("edges within the graph")
}

/// One tape per graph, in parallel; gradients summed up in order. The loss is the mean square of the logits.
fn step(net: &Net, params: &mut Params, adam: &mut Adam, graphs: &[GraphBatch]) {
    let differentiate = |graph: &GraphBatch| {
        let mut tape = Tape::new(params);
        let h = net.encoder.forward(&mut tape, graph);
        let logits = net.head.forward(&mut tape, h);
        let squares = tape.mul(logits, logits);
        let loss = tape.mean(squares);
        tape.backward(loss)
    };
    let all: Vec<Gradients> = graphs.par_iter().map(differentiate).collect();
    let mut sum = Gradients::zeros(params);
    all.iter().for_each(|gradients| sum.add(gradients));
    sum.clip_by_norm(10.0);
    adam.step(params, &sum);
}

fn infer(net: &Net, params: &Params, graph: &GraphBatch) {
    let mut tape = Tape::inference(params);
    let h = net.encoder.forward(&mut tape, graph);
    let logits = net.head.forward(&mut tape, h);
    std::hint::black_box(tape.value(logits));
}
