//! Nothing depends on the number of ranks or threads, bit for bit: scores, derivatives, solutions, training.

use labrys_combopt::learned::dataset::{DataConfig, Family};
use labrys_combopt::learned::sample::Batch;
use labrys_combopt::learned::training::{Dataset, LearningConfig, LearningError, Team};
use labrys_combopt::learned::{
    DqnConfig, ExchangeMode, IndependentSet, LearningRun, LocalGraph, MaxCut, Model, ModelConfig, ModelKind, Problem,
    Ranks, Selection, TravellingSalesman, VertexCover, incremental, ranks, rollout,
};
use labrys_comm::{CommError, Communicator, threads};
use labrys_graph::{Graph, generate};
use labrys_search::Seed;
use std::ops::ControlFlow;
use std::path::Path;

const MODES: [ExchangeMode; 3] = [ExchangeMode::AllReduce, ExchangeMode::AllGather, ExchangeMode::Halo];

fn graph(nodes: u32, seed: u64) -> Graph {
    Graph::from_edges(nodes, generate::barabasi_albert(nodes, 4, &mut Seed(seed).stream("graph", 0)))
}

fn model(kind: ModelKind, problem: &dyn Problem) -> Model {
    let config = ModelConfig { kind, dimension: 16, layers: 3, features: problem.features() };
    Model::new(config, Seed(5)).unwrap()
}

fn on<T: Send>(ranks: usize, body: impl Fn(&Communicator) -> Result<T, CommError> + Sync) -> Vec<T> {
    threads::run(ranks, body).unwrap()
}

/// Scores and derivatives of a batch, put together from all ranks.
fn scores_and_derivatives(ranks: usize, mode: ExchangeMode, kind: ModelKind) -> (Vec<u32>, Vec<u32>) {
    let problem = VertexCover::default();
    let (graphs, model) = ([graph(150, 1), graph(70, 2)], model(kind, &problem));
    let all = on(ranks, |comm| {
        let local: Vec<_> = graphs.iter().map(|graph| LocalGraph::new(graph, ranks, comm.rank(), mode)).collect();
        let rebuild = |graph: usize, actions: &[u32]| problem.rebuild(comm, &local[graph], actions);
        let batch = Batch::new(vec![rebuild(0, &[9, 3, 100])?, rebuild(1, &[])?]);
        let ranks = Ranks { comm, mode };
        let evaluation = model.evaluate(ranks, &batch)?;
        let by_score: Vec<f32> = evaluation.own.iter().map(|x| 0.1 * x).collect();
        let gradients = model.gradients(ranks, &batch, &evaluation, &by_score)?;
        let values = model.params.ids().flat_map(|id| gradients.get(id).data.clone()).chain(evaluation.common.clone());
        let split = local[0].rows();
        Ok(([evaluation.own[..split].to_vec(), evaluation.own[split..].to_vec()], values.collect::<Vec<f32>>()))
    });
    let scores = (0..2).flat_map(|sample| all.iter().flat_map(move |(own, _)| own[sample].clone()));
    assert!(all.iter().all(|(_, values)| *values == all[0].1), "ranks disagree");
    (scores.map(f32::to_bits).collect(), all[0].1.iter().map(|x| x.to_bits()).collect())
}

#[test]
fn scores_and_derivatives_have_the_same_bits() {
    for kind in [ModelKind::Structure2vec, ModelKind::Gin, ModelKind::GraphSage, ModelKind::Linear] {
        let one = scores_and_derivatives(1, ExchangeMode::Halo, kind);
        assert!(one.1.iter().any(|&bits| bits != 0));
        for mode in MODES {
            for ranks in 2..=4 {
                assert!(scores_and_derivatives(ranks, mode, kind) == one, "{kind:?} {mode:?} {ranks}");
            }
        }
        // More ranks than chunks of rows.
        assert!(scores_and_derivatives(40, ExchangeMode::Halo, kind) == one);
    }
}

