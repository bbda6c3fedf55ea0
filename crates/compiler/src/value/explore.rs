//! Searches under a network: to learn from, and to measure it.

use super::dataset::{Record, Sample};
use super::encode::ExprGraph;
use super::generate::Generator;
use super::learned::LearnedValue;
use super::net::{Shape, ValueNet};
use super::teach::teach;
use crate::cost::{Cost as _, Table};
use crate::ir::{ExprId, Program};
use crate::optimize::functions;
use crate::optimize::rewrites::Rewrites;
use crate::optimize::sets::{SETS, Set};
use crate::optimize::value::Value;
use crate::rewrite::{Action, Mode, Rewriter, RuleSet, Settings};
use labrys_search::mcts::Params;
use labrys_search::{Limits, Runner, Seed, StateGraph, best_first, mcts};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// The subject of the rules that sets have which only bind.
const BINDING: &str = "binding";
/// The seed of random expressions, which are the same in every run.
const EXPRESSIONS: Seed = Seed(2019);
/// Random expressions of one program: a search copies the program.
const OF_ONE_PROGRAM: usize = 16;
/// What a step must save when a state is told where to go.
const STEP: f64 = 0.05;
/// States of a search that are kept: so many from its beginning, and as many of the others.
const KEPT: (u32, usize) = (40, 160);

/// Which search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Algorithm 2.
    #[default]
    AStar,
    /// Algorithm 3.
    Mcts,
}

/// How expressions are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SearchConfig {
    /// The search that the network learns from.
    pub algorithm: Algorithm,
    /// Whether it is measured not only with A*, but with MCTS, too.
    pub compare: bool,
    /// States that a search may ask the network about.
    pub queries: u64,
    /// Whether the network learns from what common subexpressions and the e-graph find, too: first from that, then from searches.
    pub teacher: bool,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { algorithm: Algorithm::AStar, compare: false, queries: 5_000, teacher: false }
    }
}

/// Expressions to learn from and to measure on, with all that a search of them needs.
pub struct Explorer {
    sets: Vec<OpenSet>,
    training: Vec<Start>,
    held_back: Vec<Start>,
    /// How they are searched.
    pub config: SearchConfig,
}

/// A set of expressions with its rules. Each search takes a copy of the program, so that it does not depend on the others.
struct OpenSet {
    program: Program,
    rules: RuleSet,
}

impl OpenSet {
    /// A set with its expressions.
    fn new(set: &Set) -> (Self, Vec<ExprId>) {
        let mut program = set.program();
        // Over the reals, as the draft has it.
        let rules = RuleSet::standard(&mut program, Settings { mode: Mode::Fast, ..Settings::default() });
        let rules = if set.only_binds { rules.filtered(|rule| rule.subject == BINDING) } else { rules };
        let functions = set.functions(&program);
        let opened = functions.into_iter().filter_map(|fun| functions::open(&mut program, fun));
        let starts = opened.map(|opened| opened.start).collect();
        (Self { program, rules }, starts)
    }

    /// Its expressions as graphs.
    fn graphs(set: &Set) -> Vec<ExprGraph> {
        let (set, starts) = Self::new(set);
        starts.into_iter().filter_map(|expr| ExprGraph::new(&set.program.store, expr)).collect()
    }
}

/// A state to start from.
#[derive(Clone, Copy)]
struct Start {
    /// Which of the sets.
    set: usize,
    expr: ExprId,
}

/// What a search came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    /// Cost at the start.
    pub start: f64,
    /// The least cost.
    pub cost: f64,
    /// States that had been seen when it was found.
    pub queries: u64,
    /// States that had been expanded by then.
    pub expansions: u64,
}

type Graph = StateGraph<ExprId, Action>;

impl Explorer {
    /// Opens sets to learn from and to measure on.
    pub fn new(training: &[Set], held_back: &[Set], config: SearchConfig) -> Self {
        let mut explorer = Self { sets: vec![], training: vec![], held_back: vec![], config };
        explorer.training = training.iter().flat_map(|set| explorer.open(set)).collect();
        explorer.held_back = held_back.iter().flat_map(|set| explorer.open(set)).collect();
        explorer
    }

    /// Adds random expressions to learn from, and to measure on: none of a set, and no two alike.
    #[must_use]
    pub fn with_random(mut self, training: usize, held_back: usize) -> Self {
        if training + held_back == 0 {
            return self;
        }
        let mut seen: FxHashSet<ExprGraph> = SETS.iter().flat_map(OpenSet::graphs).collect();
        let mut starts = vec![];
        while starts.len() < training + held_back {
            let number = starts.len() as u64;
            let missing = (training + held_back - starts.len()).min(OF_ONE_PROGRAM);
            starts.extend(self.draw(EXPRESSIONS.derive("expressions", number), missing, &mut seen));
        }
        self.held_back.extend(starts.split_off(training));
        self.training.extend(starts);
        self
    }

