use super::rollout::likelihood;
use super::*;
use crate::solve::{self, Effort, Method};
use crate::{Objective, Plan, Problem, check, synthetic};
use labrys_dataflow::GraphBuilder;
use labrys_search::{Limits, Runner, Score, Seed};
use std::sync::Arc;

/// Gives the advice of a function.
struct Hostile(fn(usize) -> OrderAdvice);

impl Guide<Graph> for Hostile {
    type Advice = OrderAdvice;

    fn advise(&self, graph: &Graph) -> OrderAdvice {
        (self.0)(graph.op_count())
    }
}

/// The released policy, turned round.
struct Reversed(OrderPolicy);

impl Guide<Graph> for Reversed {
    type Advice = OrderAdvice;

    fn advise(&self, graph: &Graph) -> OrderAdvice {
        let mut advice = self.0.advise(graph);
        for priorities in [&mut advice.forward, &mut advice.backward] {
            priorities.score.iter_mut().chain(&mut priorities.weight).for_each(|x| *x = -*x);
        }
        advice
    }
}

fn both(score: Vec<f32>, weight: Vec<f32>, temperature: f64) -> OrderAdvice {
    let forward = Priorities { score, weight };
    OrderAdvice { backward: forward.clone(), forward, temperature: Some(temperature) }
}

fn guides() -> Vec<(&'static str, Box<OrderGuide>)> {
    let hostile = |advice| -> Box<OrderGuide> { Box::new(Hostile(advice)) };
    vec![
        ("random", Box::new(Random(Seed(3)))),
        ("greedy", Box::new(Greedy)),
        ("model", Box::new(OrderPolicy::released().unwrap())),
        ("reversed", Box::new(Reversed(OrderPolicy::released().unwrap()))),
        ("constant", hostile(|n| both(vec![7.0; n], vec![0.0; n], 0.0))),
        ("not a number", hostile(|n| both(vec![f32::NAN; n], vec![f32::NAN; n], f64::NAN))),
        ("infinite", hostile(|n| both(vec![f32::INFINITY; n], vec![f32::NEG_INFINITY; n], f64::INFINITY))),
        ("nothing", hostile(|_| both(vec![], vec![], -1.0))),
        ("too long", hostile(|n| both(vec![1.0; n + 9], vec![2.0; n + 9], 1e-300))),
    ]
}

fn problem(number: u64, devices: usize) -> Problem {
    Problem::new(Arc::new(synthetic::graph(Seed(9), number)), devices, Objective::PeakMemory)
}

fn run(problem: &Problem, effort: Effort, guide: Option<&OrderGuide>) -> (Score, Plan) {
    let mut run = Runner::new(Limits { work: Some(2_000), time: None }, Seed(0));
    solve::solve_guided(problem, Method::Portfolio, effort, None, guide, &mut run);
    run.best().unwrap().clone()
}

#[test]
fn no_guide_changes_correctness_or_makes_the_start_worse() {
    for (number, devices) in [(0, 1), (1, 2), (2, 3)] {
        let problem = problem(number, devices);
        let unguided = run(&problem, Effort::Constructive, None).0;
        for (name, guide) in guides() {
            for effort in [Effort::Constructive, Effort::Search] {
                let (score, plan) = run(&problem, effort, Some(guide.as_ref()));
                let cost = check(&problem, &plan).unwrap_or_else(|violation| panic!("{name}: {violation}"));
                assert_eq!(problem.score(&cost), score, "{name}");
                assert!(score <= unguided, "{name}, graph {number}: {score:?} after {unguided:?}");
            }
        }
    }
}

#[test]
fn a_graph_without_tensors_or_with_one_op_is_fine() {
    let mut b = GraphBuilder::new("one");
    b.op("op", "op");
    let problem = Problem::new(Arc::new(b.build().unwrap()), 2, Objective::PeakMemory);
    for (name, guide) in guides() {
        assert_eq!(run(&problem, Effort::Search, Some(guide.as_ref())).0, Score::feasible(0), "{name}");
    }
}

#[test]
fn the_released_policy_beats_every_constructive_order_in_the_mean() {
    let policy = OrderPolicy::released().unwrap();
    let mut gains = vec![];
    for number in 0..12 {
        let graph = synthetic::graph(Seed(9), number);
        let known = orders::portfolio(&graph).iter().map(|(_, order)| orders::peak(&graph, order)).min().unwrap();
        let learned = candidates::orders(&graph, &policy.advise(&graph), u64::MAX, Seed(0), 1);
        gains.push(1.0 - orders::peak(&graph, &learned[0]) as f64 / known as f64);
    }
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    assert!(mean > 0.08, "{:.1} % better: {gains:.2?}", 100.0 * mean);
}