#[test]
fn threads_do_not_change_bits() {
    let problem = VertexCover::default();
    let (graph, model) = (graph(5000, 3), model(ModelKind::Structure2vec, &problem));
    let local = LocalGraph::whole(&graph);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let comm = Communicator::alone();
            let ranks = Ranks { comm: &comm, mode: ExchangeMode::Halo };
            let batch = Batch::new(vec![problem.rebuild(&comm, &local, &[1, 2, 3]).unwrap()]);
            let evaluation = model.evaluate(ranks, &batch).unwrap();
            let gradients = model.gradients(ranks, &batch, &evaluation, &evaluation.own).unwrap();
            (evaluation.own, evaluation.common, gradients)
        })
    };
    assert!(with(1) == with(2) && with(1) == with(3));
}

#[test]
fn solutions_are_the_same_and_incremental_inference_picks_the_same_nodes() {
    let points =
        DataConfig { families: vec![Family::Points], nodes: (20, 20), ..DataConfig::default() }.graph("test", 0);
    let sparse = graph(120, 8);
    let cases: [(&dyn Problem, &Graph); 4] = [
        (&VertexCover::default(), &sparse),
        (&IndependentSet::default(), &sparse),
        (&MaxCut::default(), &sparse),
        (&TravellingSalesman::default(), &points),
    ];
    for (problem, graph) in cases {
        for selection in [Selection::One, Selection::Adaptive] {
            let model = model(ModelKind::Structure2vec, problem);
            let with = |ranks: usize, mode: ExchangeMode| {
                let all = on(ranks, |comm| {
                    let local = LocalGraph::new(graph, ranks, comm.rank(), mode);
                    rollout(&model, problem, &local, Ranks { comm, mode }, selection)
                });
                assert!(all.iter().all(|found| *found == all[0]));
                all[0].clone()
            };
            let one = with(1, ExchangeMode::Halo);
            for ranks in 2..=4 {
                assert!(MODES.into_iter().all(|mode| with(ranks, mode) == one), "{} {ranks}", problem.name());
            }
            assert_eq!(
                incremental(&model, problem, &LocalGraph::whole(graph), selection),
                Ok(one),
                "{}",
                problem.name()
            );
        }
    }
}

fn dataset() -> Dataset {
    dataset_of(DataConfig::default().families)
}

fn dataset_of(families: Vec<Family>) -> Dataset {
    let config = DataConfig { families, nodes: (20, 40), graphs: 6, held_back: 2, ..DataConfig::default() };
    config.generate(|graph| graph.nodes() as f64)
}

fn train(folder: &Path, ranks: usize, mode: ExchangeMode, stops: &[u64]) {
    train_on(&dataset(), &VertexCover::default(), folder, ranks, mode, stops);
}

fn train_on(data: &Dataset, problem: &dyn Problem, folder: &Path, ranks: usize, mode: ExchangeMode, stops: &[u64]) {
    let config = LearningConfig { steps: 60, validate_every: 20, save_every: 15, ..LearningConfig::default() };
    let dqn =
        DqnConfig { minibatch: 4, n_step: 3, double: true, target_every: 10, replay: 100, ..DqnConfig::default() };
    let result: Result<Vec<()>, LearningError> = ranks::run(ranks, |comm| {
        for &stop in stops {
            let ranks = Ranks { comm, mode };
            let settings = (config, ModelConfig::default(), dqn);
            let mut run = LearningRun::open(folder, settings, problem, data, Team::spatial(ranks), Default::default())?;
            run.run(
                |progress| if progress.steps >= stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
            )?;
            comm.barrier()?;
        }
        Ok(())
    });
    result.unwrap();
}

/// What a run leaves behind.
fn files(run: &Path) -> [Vec<u8>; 3] {
    ["state.safetensors", "best.safetensors", "metrics.jsonl"].map(|file| std::fs::read(run.join(file)).unwrap())
}

/// States that are rebuilt by messages between ranks.
#[test]
fn sets_cuts_and_tours_train_to_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&dyn Problem, Family); 3] = [
        (&IndependentSet::default(), Family::Ba),
        (&MaxCut::default(), Family::Er),
        (&TravellingSalesman::default(), Family::Points),
    ];
    for (problem, family) in cases {
        let data = dataset_of(vec![family]);
        let run = |ranks: usize| {
            let run = folder.path().join(format!("{}-{ranks}", problem.name()));
            train_on(&data, problem, &run, ranks, ExchangeMode::Halo, &[60]);
            files(&run)
        };
        let one = run(1);
        assert!((2..=3).all(|ranks| run(ranks) == one), "{}", problem.name());
    }
}

