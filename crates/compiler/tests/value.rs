//! The learned value function: training that a stop does not change, and guides that lie.

use labrys_compiler::cost::{Cost as _, Table};
use labrys_compiler::ir::{ExprId, Program};
use labrys_compiler::optimize::functions;
use labrys_compiler::optimize::rewrites::Rewrites;
use labrys_compiler::optimize::sets::Set;
use labrys_compiler::optimize::value::Value;
use labrys_compiler::rewrite::{Mode, Rewriter, RuleSet, Settings};
use labrys_compiler::value::dataset::SearchFiles;
use labrys_compiler::value::explore::{Explorer, SearchConfig};
use labrys_compiler::value::train::{LearningConfig, ValueTraining};
use labrys_compiler::value::{LearnedValue, Shape, ValueNet};
use labrys_nn::Checkpoint;
use labrys_rl::TrainingConfig;
use labrys_search::{Limits, Runner, Seed, StateGraph, best_first};
use std::ops::ControlFlow;
use std::path::Path;

/// Each can be made cheaper, the last only by a step that makes it dearer first.
const EXPRESSIONS: &str = "
(def a Float ((x : Float) (y : Float)) (add (mul x y) (mul x 0.0)))
(def b Float ((x : Float) (y : Float)) (mul (add x 0.0) (div y 1.0)))
(def c Float ((x : Float) (y : Float)) (sub (mul x (add y 1.0)) (mul x (add y 1.0))))
(def d Float ((x : Float) (y : Float)) (mul (exp (add x y)) (exp (add x y))))
";

fn set() -> Set {
    Set { name: "expressions", text: EXPRESSIONS, only_binds: false }
}

/// The expressions as states, and the rules.
fn states() -> (Program, RuleSet, Vec<ExprId>) {
    let mut program = set().program();
    let rules = RuleSet::standard(&mut program, Settings { mode: Mode::Fast, ..Settings::default() });
    let functions = set().functions(&program);
    let starts = functions.into_iter().map(|fun| functions::open(&mut program, fun).unwrap().start).collect();
    (program, rules, starts)
}

fn explorer() -> Explorer {
    Explorer::new(&[set()], &[set()], SearchConfig { queries: 60, ..SearchConfig::default() })
}

fn shape() -> Shape {
    Shape { hidden: 8, rounds: 2, readout: 8, horizon: 4, dropout: 0.1, price: 0.0 }
}

fn training(steps: u64) -> TrainingConfig {
    let (validate_every, save_every, learning_rate) = (4, 2, 1e-2);
    TrainingConfig { steps, minibatch: 2, learning_rate, validate_every, save_every, ..TrainingConfig::default() }
}