    fn draw(&mut self, seed: Seed, count: usize, seen: &mut FxHashSet<ExprGraph>) -> Vec<Start> {
        let (mut set, _) = OpenSet::new(&Set { name: "random", text: "", only_binds: false });
        let mut generator = Generator::new(&mut set.program, &set.rules);
        let (mut rng, mut starts) = (seed.stream("expressions", 0), vec![]);
        while starts.len() < count {
            let expr = generator.draw(&mut set.program, &mut rng);
            if ExprGraph::new(&set.program.store, expr).is_some_and(|graph| seen.insert(graph)) {
                starts.push(Start { set: self.sets.len(), expr });
            }
        }
        self.sets.push(set);
        starts
    }

    fn open(&mut self, set: &Set) -> Vec<Start> {
        let (set, exprs) = OpenSet::new(set);
        let number = self.sets.len();
        self.sets.push(set);
        exprs.into_iter().map(|expr| Start { set: number, expr }).collect()
    }

    /// Number of expressions to learn from.
    pub fn training(&self) -> usize {
        self.training.len()
    }

    /// Number of expressions to measure on.
    pub fn held_back(&self) -> usize {
        self.held_back.len()
    }

    /// Least and most nodes of the expressions to learn from.
    pub fn sizes(&self) -> (usize, usize) {
        let size = |start: &Start| self.sets[start.set].program.store.size(start.expr) as usize;
        let sizes = || self.training.iter().map(size);
        (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
    }

    /// Searches an expression to learn from it: states that were expanded, with the best that is known of them.
    pub fn learn_from(&self, index: usize, net: &ValueNet, seed: Seed) -> Record {
        let start = self.training[index];
        let (mut program, mut graph) = self.search(start, net, self.config.algorithm, seed);
        let best = graph.cost(graph.best());
        if self.config.teacher {
            teach(&mut program, &self.sets[start.set].rules, &mut graph, 1);
        }
        Record { expression: index, best, samples: samples(&program, &graph, &net.shape) }
    }

    /// The best way from an expression that other methods know, and what is around it.
    pub fn lesson(&self, index: usize, shape: &Shape) -> Record {
        let Start { set, expr } = self.training[index];
        let OpenSet { program, rules } = &self.sets[set];
        let mut program = program.clone();
        let mut graph = Graph::new(expr, Table::default().cost(&mut program, expr));
        teach(&mut program, rules, &mut graph, 2);
        Record { expression: index, best: graph.cost(graph.best()), samples: samples(&program, &graph, shape) }
    }

    /// Searches an expression to measure the network.
    pub fn measure(&self, index: usize, net: &ValueNet, algorithm: Algorithm, seed: Seed) -> Found {
        let (_, graph) = self.search(self.held_back[index], net, algorithm, seed);
        let start = graph.cost(0);
        let last = graph.improvements().last();
        last.map_or(Found { start, cost: start, queries: 0, expansions: 0 }, |last| Found {
            start,
            cost: last.cost,
            queries: last.states,
            expansions: last.expansions,
        })
    }

    fn search(&self, start: Start, net: &ValueNet, algorithm: Algorithm, seed: Seed) -> (Program, Graph) {
        let OpenSet { program, rules } = &self.sets[start.set];
        let mut program = program.clone();
        let (mut rewriter, mut cost, mut value) =
            (Rewriter::new(rules), Table::default(), LearnedValue::new(net.clone()));
        let horizon = net.shape.horizon as u32;
        let mut graph = Graph::new(start.expr, cost.cost(&mut program, start.expr));
        let mut run = Runner::new(Limits { work: Some(self.config.queries), time: None }, seed);
        let value: Option<&mut dyn Value> = Some(&mut value);
        let mut space = Rewrites { program: &mut program, rewriter: &mut rewriter, cost: &mut cost, value };
        match algorithm {
            Algorithm::AStar => best_first(&mut space, &mut graph, &[0], horizon, &mut run, "A*"),
            Algorithm::Mcts => mcts(&mut space, &mut graph, horizon, Params::default(), &mut run, "MCTS"),
        }
        (program, graph)
    }
}

/// What the network should have said of the states that a search expanded.
fn samples(program: &Program, graph: &Graph, shape: &Shape) -> Vec<Sample> {
    let targets = targets(graph, shape);
    let expanded: Vec<u32> = (0..graph.len() as u32).filter(|node| graph.steps(*node).is_some()).collect();
    let stride = expanded.len().div_ceil(KEPT.1).max(1);
    let kept = expanded.iter().enumerate().filter(|(place, node)| **node < KEPT.0 || place % stride == 0);
    let sample = |(_, node): (usize, &u32)| {
        let values = targets[*node as usize].clone();
        Some(Sample { graph: ExprGraph::new(&program.store, graph.state(*node))?, values })
    };
    kept.filter_map(sample).collect()
}

/// By state: the reduction of the cost that is known, and the steps there; or the best reduction within t steps, divided by t.
fn targets(graph: &Graph, shape: &Shape) -> Vec<Vec<f32>> {
    if shape.counts_steps() {
        let goals = graph.goals(STEP).into_iter().enumerate();
        return goals
            .map(|(node, goal)| vec![(graph.cost(node as u32) - goal.cost) as f32, goal.steps as f32])
            .collect();
    }
    let reductions = graph.reductions(shape.horizon as u32);
    let row = |row: &[f32]| row.iter().enumerate().map(|(t, reduction)| reduction / t.max(1) as f32).collect();
    reductions.chunks(shape.horizon + 1).map(row).collect()
}
