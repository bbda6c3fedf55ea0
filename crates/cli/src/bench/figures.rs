//! `labrys bench placement --figures FOLDER`: figures 2, 3 and 4 and table 4 of the paper, on the graphs at hand.

mod charts;
mod histogram;

use super::measure::{self, Entry, Solver, Stats};
use crate::error::CliError;
use crate::models;
use crate::output;
use clap::Args;
use histogram::Histogram;
use labrys_placement::learned::{Engine, Model};
use labrys_placement::solve::Method;
use labrys_placement::{Plan, Problem};
use labrys_rl::EncoderConfig;
use labrys_search::{Limits, Outcome, Runner, Seed};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Args, Debug)]
pub(crate) struct FigureFlags {
    /// Write the paper's figures 2 (improvements), 3 (evaluation limits), 4 (entropy of actions, policies) and table 4 into this
    /// folder as SVG and JSON, instead of the table of methods
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Policies to compare in figure 4 (b) and table 4
    #[arg(long, value_name = "FILE", value_delimiter = ',', requires = "figures")]
    policies: Vec<PathBuf>,
}

/// Evaluation limits of figure 3. Shorter runs are the beginnings of the longest.
const LIMITS: [u64; 6] = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000];
/// What all improvements are over: BRKGA with this limit.
const REFERENCE: u64 = 5_000;
/// Width of a bar of figure 2 in percent, and of figure 4 (a) in nats.
const BARS: (f64, f64) = (2.0, 0.1);

/// What is measured on one graph.
struct Sample {
    /// Objectives of BRKGA and of REGAL at each limit.
    brkga: Vec<f64>,
    regal: Vec<f64>,
    /// Entropy of REGAL's placement actions in nats, if it takes any.
    entropy: Option<f64>,
    /// Objectives of the policies to compare.
    policies: Vec<f64>,
}

/// All figures as data; improvements in percent over BRKGA 5K.
#[derive(serde::Serialize)]
struct Figures {
    schema: &'static str,
    version: u32,
    title: String,
    /// Figure 2.
    improvements: Histogram,
    /// Figure 3.
    limits: Vec<AtLimit>,
    /// Figure 4 (a), and the mean over graphs.
    entropies: Histogram,
    entropy: Option<Stats>,
    /// Figure 4 (b) and table 4.
    policies: Vec<PolicyRow>,
}

/// One point of each curve of figure 3.
#[derive(serde::Serialize)]
struct AtLimit {
    evaluations: u64,
    brkga: Option<Stats>,
    regal: Option<Stats>,
}

/// One bar of figure 4 (b), one row of table 4.
#[derive(serde::Serialize)]
struct PolicyRow {
    policy: String,
    improvement: Option<Stats>,
}

impl FigureFlags {
    /// The folder to write figures to, if there shall be any.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.figures.as_deref()
    }

    /// Measures and writes all figures; `regal` is the policy of figures 2, 3 and 4 (a).
    pub(crate) fn run(
        &self,
        folder: &Path,
        regal: &Arc<Model>,
        runs: &[(Seed, &Problem)],
        interrupt: &Arc<AtomicBool>,
        title: String,
    ) -> Result<(), CliError> {
        let others: Vec<Arc<Model>> = self.policies.iter().map(|path| models::load(path)).collect::<Result<_, _>>()?;
        let study = |&(seed, problem): &(Seed, &Problem)| Sample::new(problem, regal, &others, seed, interrupt);
        let samples: Vec<Sample> = runs.par_iter().map(study).collect::<Result<_, _>>()?;
        if interrupt.load(Ordering::Relaxed) {
            return Err(CliError::input("interrupted before the figures were complete"));
        }
        let figures = Figures::new(title, &samples, &others);
        std::fs::create_dir_all(folder).map_err(|error| CliError::input(format!("{}: {error}", folder.display())))?;
        for (name, svg) in figures.charts() {
            output::write(&folder.join(name), |out| out.write_all(svg.as_bytes()))?;
        }
        output::write(&folder.join("figures.json"), |out| output::json(out, &figures))?;
        output::to_stdout(|out| out.write_all(figures.text().as_bytes()))
    }
}