/// Trains in a folder to so many steps, or until it is stopped after some.
fn train(folder: &Path, explorer: &Explorer, shape: Shape, steps: u64, stop_after: Option<u64>) {
    let config = LearningConfig { expressions: 2, states: 4, ..LearningConfig::default() };
    let settings = (config, training(steps), shape);
    let mut run = ValueTraining::open(folder, settings, explorer, "four expressions".to_owned()).unwrap();
    run.run(|step| if Some(step.steps) == stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        .unwrap();
}

/// Every file of a run with its bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = vec![];
    for folder in [folder.to_path_buf(), folder.join("searches")] {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
        {
            all.push((path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

/// Trains once in one go and once with stops; the number of searches in each epoch.
fn stopped_and_not(explorer: &Explorer, shape: Shape) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    train(&whole, explorer, shape, 12, None);
    for stop_after in [Some(3), Some(4), Some(9), None] {
        train(&parts, explorer, shape, 12, stop_after);
    }
    assert_eq!(files(&whole), files(&parts));
    let best = Checkpoint::load(&whole.join("best.safetensors")).unwrap();
    assert!(ValueNet::from_checkpoint(&best).is_ok());
    let searches = SearchFiles::new(&whole);
    let read = |epoch| searches.read(epoch, explorer.training(), shape.outputs()).unwrap();
    (0..).map_while(read).map(|records| records.len()).collect()
}

#[test]
fn a_stop_changes_no_byte() {
    assert_eq!(stopped_and_not(&explorer(), shape()), [2, 2, 2]);
}

#[test]
fn a_stop_changes_no_byte_where_there_are_lessons() {
    let config = SearchConfig { queries: 60, teacher: true, ..SearchConfig::default() };
    let explorer = Explorer::new(&[set()], &[], config).with_random(2, 1);
    assert_eq!((explorer.training(), explorer.held_back()), (6, 1));
    // First all lessons.
    assert_eq!(stopped_and_not(&explorer, Shape { price: 0.5, readout: 0, ..shape() }), [6, 2, 2]);
}

#[test]
fn lessons_count_the_steps_of_ways_that_are_there() {
    let config = SearchConfig { teacher: true, ..SearchConfig::default() };
    let explorer = Explorer::new(&[set()], &[], config);
    for index in 0..explorer.training() {
        let record = explorer.lesson(index, &Shape { price: 0.5, ..shape() });
        let start = &record.samples[0].values;
        assert!(start[0] > 0.0 && start[1] >= 1.0, "each can be made cheaper: {start:?}");
        assert!(record.samples.iter().any(|sample| sample.values == [0.0, 0.0]), "the end is there");
        assert!(record.samples.iter().all(|sample| sample.values[1] <= start[1] + 4.0), "nothing is far away");
    }
}

/// The least cost that A* finds for each expression, and whether all it saw is in the order in which it was seen.
fn search(mut guide: Option<&mut dyn Value>, start: usize, queries: u64) -> (f64, f64) {
    let (mut program, rules, starts) = states();
    let (mut rewriter, mut cost) = (Rewriter::new(&rules), Table::default());
    let before = cost.cost(&mut program, starts[start]);
    let mut graph = StateGraph::new(starts[start], before);
    let mut run = Runner::new(Limits { work: Some(queries), time: None }, Seed(0));
    let value = guide.as_mut().map(|guide| &mut **guide as &mut dyn Value);
    let mut space = Rewrites { program: &mut program, rewriter: &mut rewriter, cost: &mut cost, value };
    best_first(&mut space, &mut graph, &[0], 6, &mut run, "A*");
    let best = graph.best();
    // The path is a certificate: every step of it can be done, and leads where it says.
    let path: Vec<_> = graph.path(best).into_iter().map(|(action, to)| (*action, graph.state(to))).collect();
    let mut at = graph.state(0);
    for (action, to) in path {
        at = rewriter.apply(&mut program, at, &action).unwrap();
        assert_eq!(at, to);
    }
    (before, cost.cost(&mut program, at))
}

/// Says of every state what it is told to.
struct Liar {
    values: Vec<f32>,
}

impl Value for Liar {
    fn values(&mut self, _: &Program, states: &[ExprId], out: &mut Vec<f32>) {
        states.iter().for_each(|_| out.extend_from_slice(&self.values));
    }

    fn horizon(&self) -> usize {
        2
    }
}

#[test]
fn no_guide_makes_a_result_wrong_or_worse_than_the_start() {
    let lies = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e30, 1e30];
    for start in 0..4 {
        for lie in lies {
            for values in [vec![lie; 3], vec![lie], vec![], vec![0.0, lie, -lie]] {
                let (before, after) = search(Some(&mut Liar { values }), start, 100);
                assert!(after <= before, "expression {start}: {before} became {after} under {lie}");
            }
        }
        let mut net = ValueNet::new(shape(), Seed(1)).unwrap();
        for id in net.params.ids() {
            net.params
                .get_mut(id)
                .data
                .iter_mut()
                .enumerate()
                .for_each(|(i, x)| *x = if i % 2 == 0 { 3e38 } else { -3e38 });
        }
        let (before, after) = search(Some(&mut LearnedValue::new(net)), start, 100);
        assert!(after <= before);
    }
}

#[test]
fn an_untrained_network_changes_nothing() {
    for start in 0..4 {
        let net = ValueNet::new(Shape { horizon: 6, ..shape() }, Seed(1)).unwrap();
        assert_eq!(search(Some(&mut LearnedValue::new(net)), start, 50), search(None, start, 50));
    }
}
