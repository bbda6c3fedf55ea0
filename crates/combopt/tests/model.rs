//! The model against equations 1 and 2 written down plainly, and its derivatives against differences.

use labrys_combopt::check;
use labrys_combopt::learned::environment::{Features, Reward, sample};
use labrys_combopt::learned::model::Evaluation;
use labrys_combopt::learned::sample::Batch;
use labrys_combopt::learned::{
    ExchangeMode, IndependentSet, LocalGraph, MaxCut, Model, ModelConfig, ModelKind, Problem, Ranks, VertexCover,
    select,
};
use labrys_comm::Communicator;
use labrys_graph::{Graph, GraphBuilder, generate};
use labrys_search::Seed;

fn model(kind: ModelKind, layers: usize, problem: &dyn Problem) -> Model {
    let config = ModelConfig { kind, dimension: 16, layers, features: problem.features() };
    let mut model = Model::new(config, Seed(5)).unwrap();
    // Large enough for every parameter to matter.
    for id in model.params.ids() {
        let name = model.params.name(id).to_string();
        let scale = if ["theta4", "theta5", "theta3"].contains(&&name[..6.min(name.len())]) { 4.0 } else { 1.0 };
        model.params.get_mut(id).data.iter_mut().for_each(|value| *value *= scale);
    }
    model
}

fn parameter<'m>(model: &'m Model, name: &str) -> &'m [f32] {
    &model.params.get(model.params.find(name).unwrap()).data
}

fn relu(x: f64) -> f64 {
    x.max(0.0)
}

/// `row^T matrix`.
fn product(row: &[f64], matrix: &[f32]) -> Vec<f64> {
    let columns = matrix.len() / row.len();
    (0..columns).map(|j| row.iter().enumerate().map(|(i, x)| x * f64::from(matrix[i * columns + j])).sum()).collect()
}

/// Equations 1 and 2 for a weighted graph without removed nodes, in double precision.
fn by_the_book(model: &Model, graph: &Graph, features: &[f32]) -> Vec<f64> {
    let (k, f) = (model.config.dimension, model.config.features);
    let n = graph.nodes();
    let theta2 = parameter(model, "theta2");
    let mut embeddings = vec![vec![0.0; k]; n];
    for _ in 0..model.config.layers {
        let embed = |v: usize| -> Vec<f64> {
            let x: Vec<f64> = features[v * f..(v + 1) * f].iter().map(|&x| f64::from(x)).collect();
            let (mut near, mut edges) = (vec![0.0; k], vec![0.0; k]);
            for (u, weight) in graph.weighted_neighbours(v as u32) {
                for i in 0..k {
                    near[i] += embeddings[u as usize][i];
                    edges[i] += relu(f64::from(theta2[i]) * weight as f64);
                }
            }
            let terms = [
                product(&x, parameter(model, "theta1")),
                product(&near, parameter(model, "theta4")),
                product(&edges, parameter(model, "theta3")),
            ];
            (0..k).map(|i| relu(terms.iter().map(|term| term[i]).sum())).collect()
        };
        embeddings = (0..n).map(embed).collect();
    }
    let sum: Vec<f64> = (0..k).map(|i| embeddings.iter().map(|row| row[i]).sum()).collect();
    let theta7 = parameter(model, "theta7");
    let score = |row: &Vec<f64>| {
        let hidden = [product(&sum, parameter(model, "theta5")), product(row, parameter(model, "theta6"))].concat();
        hidden.iter().zip(theta7).map(|(&x, &theta)| relu(x) * f64::from(theta)).sum()
    };
    embeddings.iter().map(score).collect()
}