impl Sample {
    fn new(
        problem: &Problem,
        regal: &Arc<Model>,
        others: &[Arc<Model>],
        seed: Seed,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Self, CliError> {
        let longest = LIMITS[LIMITS.len() - 1];
        let run =
            |entry: &Entry| measure::checked(problem, entry, None, seed, interrupt).map(|checked| checked.outcome);
        let brkga = run(&Entry::evaluations("BRKGA", Method::Brkga, longest))?;
        let long = run(&learned(regal, longest))?;
        let short = |model: &Arc<Model>| Ok(objective_at(&run(&learned(model, REFERENCE))?, REFERENCE));
        let objectives = |outcome: &Outcome<Plan>| LIMITS.iter().map(|&limit| objective_at(outcome, limit)).collect();
        Ok(Self {
            brkga: objectives(&brkga),
            regal: objectives(&long),
            entropy: entropy(regal, problem, seed),
            policies: others.iter().map(short).collect::<Result<_, CliError>>()?,
        })
    }

    fn reference(&self) -> f64 {
        LIMITS.iter().position(|&limit| limit == REFERENCE).map_or(f64::NAN, |i| self.brkga[i])
    }

    /// By how many percent an objective is better than the reference.
    fn improvement(&self, objective: f64) -> f64 {
        100.0 * (self.reference() - objective) / self.reference().max(1.0)
    }
}

fn learned(model: &Arc<Model>, evaluations: u64) -> Entry {
    let limits = Limits { work: Some(evaluations), time: None };
    Entry { name: label(model), solver: Solver::Learned(Arc::clone(model), Engine::Brkga), limits }
}

/// The best objective within the first `limit` evaluations of a run.
fn objective_at(outcome: &Outcome<Plan>, limit: u64) -> f64 {
    let within = outcome.trace.iter().rfind(|incumbent| incumbent.work <= limit);
    within.or(outcome.trace.first()).map_or(f64::INFINITY, |incumbent| incumbent.score.value as f64)
}

/// Entropy of the placement actions that a policy takes for the ops of a problem.
fn entropy(model: &Model, problem: &Problem, seed: Seed) -> Option<f64> {
    let mut run = Runner::new(Limits { work: Some(REFERENCE), time: None }, seed);
    let actions = model.act(problem, &mut run);
    model.recipe().settings.actions.placement_entropy(problem.device_count(), &actions)
}

/// What tells a policy from others: its rounds of message passing and what it decides.
fn label(model: &Model) -> String {
    let recipe = model.recipe();
    let network = match &recipe.network.encoder {
        EncoderConfig::Graph(config) => format!("T = {}", config.rounds),
        EncoderConfig::Sequence { .. } => "LSTM".to_owned(),
    };
    let actions = recipe.settings.actions;
    match (actions.placement > 0, actions.scheduling > 0) {
        (true, true) => format!("{network}, placement and scheduling"),
        (true, false) => format!("{network}, placement only"),
        (false, true) => format!("{network}, scheduling only"),
        (false, false) => format!("{network}, neither"),
    }
}

impl Figures {
    fn new(title: String, samples: &[Sample], others: &[Arc<Model>]) -> Self {
        let improvements = |value: &dyn Fn(&Sample) -> f64| -> Vec<f64> {
            samples.iter().map(|sample| sample.improvement(value(sample))).collect()
        };
        let at_limit = |(i, &evaluations)| AtLimit {
            evaluations,
            brkga: Stats::of(&improvements(&|sample| sample.brkga[i])),
            regal: Stats::of(&improvements(&|sample| sample.regal[i])),
        };
        let policy = |(i, model): (usize, &Arc<Model>)| PolicyRow {
            policy: label(model),
            improvement: Stats::of(&improvements(&|sample| sample.policies[i])),
        };
        let at_reference = LIMITS.iter().position(|&limit| limit == REFERENCE).unwrap_or(0);
        let entropies: Vec<f64> = samples.iter().filter_map(|sample| sample.entropy).collect();
        Self {
            schema: "labrys-figures",
            version: 1,
            title,
            improvements: Histogram::of(&improvements(&|sample| sample.regal[at_reference]), BARS.0),
            limits: LIMITS.iter().enumerate().map(at_limit).collect(),
            entropies: Histogram::of(&entropies, BARS.1),
            entropy: Stats::of(&entropies),
            policies: others.iter().enumerate().map(policy).collect(),
        }
    }
}
