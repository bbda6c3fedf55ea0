//! Times of structure2vec on a graph, forward and with backward; `benches/structure2vec.py` compares them with PyTorch's.
//!
//! `structure2vec FILE DIMENSION LAYERS REPEATS`: FILE holds little-endian u64: nodes and arcs, offsets; then u32 columns.
//! Prints one JSON line: least seconds of each, and the sum of scores.

use labrys_combopt::learned::sample::{Batch, Sample};
use labrys_combopt::learned::{ExchangeMode, LocalGraph, Model, ModelConfig, ModelKind, Ranks};
use labrys_comm::Communicator;
use labrys_graph::Graph;
use labrys_search::Seed;
use rustix::time::{ClockId, clock_gettime};

/// The graph in a file.
fn read(path: &str) -> Result<Graph, Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    let word = |index: usize| -> Result<u64, Box<dyn std::error::Error>> {
        Ok(u64::from_le_bytes(bytes.get(8 * index..8 * index + 8).ok_or("truncated")?.try_into()?))
    };
    let nodes = word(0)? as usize;
    let columns: Vec<u32> =
        bytes[8 * (nodes + 3)..].as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
    let mut edges = vec![];
    for v in 0..nodes {
        let row = columns.get(word(v + 2)? as usize..word(v + 3)? as usize).ok_or("truncated")?;
        edges.extend(row.iter().filter(|&&u| v < u as usize).map(|&u| (v as u32, u)));
    }
    Ok(Graph::from_edges(nodes as u32, edges))
}

/// Least seconds of processor time of a few runs: others on the same machine disturb it less than the clock on the wall.
fn least(repeats: usize, mut body: impl FnMut()) -> f64 {
    let time = |_| {
        let started = processor_time();
        body();
        processor_time() - started
    };
    (0..repeats).map(time).fold(f64::INFINITY, f64::min)
}

fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, dimension, layers, repeats] = &args[..] else { return Err("FILE DIMENSION LAYERS REPEATS".into()) };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let graph = read(file)?;
    let local = LocalGraph::whole(&graph);
    let config = ModelConfig {
        kind: ModelKind::Structure2vec,
        dimension: dimension.parse()?,
        layers: layers.parse()?,
        features: 1,
    };
    let model = Model::new(config, Seed(0))?;
    let state = Sample {
        graph: &local,
        alive: None,
        features: (0..graph.nodes()).map(|v| if v % 10 == 0 { 1.0 } else { 0.0 }).collect(),
        weights: local.weights.clone(),
        degrees: (0..graph.nodes() as u32).map(|v| graph.degree(v) as u32).collect(),
        candidates: vec![true; graph.nodes()],
    };
    let batch = Batch::new(vec![state]);
    let comm = Communicator::alone();
    let ranks = Ranks { comm: &comm, mode: ExchangeMode::AllGather };
    let by_score = vec![1.0 / graph.nodes() as f32; graph.nodes()];
    let mut sum = 0.0;
    let forward = least(repeats.parse()?, || {
        let evaluation = model.evaluate(ranks, &batch).expect("one rank does not fail");
        sum = evaluation.own.iter().map(|&x| f64::from(x)).sum();
    });
    let both = least(repeats.parse()?, || {
        let evaluation = model.evaluate(ranks, &batch).expect("one rank does not fail");
        model.gradients(ranks, &batch, &evaluation, &by_score).expect("one rank does not fail");
    });
    println!("{{\"forward\":{forward:.6},\"both\":{both:.6},\"sum\":{sum:.6}}}");
    Ok(())
}
