//! The biased random-key genetic algorithm (Goncalves & Resende 2011; REGAL section 3.2), over any decoder.

use crate::quantiles::{BetaError, Quantiles};
use crate::seed::Rng;
use crate::{Runner, Score, Stopwatch};
use rand::{Rng as _, RngExt as _};
use rayon::prelude::*;
use std::sync::Arc;

/// Random keys in [0, 1), one per gene.
pub type Chromosome = Vec<f32>;

/// Turns random keys into a solution's score. The chromosome is the solution: decode the best one again to have it.
pub trait Decoder: Sync {
    /// Buffers that one thread reuses from evaluation to evaluation.
    type Scratch: Send;
    /// Length of a chromosome.
    fn genes(&self) -> usize;
    /// Fresh buffers.
    fn scratch(&self) -> Self::Scratch;
    /// Score of a chromosome of length [`genes`](Self::genes).
    fn evaluate(&self, keys: &[f32], scratch: &mut Self::Scratch) -> Score;
}

/// The mutant distribution D: where new random keys come from.
#[derive(Clone, Debug, Default)]
pub enum Proposals {
    /// Uniform over [0, 1) for every gene.
    #[default]
    Uniform,
    /// One Beta distribution per gene; this is what REGAL's policy predicts.
    Beta {
        /// The distributions that there are.
        tables: Arc<Vec<Quantiles>>,
        /// Which of them each gene has; uniform where there is none.
        of_gene: Vec<Option<u32>>,
    },
}

impl Proposals {
    /// The same Beta(alpha, beta) for all genes.
    ///
    /// # Errors
    /// If a parameter is not positive and finite.
    pub fn same_beta(alpha: f32, beta: f32, genes: usize) -> Result<Self, BetaError> {
        Ok(Self::Beta { tables: Arc::new(vec![Quantiles::beta(alpha, beta)?]), of_gene: vec![Some(0); genes] })
    }

    fn sample(&self, keys: &mut [f32], rng: &mut Rng) {
        match self {
            Self::Uniform => keys.iter_mut().for_each(|key| *key = rng.random()),
            Self::Beta { tables, of_gene } => {
                for (key, table) in keys.iter_mut().zip(of_gene) {
                    *key = match table {
                        Some(table) => tables[*table as usize].draw(rng),
                        None => rng.random(),
                    };
                }
            }
        }
    }
}

/// How a child takes its genes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mating {
    /// From one elite with probability [`Params::elite_bias`], else from one non-elite.
    Classic,
    /// From several parents, the better ranked the likelier: weight 1 / ln(rank + 1) (Andrade et al. 2021).
    MultiParent {
        /// Parents of a child, at least 2.
        parents: usize,
        /// How many of them are elites.
        elites: usize,
    },
}

/// Hyper-parameters. The default reproduces the paper's figures (population 100, 20 elites, 15 mutants, bias 0.7).
#[derive(Clone, Debug)]
pub struct Params {
    /// Chromosomes of one island.
    pub population: usize,
    /// Best chromosomes that survive unchanged.
    pub elites: usize,
    /// Chromosomes drawn anew from the proposals in each generation.
    pub mutants: usize,
    /// Probability that a gene comes from the elite parent, in [0.5, 1).
    pub elite_bias: f32,
    /// How a child takes its genes.
    pub mating: Mating,
    /// Independent populations.
    pub islands: usize,
    /// Generations between two exchanges of the best chromosome among islands.
    pub exchange_every: usize,
    /// The mutant distribution.
    pub proposals: Proposals,
    /// Chromosomes to put into the first population of every island.
    pub warm_starts: Vec<Chromosome>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            population: 100,
            elites: 20,
            mutants: 15,
            elite_bias: 0.7,
            mating: Mating::Classic,
            islands: 1,
            exchange_every: 50,
            proposals: Proposals::Uniform,
            warm_starts: vec![],
        }
    }
}

/// Evolves until the runner stops it, one evaluation at least, and offers every improvement under the name `by`, made by `solution` from its keys. One
/// evaluation is one unit of work. Returns the last population, best first, with the islands one after the other.
///
/// The result depends on the seed and the work limit only, not on the number of threads.
pub fn evolve<D: Decoder, S>(
    decoder: &D,
    params: &Params,
    run: &mut Runner<S>,
    by: &'static str,
    solution: impl Fn(&[f32]) -> S,
) -> Vec<(Score, Chromosome)> {
    let seed = run.seed();
    let mut islands: Vec<Island<'_, D>> =
        (0..params.islands.max(1)).map(|i| Island::new(decoder, params, seed.stream("brkga", i as u64))).collect();
    let mut generation = 0;
    loop {
        for island in &mut islands {
            if generation > 0 && run.should_stop() {
                return islands.iter().flat_map(Island::members).collect();
            }
            island.breed(generation == 0, run.work_left());
            run.spend(island.evaluate(&run.stopwatch()));
            let (score, keys) = island.best();
            run.offer(score, by, || solution(keys));
        }
        if islands.len() > 1 && (generation + 1) % params.exchange_every.max(1) == 0 {
            exchange(&mut islands);
        }
        generation += 1;
    }
}

