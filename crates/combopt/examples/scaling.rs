//! Steps of inference and training over ranks: measured times and bytes, and the paper's model of them.
//!
//! `scaling er:NODES:DENSITY|FILE given|breadth-first DIMENSION [RANKS ...]`: an Erdos-Renyi graph or one in a file, numbered
//! as it comes or breadth first. Each line tells the number of ranks, the mode, and of a step of inference and one of training:
//! milliseconds, those of the busiest rank's processor, which other programs hardly disturb, both in brackets as parts of those
//! of the first number of ranks, and bytes that all ranks send.

use labrys_combopt::learned::analytic::{self, Machine, Size};
use labrys_combopt::learned::sample::Batch;
use labrys_combopt::learned::{
    Dqn, DqnConfig, ExchangeMode, LocalGraph, Model, ModelConfig, Numbering, Problem, Ranks, VertexCover, ranks,
    replay::Replay, select,
};
use labrys_comm::{CommError, Communicator};
use labrys_graph::{Graph, formats, generate};
use labrys_search::Seed;
use rustix::time::{ClockId, clock_gettime};
use std::time::Instant;

/// Steps of each kind; the fastest counts.
const STEPS: u64 = 15;

const MODES: [ExchangeMode; 3] = [ExchangeMode::AllReduce, ExchangeMode::AllGather, ExchangeMode::Halo];

/// What a step takes at best.
#[derive(Clone, Copy)]
struct Step {
    seconds: f64,
    /// Seconds of a rank's processor.
    busy: f64,
    bytes: u64,
}

impl Step {
    const NONE: Self = Self { seconds: f64::INFINITY, busy: f64::INFINITY, bytes: 0 };

    /// The same step on all ranks.
    fn of_all(steps: impl Iterator<Item = Self>) -> Self {
        let nothing = Self { seconds: 0.0, busy: 0.0, bytes: 0 };
        steps.fold(nothing, |all, one| Self {
            seconds: all.seconds.max(one.seconds),
            busy: all.busy.max(one.busy),
            bytes: all.bytes + one.bytes,
        })
    }

    /// In words, beside another one.
    fn beside(&self, first: &Self) -> String {
        let (seconds, busy) = (self.seconds / first.seconds, self.busy / first.busy);
        let Self { bytes, .. } = self;
        format!("{:.2} ms ({seconds:.2}), busy {:.2} ms ({busy:.2}), {bytes} B", 1e3 * self.seconds, 1e3 * self.busy)
    }
}

/// Steps of inference, then of training.
type Steps = [Step; 2];

fn measure(comm: &Communicator, mode: ExchangeMode, graph: &Graph, dimension: usize) -> Result<Steps, CommError> {
    let problem = VertexCover::default();
    let graphs = [LocalGraph::new(graph, comm.size(), comm.rank(), mode)];
    let config = ModelConfig { dimension, features: problem.features(), ..ModelConfig::default() };
    // Sizes are checked by the caller.
    let Ok(model) = Model::new(config, Seed(0)) else { return Ok([Step::NONE; 2]) };
    let mut learner = Dqn::new(model, DqnConfig { minibatch: 2, ..DqnConfig::default() });
    let together = Ranks { comm, mode };
    let mut replay = Replay::new(1000);
    replay.begin(0);
    let mut environment = problem.start(&graphs[0]);
    let mut best = [Step::NONE; 2];
    for step in 0..STEPS {
        timed(comm, &mut best[0], || {
            let state = labrys_combopt::learned::environment::sample(&*environment, problem.features());
            let batch = Batch::new(vec![state]);
            let scores = learner.model.evaluate(together, &batch)?.own;
            for node in select::best(comm, &batch.samples[0], &scores, 1)? {
                let reward = environment.step(comm, node)?;
                replay.remember(node, reward, environment.done());
            }
            Ok(())
        })?;
        timed(comm, &mut best[1], || {
            let mut rng = Seed(1).stream("minibatch", step);
            if let Some((gradients, _)) = learner.gradients(together, &problem, &graphs, &replay, &mut rng)? {
                learner.descend(gradients, step, STEPS);
            }
            Ok(())
        })?;
    }
    Ok(best)
}

fn timed(comm: &Communicator, best: &mut Step, body: impl FnOnce() -> Result<(), CommError>) -> Result<(), CommError> {
    comm.barrier()?;
    let (started, busy, before) = (Instant::now(), busy(), comm.traffic());
    body()?;
    comm.barrier()?;
    best.seconds = best.seconds.min(started.elapsed().as_secs_f64());
    best.busy = best.busy.min(self::busy() - busy);
    best.bytes = best.bytes.max(comm.traffic().since(&before).total_bytes());
    Ok(())
}

