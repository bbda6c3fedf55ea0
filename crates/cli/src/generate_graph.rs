//! `labrys generate graph`: random graphs of the published families.

use crate::error::CliError;
use crate::output;
use clap::{Args, ValueEnum};
use labrys_graph::formats::{self, Format};
use labrys_graph::generate::{self as families, Edge, ModelRb};
use labrys_graph::{Graph, GraphBuilder};
use labrys_search::Seed;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    /// The family
    #[arg(value_enum)]
    family: Family,
    /// Number of nodes; of variables for model-rb, the next power of two for rmat, the next square for torus
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=50_000_000))]
    nodes: u32,
    /// Probability of an edge (er), of rewiring (ws), within a block (sbm), of a triangle (power-law), share of the possible edges (planar)
    #[arg(long, value_name = "P", default_value_t = 0.1, value_parser = probability)]
    p: f64,
    /// Probability of an edge between two blocks (sbm)
    #[arg(long, value_name = "P", default_value_t = 0.01, value_parser = probability)]
    across: f64,
    /// Edges of a new node (ba, power-law), neighbours (ws, regular), edges for each node (rmat), blocks (sbm)
    #[arg(long, value_name = "D", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    degree: u32,
    /// Weigh each edge +1 or -1
    #[arg(long)]
    signs: bool,
    /// Seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Format: edge-list, dimacs, pace, metis, rudy, matrix-market
    #[arg(long, value_name = "FORMAT", default_value = "edge-list", value_parser = format)]
    to: Format,
    /// File to write, - for stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Family {
    /// Erdos-Renyi
    Er,
    /// Barabasi-Albert
    Ba,
    /// Watts-Strogatz
    Ws,
    /// Stochastic block model
    Sbm,
    /// Every node with the same degree
    Regular,
    /// Holme-Kim: scale-free with triangles
    PowerLaw,
    /// Recursive matrix with Graph500's quadrants
    Rmat,
    /// Hard vertex cover with a planted optimum
    ModelRb,
    /// Grid whose borders are joined
    Torus,
    /// Planar
    Planar,
}

fn probability(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    value.filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| format!("expected a number from 0 to 1, found '{text}'"))
}

fn format(text: &str) -> Result<Format, String> {
    Format::from_name(text).ok_or_else(|| format!("expected one of {}", Format::ALL.map(Format::name).join(", ")))
}

pub(crate) fn run(args: &GraphArgs) -> Result<(), CliError> {
    let mut rng = Seed(args.seed).stream("graph", 0);
    let (nodes, edges) = edges(args, &mut rng);
    let mut builder = GraphBuilder::new(nodes);
    if args.signs {
        let signs = families::random_signs(edges.len(), &mut rng);
        edges.iter().zip(signs).for_each(|(&(a, b), sign)| builder.add_weighted(a, b, sign));
    } else {
        edges.iter().for_each(|&(a, b)| builder.add(a, b));
    }
    let graph: Graph = builder.build_strict().map_err(CliError::bug)?;
    let text = formats::write(&graph, args.to);
    output::write(&args.output, |out| out.write_all(text.as_bytes()))
}

fn edges(args: &GraphArgs, rng: &mut labrys_search::seed::Rng) -> (u32, Vec<Edge>) {
    let (n, p, d) = (args.nodes, args.p, args.degree);
    let edges = match args.family {
        Family::Er => families::erdos_renyi(n, p, rng),
        Family::Ba => families::barabasi_albert(n, d, rng),
        Family::Ws => families::watts_strogatz(n, d, p, rng),
        Family::Sbm => families::stochastic_block(n, d, p, args.across, rng),
        Family::Regular => families::random_regular(n, d, rng),
        Family::PowerLaw => families::power_law_cluster(n, d, p, rng),
        Family::Planar => families::planar(n, p, rng),
        Family::Rmat => {
            let scale = n.next_power_of_two().ilog2();
            return (1 << scale, families::rmat(scale, (n as usize) * d as usize, [0.57, 0.19, 0.19], rng));
        }
        Family::ModelRb => {
            let planted = ModelRb::hard(n).generate(rng);
            output::say(&format!("smallest vertex cover: {}", planted.nodes - n));
            return (planted.nodes, planted.edges);
        }
        Family::Torus => {
            let side = f64::from(n).sqrt().ceil() as u32;
            return (side * side, families::torus(side, side));
        }
    };
    (n, edges)
}