#[test]
fn structure2vec_is_equations_1_and_2() {
    let mut builder = GraphBuilder::new(40);
    for (index, (a, b)) in generate::erdos_renyi(40, 0.2, &mut Seed(1).stream("graph", 0)).into_iter().enumerate() {
        builder.add_weighted(a, b, [1, -2, 3][index % 3]);
    }
    let graph = builder.build().0;
    let local = LocalGraph::whole(&graph);
    for layers in 1..=3 {
        let problem = MaxCut::default();
        let model = model(ModelKind::Structure2vec, layers, &problem);
        let comm = Communicator::alone();
        let state = problem.rebuild(&comm, &local, &[3, 17, 20]).unwrap();
        let expected = by_the_book(&model, &graph, &state.features);
        let ranks = Ranks { comm: &comm, mode: ExchangeMode::AllGather };
        let got = model.evaluate(ranks, &Batch::new(vec![state])).unwrap();
        for (own, expected) in got.own.iter().zip(&expected) {
            let score = f64::from(own + got.common[0]);
            assert!((score - expected).abs() < 1e-3 * expected.abs().max(1.0), "{score}, not {expected}");
        }
    }
}

/// A loss that every score takes part in.
fn loss(evaluation: &Evaluation, rows: &[usize]) -> f64 {
    let mut own = evaluation.own.iter();
    let states = rows.iter().zip(&evaluation.common).enumerate();
    states
        .map(|(sample, (&rows, &common))| {
            let factor = (sample + 1) as f64 * 0.3;
            own.by_ref()
                .take(rows)
                .enumerate()
                .map(|(row, &x)| factor * coefficient(row) * f64::from(x + common))
                .sum::<f64>()
        })
        .sum()
}

fn coefficient(row: usize) -> f64 {
    [1.0, -0.5, 0.0, 0.25][row % 4]
}

#[test]
fn derivatives_are_limits_of_differences() {
    let graph = Graph::from_edges(30, generate::barabasi_albert(30, 3, &mut Seed(4).stream("graph", 0)));
    let local = LocalGraph::whole(&graph);
    let comm = Communicator::alone();
    let ranks = Ranks { comm: &comm, mode: ExchangeMode::AllGather };
    let cases: [(&dyn Problem, ModelKind, usize); 6] = [
        (&VertexCover::default(), ModelKind::Structure2vec, 2),
        (&VertexCover { features: Features::Paper, ..VertexCover::default() }, ModelKind::Structure2vec, 3),
        (&VertexCover::default(), ModelKind::Gin, 3),
        (&VertexCover::default(), ModelKind::GraphSage, 2),
        (&MaxCut::default(), ModelKind::Structure2vec, 1),
        (&VertexCover::default(), ModelKind::Linear, 1),
    ];
    for (problem, kind, layers) in cases {
        let mut model = model(kind, layers, problem);
        let rebuild = |actions: &[u32]| problem.rebuild(&comm, &local, actions).unwrap();
        let batch = Batch::new(vec![rebuild(&[0, 7]), rebuild(&[])]);
        let evaluation = model.evaluate(ranks, &batch).unwrap();
        let rows = [30, 30];
        let by_score: Vec<f32> = (0..60).map(|i| ((i / 30 + 1) as f64 * 0.3 * coefficient(i % 30)) as f32).collect();
        let gradients = model.gradients(ranks, &batch, &evaluation, &by_score).unwrap();
        for id in model.params.ids() {
            let count = model.params.get(id).data.len();
            let (mut length, mut error) = (0.0, 0.0);
            // Sums over all nodes are large: a small step already moves them past a kink.
            let step = if model.params.name(id) == "theta5" { 1e-4 } else { 2e-3 };
            for index in (0..count).step_by(1 + count / 41) {
                let exact = f64::from(gradients.get(id).data[index]);
                let mut at = |step: f32| {
                    model.params.get_mut(id).data[index] += step;
                    let value = loss(&model.evaluate(ranks, &batch).unwrap(), &rows);
                    model.params.get_mut(id).data[index] -= step;
                    value
                };
                let difference = (at(step) - at(-step)) / f64::from(2.0 * step);
                length += exact * exact;
                error += (difference - exact) * (difference - exact);
            }
            // As vectors: kinks of ReLUs within a step, and rounding, move single ones.
            let name = model.params.name(id);
            assert!(length > 0.0 || layers == 1, "{kind:?} {layers} {name}: no derivative");
            assert!(error.sqrt() <= 0.03 * length.sqrt() + 1e-3, "{kind:?} {layers} {name}: {error} of {length}");
        }
    }
}

