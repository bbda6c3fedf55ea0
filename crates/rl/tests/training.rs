//! Training runs: they learn, and neither threads nor a kill change a byte.

use labrys_nn::{Aggregation, EdgeArrays, GraphBatch, Matrix, MessagePassingConfig, ModelCard, Params, Update};
use labrys_rl::{
    Actions, Choice, EncoderConfig, Ending, Environment, GraphPolicy, GraphPolicyConfig, HeadConfig, Reinforce,
    ReinforceConfig, Scope, TrainingConfig, TrainingError, TrainingRun,
};
use labrys_search::Seed;
use rand::RngExt as _;
use std::ops::ControlFlow;
use std::path::Path;

/// Each node carries a bit. A node should answer whether the node before it on a ring carries a one: one look along the
/// edges tells, one against them does not.
struct Ring;

impl Ring {
    fn graph(seed: Seed) -> GraphBatch {
        let mut rng = seed.stream("ring", 0);
        let nodes = rng.random_range(3..9u32);
        let bits = (0..nodes).map(|_| f32::from(u8::from(rng.random::<bool>()))).collect();
        let edges: EdgeArrays = (0..nodes).map(|v| (v, (v + 1) % nodes)).collect();
        let edge_features = Matrix::new(nodes as usize, 1, vec![1.0; nodes as usize]);
        GraphBatch::new(Matrix::column(bits), edge_features, edges).unwrap()
    }
}

impl Environment for Ring {
    type Context = GraphBatch;

    fn draw(&self, seed: Seed) -> GraphBatch {
        Self::graph(seed)
    }

    fn held_back(&self) -> usize {
        16
    }

    fn validation(&self, index: usize) -> GraphBatch {
        Self::graph(Seed(1_000_000 + index as u64))
    }

    fn graph<'c>(&self, context: &'c GraphBatch) -> &'c GraphBatch {
        context
    }

    fn reward(&self, graph: &GraphBatch, actions: &Actions, _: Seed) -> f64 {
        let bits = &graph.node_features().data;
        let before = |node: usize| bits[(node + bits.len() - 1) % bits.len()] as u32;
        let right = actions[0].iter().enumerate().filter(|&(node, &choice)| choice == before(node)).count();
        right as f64 / bits.len() as f64
    }
}

fn objective(params: &mut Params, sequence: bool) -> Reinforce<Ring, GraphPolicy> {
    let (aggregation, update) = (Aggregation::Sum, Update::Residual);
    let graph = MessagePassingConfig { node_features: 1, edge_features: 1, hidden: 8, rounds: 2, aggregation, update };
    let encoder = match sequence {
        true => EncoderConfig::Sequence { node_features: 1, hidden: 8 },
        false => EncoderConfig::Graph(graph),
    };
    let config =
        GraphPolicyConfig { encoder, heads: vec![HeadConfig { decisions: 1, choices: 2, scope: Scope::Node }] };
    let policy = GraphPolicy::new(params, &config, &mut Seed(3).stream("init", 0));
    let config =
        ReinforceConfig { rollouts: 4, baseline_weight: 0.5, validation: Choice::Greedy, ..Default::default() };
    Reinforce { environment: Ring, policy, config }
}

fn config(steps: u64) -> TrainingConfig {
    let (validate_every, save_every) = (7, 5);
    TrainingConfig { steps, learning_rate: 0.01, validate_every, save_every, ..TrainingConfig::default() }
}

fn open(folder: &Path, config: TrainingConfig) -> (Result<TrainingRun, TrainingError>, Reinforce<Ring, GraphPolicy>) {
    let mut params = Params::new();
    let objective = objective(&mut params, false);
    (TrainingRun::open(folder, config, params, ModelCard::default()), objective)
}

/// Every file with its bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| (path.file_name().unwrap().to_string_lossy().into(), std::fs::read(&path));
    let mut all: Vec<(String, Vec<u8>)> = entries.map(read).map(|(name, bytes)| (name, bytes.unwrap())).collect();
    all.sort();
    all
}

