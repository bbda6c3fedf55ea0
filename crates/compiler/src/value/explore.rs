//! Searches under a network: to learn from, and to measure it.

use super::dataset::{Record, Sample};
use super::encode::ExprGraph;
use super::learned::LearnedValue;
use super::net::ValueNet;
use crate::cost::{Cost as _, Table};
use crate::ir::{ExprId, Program};
use crate::optimize::functions;
use crate::optimize::rewrites::Rewrites;
use crate::optimize::sets::Set;
use crate::optimize::value::Value;
use crate::rewrite::{Action, Mode, Rewriter, RuleSet, Settings};
use labrys_search::mcts::Params;
use labrys_search::{Limits, Runner, Seed, StateGraph, best_first, mcts};
use serde::{Deserialize, Serialize};

/// The subject of the rules that sets have which only bind.
const BINDING: &str = "binding";

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
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { algorithm: Algorithm::AStar, compare: false, queries: 5_000 }
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

    fn open(&mut self, set: &Set) -> Vec<Start> {
        let mut program = set.program();
        // Over the reals, as the draft has it.
        let rules = RuleSet::standard(&mut program, Settings { mode: Mode::Fast, ..Settings::default() });
        let rules = if set.only_binds { rules.filtered(|rule| rule.subject == BINDING) } else { rules };
        let number = self.sets.len();
        let functions = set.functions(&program);
        let opened = functions.into_iter().filter_map(|fun| functions::open(&mut program, fun));
        let starts = opened.map(|opened| Start { set: number, expr: opened.start }).collect();
        self.sets.push(OpenSet { program, rules });
        starts
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

    /// Searches an expression to learn from it: all states that were expanded, with the best reductions that are known.
    pub fn learn_from(&self, index: usize, net: &ValueNet, seed: Seed) -> Record {
        let (program, graph) = self.search(self.training[index], net, self.config.algorithm, seed);
        let horizon = net.shape.horizon;
        let reductions = graph.reductions(horizon as u32);
        let expanded = (0..graph.len() as u32).filter(|node| graph.steps(*node).is_some());
        let sample = |node: u32| {
            let row = &reductions[node as usize * (horizon + 1)..][..=horizon];
            let values = row.iter().enumerate().map(|(t, reduction)| reduction / t.max(1) as f32).collect();
            Some(Sample { graph: ExprGraph::new(&program.store, graph.state(node))?, values })
        };
        Record { expression: index, best: graph.cost(graph.best()), samples: expanded.filter_map(sample).collect() }
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
        let horizon = value.horizon() as u32;
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