#[test]
fn an_environment_and_its_rebuilt_state_look_the_same() {
    let graph = Graph::from_edges(60, generate::erdos_renyi(60, 0.1, &mut Seed(9).stream("graph", 0)));
    let local = LocalGraph::whole(&graph);
    let comm = Communicator::alone();
    for problem in [&VertexCover::default() as &dyn Problem, &IndependentSet::default(), &MaxCut::default()] {
        let mut environment = problem.start(&local);
        for node in [5, 11, 2, 40, 41, 17] {
            if !environment.done() && environment.may_pick(&comm, node).unwrap() {
                environment.step(&comm, node).unwrap();
            }
            let (now, rebuilt) = (
                sample(&*environment, problem.features()),
                problem.rebuild(&comm, &local, environment.actions()).unwrap(),
            );
            assert_eq!(
                (&now.features, &now.degrees, &now.weights),
                (&rebuilt.features, &rebuilt.degrees, &rebuilt.weights)
            );
            assert_eq!((now.candidates, now.alive), (rebuilt.candidates, rebuilt.alive));
        }
    }
}

/// Random episodes: rewards add up to the objective, and the checker confirms the solution.
#[test]
fn random_episodes_end_in_valid_solutions() {
    let comm = Communicator::alone();
    let mut rng = Seed(3).stream("episodes", 0);
    for nodes in (0..40).step_by(2) {
        let graph = Graph::from_edges(nodes, generate::erdos_renyi(nodes, 0.2, &mut rng));
        let local = LocalGraph::whole(&graph);
        let cover = VertexCover { reward: Reward::Steps, ..VertexCover::default() };
        let set = IndependentSet { reward: Reward::Steps, ..IndependentSet::default() };
        let problems: [(&dyn Problem, f32); 3] = [(&cover, -1.0), (&set, 1.0), (&MaxCut::default(), 1.0)];
        for (problem, sign) in problems {
            let mut environment = problem.start(&local);
            let mut total = 0.0;
            while !environment.done() {
                let state = sample(&*environment, problem.features());
                let node = select::random(&comm, &state, &mut rng).unwrap().unwrap();
                assert!(environment.may_pick(&comm, node).unwrap() || problem.name() == "max-cut");
                total += environment.step(&comm, node).unwrap();
            }
            let (solution, objective) = (environment.solution(), environment.objective());
            assert_eq!((total * sign) as i64, objective, "{}", problem.name());
            let checked = match problem.name() {
                "vertex-cover" => check::vertex_cover(&graph, &solution).unwrap() as i64,
                "independent-set" => check::independent_set(&graph, &solution).unwrap() as i64,
                _ => check::cut(&graph, &solution).unwrap(),
            };
            assert_eq!(objective, checked, "{}", problem.name());
        }
    }
}

/// Rewards by Caro and Wei differ from steps by a constant of the graph.
#[test]
fn both_rewards_add_up_to_the_size() {
    let graph = Graph::from_edges(50, generate::barabasi_albert(50, 3, &mut Seed(8).stream("graph", 0)));
    let (local, comm) = (LocalGraph::whole(&graph), Communicator::alone());
    let guaranteed: f32 = (0..50).map(|v| graph.degree(v) as f32 / (graph.degree(v) + 1) as f32).sum();
    for (problem, constant) in
        [(&VertexCover::default() as &dyn Problem, guaranteed), (&IndependentSet::default(), guaranteed - 50.0)]
    {
        let mut environment = problem.start(&local);
        let mut total = 0.0;
        for node in 0..50 {
            if environment.may_pick(&comm, node).unwrap() {
                total += environment.step(&comm, node).unwrap();
            }
        }
        let size = environment.objective() as f32;
        let expected = constant + if problem.minimises() { -size } else { size };
        assert!((total - expected).abs() < 1e-3, "{}: {total}, not {expected}", problem.name());
    }
}
