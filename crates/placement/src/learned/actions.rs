//! Quantised Beta distributions (REGAL A.6): what the policy chooses for each op.

use super::features::fixed_op;
use crate::decode::Layout;
use crate::problem::Problem;
use labrys_rl::{Actions, HeadConfig, Scope};
use labrys_search::brkga::{self, Proposals};
use labrys_search::quantiles::Quantiles;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How finely means and variances are quantised, and which genes the policy chooses for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionSpace {
    /// Levels `k` of the affinities; 0 leaves them uniform.
    pub placement: usize,
    /// Levels `k` of the op priorities; 0 leaves them uniform.
    pub scheduling: usize,
    /// Levels `k` of the crossover probability of the graph; 0 leaves it at the default.
    pub crossover: usize,
}

impl ActionSpace {
    /// The decisions, in this order and only where there are levels: mean and variance of each affinity of an op, mean and
    /// variance of its priority, and one crossover probability for the graph.
    pub fn heads(&self, devices: usize) -> Vec<HeadConfig> {
        let heads = [
            HeadConfig { decisions: 2 * devices, choices: self.placement, scope: Scope::Node },
            HeadConfig { decisions: 2, choices: self.scheduling, scope: Scope::Node },
            HeadConfig { decisions: 1, choices: self.crossover, scope: Scope::Graph },
        ];
        heads.into_iter().filter(|head| head.choices > 0).collect()
    }

    /// How much the placement actions vary over the ops of a problem: the entropy in nats of the distribution of all levels of
    /// an op's affinities together (figure 4 (a)). None if the policy does not choose them.
    pub fn placement_entropy(&self, devices: usize, actions: &Actions) -> Option<f64> {
        let levels = actions.first().filter(|_| self.placement > 0)?;
        let mut counts: BTreeMap<&[u32], usize> = BTreeMap::new();
        let ops = levels.chunks_exact(2 * devices);
        let total = ops.len() as f64;
        ops.for_each(|op| *counts.entry(op).or_default() += 1);
        let share = |count: usize| count as f64 / total;
        Some(counts.into_values().map(|count| -share(count) * share(count).ln()).sum())
    }
}

/// What actions stand for: all distributions of an [`ActionSpace`].
#[derive(Clone, Debug)]
pub struct Decoder {
    space: ActionSpace,
    /// The two of the [fixed op](fixed_op), those of affinities, those of priorities.
    tables: Arc<Vec<Quantiles>>,
}

/// The place in [`Decoder::tables`] of the distribution that all but certainly is the greatest of its op, and of its opposite.
const SURE: [u32; 2] = [0, 1];

impl Decoder {
    /// Makes the tables.
    pub fn new(space: ActionSpace) -> Self {
        // Beta(1000, 1) is 0.999 on average.
        let sure = [(1000.0, 1.0), (1.0, 1000.0)];
        let levels = |k: usize| (0..k * k).map(move |level| beta_parameters(level / k, level % k, k));
        let all = sure.into_iter().chain(levels(space.placement)).chain(levels(space.scheduling));
        let table = |(alpha, beta)| Quantiles::beta(alpha, beta).expect("levels stand for positive parameters");
        Self { space, tables: Arc::new(all.map(table).collect()) }
    }

    /// What BRKGA runs with when these actions are taken. Transfer priorities are uniform, as in the paper.
    pub fn params(&self, problem: &Problem, actions: &Actions) -> brkga::Params {
        let ActionSpace { placement, scheduling, crossover } = self.space;
        let layout = Layout::new(problem);
        let ops = problem.graph.topological();
        let mut params = brkga::Params::default();
        let mut of_gene = vec![None; layout.genes()];
        let mut heads = actions.iter();
        let table =
            |first: usize, levels: &[u32], k: usize| (first + levels[0] as usize * k + levels[1] as usize) as u32;
        let affinities = ops.iter().flat_map(|&op| layout.affinities(op));
        let first = SURE.len();
        for (gene, levels) in affinities.zip(levels_of(&mut heads, placement)) {
            of_gene[gene] = Some(table(first, levels, placement));
        }
        let first = first + placement * placement;
        let priorities = ops.iter().map(|&op| layout.priority(op));
        for (gene, levels) in priorities.zip(levels_of(&mut heads, scheduling)) {
            of_gene[gene] = Some(table(first, levels, scheduling));
        }
        if crossover > 0
            && let Some(&level) = heads.next().and_then(|head| head.first())
        {
            params.elite_bias = crossover_probability(level as usize, crossover);
        }
        fix_op(problem, &layout, &mut of_gene);
        params.proposals = Proposals::Beta { tables: Arc::clone(&self.tables), of_gene };
        params
    }

