//! What a trained policy reaches alone, beside greedy rules; `benches/learned_cover.py` adds the optima.
//!
//! `construct MODEL er|ba NODES DENSITY-OR-DEGREE GRAPHS [FOLDER]`: one JSON line for each unseen random graph; the graphs
//! go to FOLDER as edge lists. `construct MODEL FILE`: the same for a graph in the binary form of `structure2vec`.
//! MODEL may be `untrained-K` for a network with K-dimensional embeddings whose parameters are drawn. `held` are the bytes of
//! memory before the policy begins, mostly the graph, and `peak` the most while it works (on Linux).

use labrys_combopt::cover::{self, greedy};
use labrys_combopt::learned::{
    LocalGraph, Model, ModelConfig, Problem, Rollout, Selection, VertexCover, guide::Learned, incremental,
};
use labrys_comm::CommError;
use labrys_graph::{Graph, generate};
use labrys_nn::Checkpoint;
use labrys_search::Seed;
use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

fn model(name: &str) -> Result<Model, Box<dyn Error>> {
    if let Some(dimension) = name.strip_prefix("untrained-") {
        let features = VertexCover::default().features();
        return Ok(Model::new(
            ModelConfig { dimension: dimension.parse()?, features, ..ModelConfig::default() },
            Seed(0),
        )?);
    }
    let policy = Learned::from_checkpoint(&Checkpoint::load(name.as_ref())?)?;
    policy.models().next().cloned().ok_or_else(|| "no model".into())
}

/// Whether every edge has a picked end.
fn is_cover(graph: &Graph, nodes: &[u32]) -> bool {
    let mut picked = vec![false; graph.nodes()];
    nodes.iter().for_each(|&v| picked[v as usize] = true);
    graph.edges().all(|(a, b)| picked[a as usize] || picked[b as usize])
}

/// A cover with its seconds; it is checked.
fn timed(model: &Model, graph: &Graph, selection: Selection) -> Result<(Rollout, f64), Box<dyn Error>> {
    let started = Instant::now();
    let local = LocalGraph::whole(graph);
    let found: Result<Rollout, CommError> = incremental(model, &VertexCover::default(), &local, selection);
    let (found, seconds) = (found?, started.elapsed().as_secs_f64());
    if is_cover(graph, &found.solution) { Ok((found, seconds)) } else { Err("not a cover".into()) }
}

/// A field of `/proc/self/status`, in bytes; 0 where there is none.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// What there is to say about a graph, as JSON.
fn measure(model: &Model, graph: &Graph) -> Result<String, Box<dyn Error>> {
    // The peak from here on; elsewhere than on Linux there is none.
    _ = std::fs::write("/proc/self/clear_refs", "5");
    let held = memory("VmRSS");
    let (adaptive, adaptive_seconds) = timed(model, graph, Selection::Adaptive)?;
    let peak = memory("VmHWM");
    let mut line = format!("{{\"nodes\":{},\"edges\":{},", graph.nodes(), graph.edge_count());
    write!(line, "\"held\":{held},\"peak\":{peak},")?;
    write!(line, "\"min-degree\":{},", cover::size(&greedy::min_degree(graph)))?;
    write!(line, "\"adaptive\":{},\"adaptive-evaluations\":{},", adaptive.objective, adaptive.evaluations)?;
    write!(line, "\"adaptive-seconds\":{adaptive_seconds:.4}")?;
    // One node at a time, on dense graphs of this size, takes hours.
    if graph.edge_count() < 10_000_000 {
        let (one, seconds) = timed(model, graph, Selection::One)?;
        write!(line, ",\"policy\":{},\"evaluations\":{},\"seconds\":{seconds:.4}", one.objective, one.evaluations)?;
    }
    Ok(line + "}")
}

fn random_graph(family: &str, nodes: u32, shape: &str, index: u64) -> Result<Graph, Box<dyn Error>> {
    let mut rng = Seed(0xC0FE).stream(family, index);
    Ok(Graph::from_edges(
        nodes,
        match family {
            "er" => generate::erdos_renyi(nodes, shape.parse()?, &mut rng),
            _ => generate::barabasi_albert(nodes, shape.parse()?, &mut rng),
        },
    ))
}

/// The graph in a file: see the example `structure2vec`.
fn read(path: &str) -> Result<Graph, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let word = |index: usize| -> Result<usize, Box<dyn Error>> {
        Ok(u64::from_le_bytes(bytes.get(8 * index..8 * index + 8).ok_or("truncated")?.try_into()?) as usize)
    };
    let (nodes, start) = (word(0)?, 8 * (word(0)? + 3));
    let mut edges = vec![];
    for v in 0..nodes {
        let row = bytes.get(start + 4 * word(v + 2)?..start + 4 * word(v + 3)?).ok_or("truncated")?;
        let columns = row.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes));
        edges.extend(columns.filter(|&u| v < u as usize).map(|u| (v as u32, u)));
    }
    Ok(Graph::from_edges(nodes as u32, edges))
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    match &args[..] {
        [name, file] => println!("{}", measure(&model(name)?, &read(file)?)?),
        [name, family, nodes, shape, count, folder @ ..] => {
            let model = model(name)?;
            for index in 0..count.parse()? {
                let graph = random_graph(family, nodes.parse()?, shape, index)?;
                println!("{}", measure(&model, &graph)?);
                if let Some(folder) = folder.first() {
                    let lines: String = graph.edges().map(|(a, b)| format!("{a} {b}\n")).collect();
                    std::fs::write(format!("{folder}/{index}.txt"), lines)?;
                }
            }
        }
        _ => return Err("MODEL er|ba NODES DENSITY-OR-DEGREE GRAPHS [FOLDER], or MODEL FILE".into()),
    }
    Ok(())
}