fn train(folder: &Path, steps: u64) -> labrys_rl::Summary {
    let (run, objective) = open(folder, config(steps));
    run.unwrap().run(&objective, |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn learns_what_a_neighbour_carries() {
    let folder = tempfile::tempdir().unwrap();
    let summary = train(folder.path(), 200);
    assert_eq!(summary.ending, Ending::Steps);
    assert!(summary.best.unwrap() > 0.95, "{summary:?}");
    let best = open(folder.path(), config(200)).0.unwrap().best().unwrap().unwrap();
    assert!(best.card.measured_gain.contains("16 held-back"));
    let curves = std::fs::read_to_string(folder.path().join("curves.svg")).unwrap();
    assert!(curves.contains("validation: score") && curves.contains("training: reward"));
}

#[test]
fn a_sequence_policy_learns_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut params = Params::new();
    let objective = objective(&mut params, true);
    let mut run = TrainingRun::open(folder.path(), config(200), params, ModelCard::default()).unwrap();
    // The first node of a ring cannot see the last one.
    assert!(run.run(&objective, |_| ControlFlow::Continue(())).unwrap().best.unwrap() > 0.85);
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let whole = tempfile::tempdir().unwrap();
    let killed = tempfile::tempdir().unwrap();
    let (run, objective) = open(whole.path(), config(40));
    // What the disk holds between two saves, with a torn line of measurements, as after `kill -9`.
    let snapshot = || {
        for (name, mut bytes) in files(whole.path()) {
            if name == "metrics.jsonl" {
                bytes.extend_from_slice(b"{\"kind\":\"train\",\"step\":21,\"rew");
            }
            std::fs::write(killed.path().join(name), bytes).unwrap();
        }
    };
    let mut run = run.unwrap();
    run.run(&objective, |progress| {
        if progress.steps == 23 {
            snapshot();
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_ne!(files(whole.path()), files(killed.path()));
    let (run, _) = open(killed.path(), config(40));
    assert_eq!(run.unwrap().steps(), 20);
    train(killed.path(), 40);
    assert_eq!(files(whole.path()), files(killed.path()));
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_bytes() {
    let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    train(whole.path(), 20);
    let (run, objective) = open(broken.path(), config(20));
    let stop = |steps: u64| if steps == 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let summary = run.unwrap().run(&objective, |progress| stop(progress.steps)).unwrap();
    assert_eq!((summary.ending, summary.steps), (Ending::Interrupted, 9));
    train(broken.path(), 20);
    assert_eq!(files(whole.path()), files(broken.path()));
}

#[test]
fn threads_do_not_change_a_byte() {
    let results = [1, 2, 3].map(|threads| {
        let folder = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(folder.path(), 15));
        files(folder.path())
    });
    assert_eq!(results[0].len(), 4);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn more_steps_go_on_and_other_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), 5);
    assert_eq!(train(folder.path(), 12).steps, 12);
    let other = TrainingConfig { learning_rate: 0.5, ..config(12) };
    assert!(matches!(open(folder.path(), other).0, Err(TrainingError::OtherRun { .. })));
    let nonsense = TrainingConfig { minibatch: 0, ..config(12) };
    assert!(matches!(open(folder.path(), nonsense).0, Err(TrainingError::Config(_))));
    std::fs::write(folder.path().join("state.safetensors"), b"nonsense").unwrap();
    assert!(matches!(open(folder.path(), config(12)).0, Err(TrainingError::Checkpoint(_))));
}

#[test]
fn patience_ends_a_run_that_no_longer_gains() {
    let folder = tempfile::tempdir().unwrap();
    let still = TrainingConfig { learning_rate: 0.0, patience: 3, validate_every: 2, ..config(1_000) };
    let (run, objective) = open(folder.path(), still);
    let summary = run.unwrap().run(&objective, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((summary.ending, summary.steps, summary.best_steps), (Ending::Patience, 8, 2));
}