/// Every island receives the best chromosome of the next one, in place of its worst.
fn exchange<D: Decoder>(islands: &mut [Island<'_, D>]) {
    let best: Vec<(Score, Chromosome)> =
        islands.iter().map(|island| (island.best().0, island.best().1.to_vec())).collect();
    let n = islands.len();
    for (i, island) in islands.iter_mut().enumerate() {
        let (score, keys) = &best[(i + 1) % n];
        island.replace_worst(*score, keys);
    }
}

/// One population. Chromosomes lie in one flat array; `ranking` orders them by score.
struct Island<'a, D: Decoder> {
    decoder: &'a D,
    params: &'a Params,
    rng: Rng,
    genes: usize,
    current: Vec<f32>,
    next: Vec<f32>,
    scores: Vec<Score>,
    /// Population indices, best first; ties by index, so that the order does not depend on the sort.
    ranking: Vec<usize>,
    /// Members of `current` that wait for their score.
    pending: std::ops::Range<usize>,
    scratch: Vec<D::Scratch>,
    rank_weights: Vec<f32>,
}

impl<'a, D: Decoder> Island<'a, D> {
    fn new(decoder: &'a D, params: &'a Params, rng: Rng) -> Self {
        let genes = decoder.genes();
        let threads = rayon::current_num_threads().max(1);
        Self {
            decoder,
            params,
            rng,
            genes,
            current: vec![0.0; genes * params.population],
            next: vec![0.0; genes * params.population],
            scores: vec![Score::WORST; params.population],
            ranking: (0..params.population).collect(),
            pending: 0..0,
            scratch: (0..threads).map(|_| decoder.scratch()).collect(),
            rank_weights: (1..=params.population).map(|rank| 1.0 / (rank as f32 + 1.0).ln()).collect(),
        }
    }

    fn best(&self) -> (Score, &[f32]) {
        let best = self.ranking[0];
        (self.scores[best], &self.current[best * self.genes..][..self.genes])
    }

    /// All members that have a score, best first.
    fn members(&self) -> impl Iterator<Item = (Score, Chromosome)> {
        let scored = self.ranking.iter().filter(|&&i| self.scores[i] != Score::WORST);
        scored.map(|&i| (self.scores[i], self.current[i * self.genes..][..self.genes].to_vec()))
    }

    fn replace_worst(&mut self, score: Score, keys: &[f32]) {
        let worst = self.ranking[self.params.population - 1];
        self.scores[worst] = score;
        self.current[worst * self.genes..][..self.genes].copy_from_slice(keys);
        self.rank();
    }

    fn rank(&mut self) {
        let scores = &self.scores;
        self.ranking.sort_unstable_by_key(|&i| (scores[i], i));
    }

    /// Fills the next generation; at most `budget` of its members will be evaluated.
    fn breed(&mut self, first: bool, budget: u64) {
        let Params { population, elites, mutants, .. } = *self.params;
        let start = if first { 0 } else { elites.min(population) };
        let children = if first { 0 } else { population.saturating_sub(elites + mutants) };
        for rank in 0..start {
            let from = self.ranking[rank] * self.genes;
            self.next[rank * self.genes..][..self.genes].copy_from_slice(&self.current[from..][..self.genes]);
        }
        for i in start..population {
            if first && i < self.params.warm_starts.len() {
                self.copy_warm_start(i);
            } else if i < start + children {
                self.mate(i);
            } else {
                self.params.proposals.sample(&mut self.next[i * self.genes..][..self.genes], &mut self.rng);
            }
        }
        let survivors: Vec<Score> = self.ranking[..start].iter().map(|&i| self.scores[i]).collect();
        self.scores[..start].copy_from_slice(&survivors);
        self.scores[start..].fill(Score::WORST);
        std::mem::swap(&mut self.current, &mut self.next);
        let wanted = (population - start).min(usize::try_from(budget).unwrap_or(usize::MAX)).max(usize::from(first));
        self.pending = start..start + wanted;
    }

    fn copy_warm_start(&mut self, i: usize) {
        for (key, warm) in self.next[i * self.genes..][..self.genes].iter_mut().zip(&self.params.warm_starts[i]) {
            *key = *warm;
        }
    }

    fn mate(&mut self, child: usize) {
        match self.params.mating {
            Mating::Classic => self.mate_classic(child),
            Mating::MultiParent { parents, elites } => self.mate_several(child, parents.max(2), elites),
        }
    }

