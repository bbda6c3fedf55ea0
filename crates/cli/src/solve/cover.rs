//! Vertex cover, independent set and max clique: one search, three readings.

use super::SolveArgs;
use super::answer::{Answer, Search};
use super::input::Instance;
use crate::error::CliError;
use crate::output;
use crate::progress::Progress;
use labrys_combopt::cover::{self, Switches, listed, sparse_clique};
use labrys_combopt::{NodeGuide, Problem, reduce::Rules};
use labrys_graph::formats::Loaded;
use labrys_report::units;
use labrys_search::Runner;
use std::time::Instant;

/// A complement with more edges is not made: cliques are then looked for in neighbourhoods.
const MOST_COMPLEMENT_EDGES: usize = 20_000_000;

pub(super) fn solve(args: &SolveArgs, problem: Problem, input: Loaded, started: Instant) -> Result<Answer, CliError> {
    let n = input.graph.nodes() as u64;
    let objective = move |covered: u64| match problem {
        Problem::VertexCover => covered as i64,
        _ => n.saturating_sub(covered) as i64,
    };
    let progress = Progress::new(args.quiet);
    let mut run = args.runner(started, &progress, move |value| objective(value).to_string());
    let guide = args.guide(input.graph.nodes(), &run)?;
    match problem {
        Problem::MaxClique => clique(args, &input, guide.as_deref(), &mut run),
        _ => cover::solve(&input.graph, guide.as_deref(), switches(args), &mut run),
    }
    let bound = run.bound().unwrap_or(0);
    let outcome = run.finish();
    drop(progress);
    let (score, covered) =
        outcome.best.as_ref().ok_or_else(|| CliError::infeasible("the search was stopped before it found anything"))?;
    let nodes = match problem {
        Problem::VertexCover => listed(covered),
        _ => listed(&covered.iter().map(|&covered| !covered).collect::<Vec<_>>()),
    };
    let search = Search::new(&outcome, objective);
    Ok(Answer {
        problem,
        nodes,
        objective: objective(score.value),
        bound: objective(bound),
        search,
        input: Instance::Graph(input),
    })
}

fn clique(args: &SolveArgs, input: &Loaded, guide: Option<&NodeGuide>, run: &mut Runner<Vec<bool>>) {
    let (n, m) = (input.graph.nodes(), input.graph.edge_count());
    let complement_edges = n * n.saturating_sub(1) / 2 - m;
    if complement_edges > MOST_COMPLEMENT_EDGES {
        return sparse_clique::solve(&input.graph, run);
    }
    if args.verbose {
        output::say(&format!("complement: {complement_edges} edges, {}", units::bytes(8.0 * complement_edges as f64)));
    }
    cover::solve(&input.graph.complement(), guide, switches(args), run);
}

fn switches(args: &SolveArgs) -> Switches {
    Switches {
        rules: if args.no_reductions { Rules::NONE } else { Rules::ALL },
        local_search: !args.no_local_search,
        exact: !args.no_exact,
    }
}