/// Seconds that the processor has spent on this thread.
fn busy() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Latency of a small all-reduce, and seconds for a value of a large all-gather.
fn network(comm: &Communicator) -> Result<(f64, f64), CommError> {
    let (small, large) = (200, 1 << 20);
    let started = Instant::now();
    for _ in 0..small {
        comm.all_reduce_sum(&mut [1i64])?;
    }
    let latency = started.elapsed().as_secs_f64() / f64::from(small);
    let (values, counts) = (vec![1f32; large], vec![large; comm.size()]);
    let started = Instant::now();
    comm.all_gather(&values, &counts)?;
    Ok((latency, started.elapsed().as_secs_f64() / (large * (comm.size() - 1).max(1)) as f64))
}

/// The graph that the arguments name.
fn graph(name: &str, numbering: &str) -> Result<Graph, Box<dyn std::error::Error>> {
    let graph = match name.strip_prefix("er:").and_then(|shape| shape.split_once(':')) {
        Some((nodes, density)) => {
            let (nodes, mut rng) = (nodes.parse()?, Seed(1).stream("graph", 0));
            Graph::from_edges(nodes, generate::erdos_renyi(nodes, density.parse()?, &mut rng))
        }
        None => formats::read(std::fs::read(name)?, Some(name), formats::Options::default())?.graph,
    };
    Ok(if numbering == "breadth-first" { Numbering::BreadthFirst } else { Numbering::Given }.apply(graph))
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, numbering, numbers @ ..] = &args[..] else {
        return Err("er:NODES:DENSITY|FILE given|breadth-first DIMENSION [RANKS ...]".into());
    };
    let numbers: Vec<f64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let [dimension, counts @ ..] = &numbers[..] else { return Err("DIMENSION [RANKS ...]".into()) };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let graph = graph(name, numbering)?;
    let nodes = graph.nodes() as f64;
    let density = 2.0 * graph.edge_count() as f64 / (nodes * (nodes - 1.0)).max(1.0);
    let size = Size { batch: 1.0, nodes, density, dimension: *dimension, layers: 2.0 };
    let mut fitted = vec![];
    let mut machine = Machine { work: 0.0, latency: 0.0, value: 0.0 };
    let mut first = [None; MODES.len()];
    for &count in counts {
        for (mode, first) in MODES.into_iter().zip(&mut first) {
            let all = ranks::run(count as usize, |comm| measure(comm, mode, &graph, *dimension as usize))?;
            let steps = [0, 1].map(|kind| Step::of_all(all.iter().map(|steps| steps[kind])));
            let first = first.get_or_insert(steps);
            let [inference, training] = [0, 1].map(|kind| steps[kind].beside(&first[kind]));
            println!("{count} ranks {mode:?}: inference {inference}; training {training}");
            if mode == ExchangeMode::AllGather {
                fitted.push((count, analytic::inference_step_here(&size, count), steps[0].seconds));
            }
        }
        if count > 1.0 {
            let (latency, value) = ranks::run(count as usize, network)?[0];
            (machine.latency, machine.value) = (machine.latency.max(latency), machine.value.max(value));
        }
    }
    let measured: Vec<_> = fitted.iter().map(|&(_, cost, seconds)| (cost, seconds)).collect();
    let machine = analytic::fit(&measured, machine.latency, machine.value);
    println!("{machine:?}");
    for (count, cost, seconds) in &fitted {
        println!("{count} ranks: measured {:.2} ms, model {:.2} ms", 1e3 * seconds, 1e3 * cost.seconds(&machine));
    }
    for (nodes, ranks, inference, _) in analytic::FIGURE_7 {
        let size = Size { nodes, dimension: 16.0, density: 0.15, ..size };
        println!(
            "ER {nodes} on {ranks} ranks: paper {inference} s, our kernels on this machine {:.4} s, efficiency {:.2}; paper's formula {:.2}",
            analytic::inference_step_here(&size, ranks).seconds(&machine),
            analytic::efficiency(|ranks| analytic::inference_step_here(&size, ranks), ranks, &machine),
            analytic::efficiency(|ranks| analytic::inference_step(&size, ranks), ranks, &machine),
        );
    }
    Ok(())
}
