//! Inference (algorithm 2): the policy alone constructs a solution.

use super::blocks::LocalGraph;
use super::environment::{Environment, Problem, sample};
use super::model::{Model, Ranks};
use super::sample::Batch;
use super::select;
use labrys_comm::CommError;
use serde::{Deserialize, Serialize};

/// How many nodes are picked by one evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// The best one.
    #[default]
    One,
    /// The best 8, 4, 2, 1 as candidates become fewer than a half, a quarter, an eighth of the nodes (section 5.2).
    Adaptive,
}

impl Selection {
    /// Nodes to pick when there are so many candidates.
    pub fn count(self, candidates: u64, nodes: usize) -> usize {
        let share = |part: u64| candidates * part > nodes as u64;
        match self {
            Self::Adaptive if share(2) => 8,
            Self::Adaptive if share(4) => 4,
            Self::Adaptive if share(8) => 2,
            _ => 1,
        }
    }
}

/// A solution, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollout {
    /// The picked nodes as a solution.
    pub solution: Vec<u32>,
    /// Its objective.
    pub objective: i64,
    /// Evaluations of the model.
    pub evaluations: u64,
    /// Whether it came to its end: without it, time was up.
    pub complete: bool,
}

/// Constructs a solution by evaluating the whole model before every choice.
pub fn rollout(
    model: &Model,
    problem: &dyn Problem,
    graph: &LocalGraph<'_>,
    ranks: Ranks<'_>,
    selection: Selection,
) -> Result<Rollout, CommError> {
    rollout_until(model, problem, graph, ranks, selection, &mut || false)
}

/// [`rollout`] until `stop`, which is asked before every choice and must say the same on all ranks.
pub fn rollout_until(
    model: &Model,
    problem: &dyn Problem,
    graph: &LocalGraph<'_>,
    ranks: Ranks<'_>,
    selection: Selection,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Rollout, CommError> {
    let mut environment = problem.start(graph);
    let mut evaluations = 0;
    while !environment.done() && !stop() {
        let batch = Batch::new(vec![sample(&*environment, problem.features())]);
        let evaluation = model.evaluate(ranks, &batch)?;
        evaluations += 1;
        let count = selection.count(select::candidate_count(ranks.comm, &batch.samples[0])?, graph.nodes());
        let nodes = select::best(ranks.comm, &batch.samples[0], &evaluation.own, count)?;
        if nodes.is_empty() {
            break;
        }
        pick(&mut *environment, ranks, &nodes, |_| ())?;
    }
    Ok(Rollout::new(&*environment, evaluations))
}

impl Rollout {
    /// What an environment has come to.
    pub(crate) fn new<'g>(environment: &(dyn Environment<'g> + 'g), evaluations: u64) -> Self {
        let (solution, objective) = (environment.solution(), environment.objective());
        Self { solution, objective, evaluations, complete: environment.done() }
    }
}

/// Picks nodes one after the other, but those that are no candidates any more; `stepped` hears of each step.
pub(crate) fn pick<'g>(
    environment: &mut (dyn Environment<'g> + 'g),
    ranks: Ranks<'_>,
    nodes: &[u32],
    mut stepped: impl FnMut(&(dyn Environment<'g> + 'g)),
) -> Result<(), CommError> {
    for (index, &node) in nodes.iter().enumerate() {
        if index > 0 && (environment.done() || !environment.may_pick(ranks.comm, node)?) {
            continue;
        }
        environment.step(ranks.comm, node)?;
        stepped(environment);
    }
    Ok(())
}