#[test]
fn training_gives_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let files = |name: &str, ranks: usize, mode: ExchangeMode, stops: &[u64]| {
        let run = folder.path().join(name);
        train(&run, ranks, mode, stops);
        files(&run)
    };
    let one = files("one", 1, ExchangeMode::Halo, &[60]);
    for ranks in 2..=4 {
        for mode in MODES {
            assert!(files(&format!("{ranks}-{mode:?}"), ranks, mode, &[60]) == one, "{ranks} {mode:?}");
        }
    }
    // Stopped in the middle of episodes.
    assert!(files("parts", 2, ExchangeMode::AllGather, &[7, 33, 60]) == one, "resumed");
}

/// Two groups of two ranks: hybrid parallelism.
#[test]
fn groups_of_ranks_train_one_model() {
    let (data, folder) = (dataset(), tempfile::tempdir().unwrap());
    let train = |name: &str, shared: usize, stops: &[u64]| {
        let run = folder.path().join(name);
        let models = threads::run(2 * shared, |world| {
            let (ranks, workers) = (world.split(world.rank() / shared)?, world.split(world.rank() % shared)?);
            let problem = VertexCover::default();
            let config = LearningConfig { steps: 30, validate_every: 30, save_every: 10, ..LearningConfig::default() };
            let dqn = DqnConfig { minibatch: 4, ..DqnConfig::default() };
            let mut params = None;
            for &stop in stops {
                let team = Team { ranks: Ranks { comm: &ranks, mode: ExchangeMode::Halo }, workers: Some(&workers) };
                let settings = (config, ModelConfig::default(), dqn);
                let mut run = LearningRun::open(&run, settings, &problem, &data, team, Default::default())?;
                run.run(|now| if now.steps >= stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })?;
                world.barrier()?;
                params = Some(run.learner().model.params.clone());
            }
            Ok::<_, LearningError>(params)
        });
        models.unwrap()
    };
    let gorila = train("gorila", 1, &[30]);
    assert!(gorila[0] == gorila[1], "workers have one model");
    let hybrid = train("hybrid", 2, &[11, 30]);
    assert!(hybrid.iter().all(|model| *model == gorila[0]), "sharing a graph and stopping change nothing");
}

#[test]
fn hostile_models_still_give_covers() {
    let (graph, problem) = (graph(100, 4), VertexCover::default());
    for value in [f32::NAN, f32::INFINITY, -1e30, 0.0] {
        let mut model = model(ModelKind::Structure2vec, &problem);
        for id in model.params.ids() {
            model.params.get_mut(id).data.fill(value);
        }
        let local = LocalGraph::whole(&graph);
        for selection in [Selection::One, Selection::Adaptive] {
            let found = incremental(&model, &problem, &local, selection).unwrap();
            let picked = |v: u32| found.solution.contains(&v);
            assert!(graph.edges().all(|(a, b)| picked(a) || picked(b)), "{value}");
            assert_eq!(found.objective as usize, found.solution.len());
        }
    }
}

#[test]
fn a_rank_that_fails_ends_training() {
    let (data, folder) = (dataset(), tempfile::tempdir().unwrap());
    let problem = VertexCover::default();
    let result: Result<Vec<()>, LearningError> = threads::run(3, |comm| {
        let ranks = Ranks { comm, mode: ExchangeMode::Halo };
        let settings = (LearningConfig::default(), ModelConfig::default(), DqnConfig::default());
        let mut run =
            LearningRun::open(folder.path(), settings, &problem, &data, Team::spatial(ranks), Default::default())?;
        let fails = comm.rank() == 1;
        run.run(
            |progress| if fails && progress.steps == 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
        )?;
        Ok(())
    });
    assert!(matches!(result, Err(LearningError::Comm(CommError::RankDied { rank: 1 }))));
}
