//! Tuned BRKGA: hyper-parameters by grid search over a training set (paper, A.10), 648 settings as there.

use crate::baselines::brkga as brkga_xk;
use crate::decode::Layout;
use crate::problem::{Plan, Problem};
use labrys_search::brkga::{Mating, Params, Proposals};
use labrys_search::{Limits, Runner, Seed};

/// One point of the grid: everything that [`Params`] needs but the number of genes.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Setting {
    /// Chromosomes of one island.
    pub population: usize,
    /// Share of the population that survives.
    pub elites: f64,
    /// Share of the population drawn anew.
    pub mutants: f64,
    /// Probability of the elite parent's gene.
    pub elite_bias: f32,
    /// Independent populations.
    pub islands: usize,
    /// Shape of the Beta distribution of all proposals.
    pub alpha: f32,
    /// The other shape.
    pub beta: f32,
}

impl Setting {
    /// The best setting on synthetic run-time graphs that no table uses, found by
    /// `labrys bench placement --tune --graphs 28 --seed 1001 --unfiltered`.
    pub const SYNTHETIC_MAKESPAN: Self =
        Self { population: 50, elites: 0.3, mutants: 0.05, elite_bias: 0.6, islands: 1, alpha: 1.0, beta: 2.0 };

    /// All 648 settings.
    pub fn grid() -> Vec<Self> {
        let mut grid = vec![];
        for population in [50, 100, 200] {
            for elites in [0.1, 0.2, 0.3] {
                for mutants in [0.05, 0.1, 0.2] {
                    for elite_bias in [0.6, 0.7, 0.8] {
                        for islands in [1, 2] {
                            for (alpha, beta) in [(1.0, 1.0), (0.5, 0.5), (2.0, 2.0), (1.0, 2.0)] {
                                grid.push(Self { population, elites, mutants, elite_bias, islands, alpha, beta });
                            }
                        }
                    }
                }
            }
        }
        grid
    }

    /// The hyper-parameters for chromosomes of `genes` genes.
    pub fn params(&self, genes: usize) -> Params {
        let share = |part: f64| ((self.population as f64 * part).round() as usize).max(1);
        let proposals = Proposals::same_beta(self.alpha, self.beta, genes).unwrap_or_default();
        Params {
            population: self.population,
            elites: share(self.elites),
            mutants: share(self.mutants),
            elite_bias: self.elite_bias,
            mating: Mating::Classic,
            islands: self.islands,
            proposals,
            ..Params::default()
        }
    }
}

/// Runs with the shipped setting until the runner stops it.
pub fn search(problem: &Problem, run: &mut Runner<Plan>) {
    let genes = Layout::new(problem).genes();
    brkga_xk::search(problem, &Setting::SYNTHETIC_MAKESPAN.params(genes), run);
}

/// The best setting of the grid on a training set, by mean objective relative to the default setting.
///
/// By successive halving: all settings see the first few problems, the better half twice as many, and so on. `evaluations` is
/// the budget of one run; `progress` is told of each round.
pub fn tune(training: &[Problem], evaluations: u64, seed: Seed, mut progress: impl FnMut(usize, usize)) -> Setting {
    let reference: Vec<f64> = training.iter().map(|p| objective(p, &Params::default(), evaluations, seed)).collect();
    let mut settings: Vec<(Setting, f64)> = Setting::grid().into_iter().map(|setting| (setting, 0.0)).collect();
    let (mut seen, mut batch) = (0, 4);
    while settings.len() > 1 && seen < training.len() {
        let end = (seen + batch).min(training.len());
        progress(settings.len(), end);
        for (setting, total) in &mut settings {
            for number in seen..end {
                let problem = &training[number];
                let genes = Layout::new(problem).genes();
                *total += objective(problem, &setting.params(genes), evaluations, seed) / reference[number];
            }
        }
        settings.sort_by(|a, b| a.1.total_cmp(&b.1));
        settings.truncate(settings.len().div_ceil(3));
        (seen, batch) = (end, batch * 2);
    }
    settings[0].0
}

fn objective(problem: &Problem, params: &Params, evaluations: u64, seed: Seed) -> f64 {
    let mut run = Runner::new(Limits { work: Some(evaluations), time: None }, seed);
    brkga_xk::search(problem, params, &mut run);
    run.best_score().map_or(f64::INFINITY, |score| score.value as f64)
}