    /// Uniform proposals but for the [fixed op](fixed_op).
    pub fn uniform(&self, problem: &Problem) -> brkga::Params {
        let layout = Layout::new(problem);
        let mut of_gene = vec![None; layout.genes()];
        fix_op(problem, &layout, &mut of_gene);
        let proposals = Proposals::Beta { tables: Arc::clone(&self.tables), of_gene };
        brkga::Params { proposals, ..brkga::Params::default() }
    }
}

/// The pairs of mean and variance levels of the next head, if it has `k > 0` levels.
fn levels_of<'a>(heads: &mut std::slice::Iter<'a, Vec<u32>>, k: usize) -> impl Iterator<Item = &'a [u32]> {
    let head = if k > 0 { heads.next() } else { None };
    head.into_iter().flat_map(|head| head.chunks_exact(2))
}

/// All but certain to place the fixed op on the first device.
fn fix_op(problem: &Problem, layout: &Layout, of_gene: &mut [Option<u32>]) {
    for (device, gene) in layout.affinities(fixed_op(problem)).enumerate() {
        of_gene[gene] = Some(SURE[usize::from(device > 0)]);
    }
}

/// Parameters (alpha, beta) of the Beta distribution of mean level `m` and variance level `v` of `k`: its mean is
/// `(m+1)/(k+1)`, its variance `mean (1-mean) (v+1)/(k+1)`.
pub fn beta_parameters(m: usize, v: usize, k: usize) -> (f32, f32) {
    let step = |level: usize| (level + 1) as f32 / (k + 1) as f32;
    let mean = step(m);
    let variance = mean * (1.0 - mean) * step(v);
    let beta = mean * (1.0 - mean).powi(2) / variance - 1.0 + mean;
    (beta * mean / (1.0 - mean), beta)
}

/// The crossover probability of level `c` of `k`.
pub fn crossover_probability(c: usize, k: usize) -> f32 {
    0.5 * (1.0 + (c + 1) as f32 / (k + 1) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_mean_and_variance_of_their_levels() {
        for k in [2, 4, 16] {
            for (m, v) in (0..k).flat_map(|m| (0..k).map(move |v| (m, v))) {
                let (a, b) = beta_parameters(m, v, k);
                let (mean, variance) = (a / (a + b), a * b / ((a + b).powi(2) * (a + b + 1.0)));
                let expected = (m + 1) as f32 / (k + 1) as f32;
                let share = (v + 1) as f32 / (k + 1) as f32;
                assert!(a > 0.0 && b > 0.0);
                assert!((mean - expected).abs() < 1e-4, "mean {mean} for m = {m}, v = {v}, k = {k}");
                let off = variance - expected * (1.0 - expected) * share;
                assert!(off.abs() < 1e-4, "variance {variance} for m = {m}, v = {v}, k = {k}");
            }
        }
    }

    #[test]
    fn levels_by_hand() {
        // k = 2: mean 1/3, variance 2/9 x 1/3 = 2/27, so alpha + beta = (2/9) / (2/27) - 1 = 2.
        let (alpha, beta) = beta_parameters(0, 0, 2);
        assert!((alpha - 2.0 / 3.0).abs() < 1e-6 && (beta - 4.0 / 3.0).abs() < 1e-6);
        assert_eq!((crossover_probability(0, 1), crossover_probability(1, 3)), (0.75, 0.75));
    }

    #[test]
    fn entropy_of_equal_and_of_different_ops() {
        let space = ActionSpace { placement: 2, scheduling: 2, crossover: 0 };
        let entropy = |head: &[u32]| space.placement_entropy(1, &vec![head.to_vec(), vec![0]]).unwrap();
        assert_eq!(entropy(&[0, 1, 0, 1, 0, 1]), 0.0);
        assert!((entropy(&[0, 0, 0, 1, 1, 0, 1, 1]) - 4f64.ln()).abs() < 1e-12);
        let none = ActionSpace { placement: 0, ..space };
        assert_eq!(none.placement_entropy(1, &vec![vec![0, 1]]), None);
    }
}