#[test]
fn advice_and_orders_do_not_depend_on_the_number_of_threads() {
    let policy = OrderPolicy::released().unwrap();
    let graph = synthetic::graph(Seed(9), 5);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| candidates::orders(&graph, &policy.advise(&graph), u64::MAX, Seed(1), 3))
    };
    assert_eq!(on(1), on(3));
}

/// A diamond with a tail beside it.
fn small() -> Graph {
    let mut b = GraphBuilder::new("small");
    let ops: Vec<OpId> = (0..5).map(|i| b.op(&format!("op{i}"), "op")).collect();
    let tensors: Vec<_> = [40, 30, 20, 10].iter().zip(&ops).map(|(&bytes, &op)| b.output(op, "t", bytes)).collect();
    b.input(ops[1], tensors[0]);
    b.input(ops[2], tensors[0]);
    b.input(ops[3], tensors[1]);
    b.input(ops[3], tensors[2]);
    b.build().unwrap()
}

/// All orders that the graph allows.
fn all_orders(graph: &Graph, order: &mut Vec<OpId>, all: &mut Vec<Vec<OpId>>) {
    if order.len() == graph.op_count() {
        all.push(order.clone());
    }
    for op in graph.ops() {
        if !order.contains(&op) && graph.preds(op).iter().all(|p| order.contains(p)) {
            order.push(op);
            all_orders(graph, order, all);
            order.pop();
        }
    }
}

fn priorities() -> Priorities {
    Priorities { score: vec![0.5, -1.0, 0.3, 0.0, 0.2], weight: vec![1.0, 0.3, 2.0, 0.7, 1.1] }
}

#[test]
fn probabilities_of_all_orders_sum_up_to_one() {
    let (graph, mut all) = (small(), vec![]);
    all_orders(&graph, &mut vec![], &mut all);
    assert_eq!(all.len(), 10);
    for backward in [orders::FORWARD, orders::BACKWARD] {
        let probability = |order: &Vec<OpId>| likelihood(&graph, backward, &priorities(), order).log_probability.exp();
        let total: f64 = all.iter().map(probability).sum();
        assert!((total - 1.0).abs() < 1e-5, "{total}");
    }
}

#[test]
fn derivatives_of_a_likelihood_are_its_differences() {
    const STEP: f32 = 1e-2;
    let (graph, mut all) = (small(), vec![]);
    all_orders(&graph, &mut vec![], &mut all);
    for (backward, order) in [(orders::FORWARD, &all[3]), (orders::BACKWARD, &all[7])] {
        let exact = likelihood(&graph, backward, &priorities(), order);
        let slope = |change: &dyn Fn(&mut Priorities, f32)| {
            let at = |step: f32| {
                let mut moved = priorities();
                change(&mut moved, step);
                likelihood(&graph, backward, &moved, order).log_probability
            };
            ((at(STEP) - at(-STEP)) / f64::from(2.0 * STEP)) as f32
        };
        for op in 0..5 {
            let by_score = slope(&|p, step| p.score[op] += step);
            let by_log_weight = slope(&|p, step| p.weight[op] *= step.exp());
            assert!((by_score - exact.by_score[op]).abs() < 1e-3, "op {op}: {by_score} {}", exact.by_score[op]);
            assert!((by_log_weight - exact.by_log_weight[op]).abs() < 1e-3, "op {op}: {by_log_weight}");
        }
    }
}

#[test]
fn only_models_of_orders_are_read() {
    let policy = OrderPolicy::new(policy::Shape::default(), Seed(1));
    let card = policy.card("nothing".to_owned(), (1, 2)).unwrap();
    let checkpoint = labrys_nn::Checkpoint { card, params: policy.params };
    assert!(OrderPolicy::from_checkpoint(&checkpoint).is_ok());
    let mut other = checkpoint.clone();
    other.card.problem = "tsp".to_owned();
    assert!(OrderPolicy::from_checkpoint(&other).unwrap_err().to_string().contains("'tsp'"));
    let mut other = checkpoint;
    other.card.details.insert("shape".to_owned(), serde_json::json!({"hidden": 8, "rounds": 1}));
    assert!(OrderPolicy::from_checkpoint(&other).is_err(), "another width than the parameters have");
}