    /// A gene comes from the elite with probability `elite_bias`, which is compared 16 bits at a time: four genes a draw.
    fn mate_classic(&mut self, child: usize) {
        let Params { population, elites, elite_bias, .. } = *self.params;
        let elite = self.ranking[self.rng.random_range(0..elites.max(1))] * self.genes;
        let other = self.ranking[self.rng.random_range(elites.min(population - 1)..population)] * self.genes;
        let threshold = (elite_bias * 65536.0) as u64;
        let (a, b) = (&self.current[elite..][..self.genes], &self.current[other..][..self.genes]);
        let keys = &mut self.next[child * self.genes..][..self.genes];
        for ((keys, a), b) in keys.chunks_mut(4).zip(a.chunks(4)).zip(b.chunks(4)) {
            let mut bits = self.rng.next_u64();
            for ((key, &a), &b) in keys.iter_mut().zip(a).zip(b) {
                *key = if bits & 0xffff < threshold { a } else { b };
                bits >>= 16;
            }
        }
    }

    fn mate_several(&mut self, child: usize, parents: usize, elite_parents: usize) {
        let Params { population, elites, .. } = *self.params;
        let mut ranks: Vec<usize> = (0..parents)
            .map(|p| {
                let pool = if p < elite_parents { 0..elites.max(1) } else { elites.min(population - 1)..population };
                self.rng.random_range(pool)
            })
            .collect();
        ranks.sort_unstable();
        let total: f32 = self.rank_weights[..parents].iter().sum();
        for gene in 0..self.genes {
            let mut draw = self.rng.random::<f32>() * total;
            let chosen = (0..parents - 1)
                .find(|&p| {
                    draw -= self.rank_weights[p];
                    draw < 0.0
                })
                .unwrap_or(parents - 1);
            self.next[child * self.genes + gene] = self.current[self.ranking[ranks[chosen]] * self.genes + gene];
        }
    }

    /// Scores the pending members on all threads and returns how many there were. When time is up the others stay unscored, but
    /// for the first.
    fn evaluate(&mut self, stopwatch: &Stopwatch) -> u64 {
        let (decoder, genes) = (self.decoder, self.genes);
        let pending = self.pending.clone();
        let chunk = pending.len().div_ceil(self.scratch.len()).max(1);
        let keys = &self.current[pending.start * genes..pending.end * genes];
        self.scores[pending.clone()]
            .par_chunks_mut(chunk)
            .zip(keys.par_chunks((chunk * genes).max(1)))
            .zip(self.scratch.par_iter_mut())
            .for_each(|((scores, keys), scratch)| {
                for (i, (score, keys)) in scores.iter_mut().zip(keys.chunks(genes.max(1))).enumerate() {
                    if i > 0 && stopwatch.rings() {
                        return;
                    }
                    *score = decoder.evaluate(keys, scratch);
                }
            });
        self.rank();
        pending.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Seed};

    /// Sum of squared distances to a hidden point.
    struct Sphere;

    impl Decoder for Sphere {
        type Scratch = ();
        fn genes(&self) -> usize {
            10
        }
        fn scratch(&self) {}
        fn evaluate(&self, keys: &[f32], (): &mut ()) -> Score {
            let error: f32 = keys.iter().enumerate().map(|(i, key)| (key - i as f32 / 10.0).powi(2)).sum();
            Score::feasible((error * 1e6) as u64)
        }
    }

    fn best(params: &Params, work: u64, seed: u64) -> crate::Outcome<Chromosome> {
        let mut run = Runner::new(Limits { work: Some(work), time: None }, Seed(seed));
        evolve(&Sphere, params, &mut run, "test", <[f32]>::to_vec);
        run.finish()
    }

    #[test]
    fn more_evaluations_help_and_are_counted_exactly() {
        let (short, long) = (best(&Params::default(), 150, 0), best(&Params::default(), 5_003, 0));
        assert_eq!((short.work, long.work), (150, 5_003));
        assert!(long.best.unwrap().0.value * 10 < short.best.unwrap().0.value);
    }

    #[test]
    fn every_variant_converges() {
        let multi = Params { mating: Mating::MultiParent { parents: 3, elites: 2 }, ..Params::default() };
        let islands = Params { islands: 3, exchange_every: 5, ..Params::default() };
        let beta = Params { proposals: Proposals::same_beta(2.0, 2.0, 10).unwrap(), ..Params::default() };
        for params in [multi, islands, beta] {
            let outcome = best(&params, 10_000, 3);
            assert!(outcome.best.unwrap().0.value < 20_000, "{params:?}");
        }
    }

    #[test]
    fn a_warm_start_is_never_lost() {
        let optimum: Chromosome = (0..10).map(|i| i as f32 / 10.0).collect();
        let params = Params { warm_starts: vec![optimum], ..Params::default() };
        assert_eq!(best(&params, 100, 0).best.unwrap().0.value, 0);
    }

    #[test]
    fn threads_do_not_change_the_result() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| best(&Params::default(), 2_000, 7).best.unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}
