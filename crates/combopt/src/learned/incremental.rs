//! Near-linear inference on one rank: a pick changes the embeddings of its L-hop neighbourhood only.
//!
//! Rows that changed are computed again by the operations of the full evaluation, in its order, so that every embedding
//! and score has the same bits, and so does the running sum of all embeddings, which is a sum of integers. The best
//! candidate is found from maxima of blocks, and only blocks with a changed score are looked at.

use super::blocks::LocalGraph;
use super::environment::{Environment, Problem};
use super::kernels::{Neighbours, add_product, fix, sum_neighbours};
use super::model::{Model, ModelKind, Ranks, Weights, divide, push_inputs, relu, score_rows};
use super::rollout::{Rollout, Selection, pick, rollout_until};
use super::sample::TILE;
use super::select::better;
use labrys_comm::{CommError, Communicator};

/// Scores of which one maximum is kept.
const BLOCK: usize = 256;

/// Constructs a solution as [`rollout`] does, with the same picks, but computes only what changed.
pub fn incremental(
    model: &Model,
    problem: &dyn Problem,
    graph: &LocalGraph<'_>,
    selection: Selection,
) -> Result<Rollout, CommError> {
    incremental_until(model, problem, graph, selection, &mut || false)
}

/// [`incremental`] until `stop`, which is asked before every choice.
pub fn incremental_until(
    model: &Model,
    problem: &dyn Problem,
    graph: &LocalGraph<'_>,
    selection: Selection,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Rollout, CommError> {
    let comm = Communicator::alone();
    let ranks = Ranks { comm: &comm, mode: super::ExchangeMode::AllGather };
    if model.config.kind == ModelKind::Linear || graph.rows() != graph.nodes() {
        return rollout_until(model, problem, graph, ranks, selection, stop);
    }
    let mut environment = problem.start(graph);
    let weights = Weights::new(model);
    let mut policy = Incremental::new(&weights, &*environment);
    let mut evaluations = 0;
    while !environment.done() && !stop() {
        evaluations += 1;
        let nodes = policy.best(selection.count(policy.candidates as u64, graph.nodes()));
        if nodes.is_empty() {
            break;
        }
        pick(&mut *environment, ranks, &nodes, |environment| policy.note(environment.touched()))?;
        policy.update(&*environment);
    }
    Ok(Rollout::new(&*environment, evaluations))
}

/// Embeddings and scores of the present state.
struct Incremental<'w> {
    weights: &'w Weights<'w>,
    /// Embeddings after each round, row by row.
    rounds: Vec<Vec<f32>>,
    /// Sum of the last embeddings.
    sum: Vec<i64>,
    /// Of candidates; minus infinity for others.
    scores: Vec<f32>,
    candidates: usize,
    blocks: Blocks,
    /// Rows that a step touched since the last update.
    touched: Marked,
    /// Rows to compute in a round.
    dirty: Marked,
    /// Rows that changed in the last round.
    changed: Vec<u32>,
}

/// A set of rows: a list and a mark for each.
struct Marked {
    rows: Vec<u32>,
    marks: Vec<bool>,
}

impl Marked {
    fn new(rows: usize) -> Self {
        Self { rows: vec![], marks: vec![false; rows] }
    }

    fn insert(&mut self, row: u32) {
        if !std::mem::replace(&mut self.marks[row as usize], true) {
            self.rows.push(row);
        }
    }

    fn take(&mut self) -> Vec<u32> {
        self.rows.iter().for_each(|&row| self.marks[row as usize] = false);
        std::mem::take(&mut self.rows)
    }
}

/// The best score of each block of rows; stale where a score has changed.
struct Blocks {
    best: Vec<(f32, u32)>,
    stale: Vec<bool>,
}

impl<'w> Incremental<'w> {
    fn new<'g>(weights: &'w Weights<'w>, environment: &(dyn Environment<'g> + 'g)) -> Self {
        let rows = environment.graph().rows();
        let blocks = rows.div_ceil(BLOCK);
        let mut new = Self {
            weights,
            rounds: vec![vec![0.0; rows * weights.width]; weights.layers],
            sum: vec![0; weights.width],
            scores: vec![f32::NEG_INFINITY; rows],
            candidates: 0,
            blocks: Blocks { best: vec![(f32::NEG_INFINITY, u32::MAX); blocks], stale: vec![true; blocks] },
            touched: Marked::new(rows),
            dirty: Marked::new(rows),
            changed: vec![],
        };
        (0..rows as u32).for_each(|row| new.touched.insert(row));
        new.update(environment);
        new
    }

    /// Remembers the rows of a step.
    fn note(&mut self, touched: &[u32]) {
        touched.iter().for_each(|&row| self.touched.insert(row));
    }

    /// Computes what the steps since the last call changed.
    fn update<'g>(&mut self, environment: &(dyn Environment<'g> + 'g)) {
        let touched = self.touched.take();
        let graph = environment.graph();
        self.changed.clear();
        for round in 0..self.weights.layers {
            touched.iter().for_each(|&row| self.dirty.insert(row));
            for &row in &std::mem::take(&mut self.changed) {
                self.dirty.insert(row);
                graph.neighbours(row as usize).iter().for_each(|&near| self.dirty.insert(near));
            }
            let dirty = self.dirty.take();
            for rows in dirty.chunks(TILE) {
                self.embed(environment, round, rows);
            }
            if round + 1 == self.weights.layers {
                self.score(environment, &dirty);
            }
        }
    }

    /// One round of equation 1 for some rows.
    fn embed<'g>(&mut self, environment: &(dyn Environment<'g> + 'g), round: usize, rows: &[u32]) {
        let (width, weights) = (self.weights.width, self.weights);
        let mut out = vec![0.0; rows.len() * width];
        let mut features = vec![0.0; weights.features];
        let (mut inputs, mut degrees) = (vec![], vec![]);
        for &row in rows {
            let state = environment.row(row as usize, &mut features);
            push_inputs(&mut inputs, &features, state.weights);
            degrees.push(state.degree);
        }
        weights.add_base(&inputs, &mut out);
        if round > 0 {
            self.add_messages(environment, round, rows, &degrees, &mut out);
        }
        out.iter_mut().for_each(|value| *value = relu(*value));
        let last = round + 1 == weights.layers;
        for (&row, new) in rows.iter().zip(out.chunks_exact(width)) {
            let old = &mut self.rounds[round][row as usize * width..(row as usize + 1) * width];
            if last {
                for (sum, (&new, &old)) in self.sum.iter_mut().zip(new.iter().zip(&*old)) {
                    *sum = sum.wrapping_add(fix(new) - fix(old));
                }
            }
            // A step touches all neighbours of the nodes that it takes away, so that only new values spread further.
            if new != old {
                self.changed.push(row);
            }
            old.copy_from_slice(new);
        }
    }

    fn add_messages<'g>(
        &self,
        environment: &(dyn Environment<'g> + 'g),
        round: usize,
        rows: &[u32],
        degrees: &[u32],
        out: &mut [f32],
    ) {
        let (width, graph, before) = (self.weights.width, environment.graph(), &self.rounds[round - 1]);
        let mut sums = vec![0.0; out.len()];
        for (&row, sum) in rows.iter().zip(sums.chunks_exact_mut(width)) {
            let row = row as usize;
            let arcs = Neighbours {
                offsets: &graph.offsets()[row..=row + 1],
                columns: graph.columns(),
                alive: environment.alive(),
                own: row,
            };
            sum_neighbours(arcs, before, width, sum);
        }
        if self.weights.mean {
            divide(&mut sums, degrees, width);
        }
        let (near, itself) = self.weights.rounds[round - 1];
        add_product(&sums, near, out, width, width);
        if let Some(itself) = itself {
            let own: Vec<f32> = rows
                .iter()
                .flat_map(|&row| &before[row as usize * width..(row as usize + 1) * width])
                .copied()
                .collect();
            add_product(&own, itself, out, width, width);
        }
    }

    /// Scores of some rows, from their last embeddings.
    fn score<'g>(&mut self, environment: &(dyn Environment<'g> + 'g), rows: &[u32]) {
        let width = self.weights.width;
        let last = &self.rounds[self.weights.layers - 1];
        let mut features = vec![0.0; self.weights.features];
        for rows in rows.chunks(TILE) {
            let embeddings: Vec<f32> =
                rows.iter().flat_map(|&row| &last[row as usize * width..(row as usize + 1) * width]).copied().collect();
            let mut scores = vec![0.0; rows.len()];
            score_rows(self.weights, &embeddings, &mut scores);
            for (&row, score) in rows.iter().zip(scores) {
                let was = self.scores[row as usize] > f32::NEG_INFINITY;
                let candidate = environment.row(row as usize, &mut features).candidate;
                self.candidates = self.candidates + usize::from(candidate) - usize::from(was);
                self.scores[row as usize] = if candidate { score.max(f32::MIN) } else { f32::NEG_INFINITY };
                self.blocks.stale[row as usize / BLOCK] = true;
            }
        }
    }

    /// The best candidates, best first.
    fn best(&mut self, count: usize) -> Vec<u32> {
        self.refresh();
        if count == 1 {
            let best = self.blocks.best.iter().copied().min_by(better);
            return best.filter(|best| best.0 > f32::NEG_INFINITY).map(|best| best.1).into_iter().collect();
        }
        // A node among the best `count` lies in one of the best `count` blocks.
        let mut blocks: Vec<usize> = (0..self.blocks.best.len()).collect();
        blocks.sort_unstable_by(|&a, &b| better(&self.blocks.best[a], &self.blocks.best[b]));
        let rows = blocks.into_iter().take(count).flat_map(|block| block_rows(block, self.scores.len()));
        let mut scored: Vec<(f32, u32)> = rows.map(|row| (self.scores[row], row as u32)).collect();
        scored.retain(|scored| scored.0 > f32::NEG_INFINITY);
        scored.sort_unstable_by(better);
        scored.into_iter().take(count).map(|scored| scored.1).collect()
    }

    fn refresh(&mut self) {
        for block in 0..self.blocks.best.len() {
            if std::mem::take(&mut self.blocks.stale[block]) {
                let rows = block_rows(block, self.scores.len());
                let best = rows.map(|row| (self.scores[row], row as u32)).min_by(better);
                self.blocks.best[block] = best.unwrap_or((f32::NEG_INFINITY, u32::MAX));
            }
        }
    }
}

fn block_rows(block: usize, rows: usize) -> std::ops::Range<usize> {
    block * BLOCK..rows.min((block + 1) * BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learned::environment::{Features, MaxCut, VertexCover, sample};
    use crate::learned::kernels::unfix;
    use crate::learned::model::{ModelConfig, common};
    use crate::learned::sample::Batch;
    use labrys_graph::{Graph, generate};
    use labrys_search::Seed;

    /// Every score, and the running sum, after every step.
    #[test]
    fn scores_and_sums_have_the_bits_of_the_full_evaluation() {
        let graph = Graph::from_edges(300, generate::barabasi_albert(300, 4, &mut Seed(2).stream("graph", 0)));
        let graph = LocalGraph::whole(&graph);
        let comm = Communicator::alone();
        let ranks = Ranks { comm: &comm, mode: crate::learned::ExchangeMode::AllGather };
        let problems: [&dyn Problem; 3] = [
            &VertexCover::default(),
            &VertexCover { features: Features::Paper, ..VertexCover::default() },
            &MaxCut::default(),
        ];
        for (problem, kind, layers) in [
            (problems[0], ModelKind::Structure2vec, 2),
            (problems[1], ModelKind::Structure2vec, 3),
            (problems[0], ModelKind::Gin, 2),
            (problems[0], ModelKind::GraphSage, 2),
            (problems[2], ModelKind::Structure2vec, 2),
        ] {
            let config = ModelConfig { kind, dimension: 16, layers, features: problem.features() };
            let model = Model::new(config, Seed(3)).unwrap();
            let weights = Weights::new(&model);
            let mut environment = problem.start(&graph);
            let mut policy = Incremental::new(&weights, &*environment);
            for _ in 0..60 {
                let batch = Batch::new(vec![sample(&*environment, problem.features())]);
                let full = model.evaluate(ranks, &batch).unwrap();
                for (row, &candidate) in batch.samples[0].candidates.iter().enumerate() {
                    let expected = if candidate { full.own[row] } else { f32::NEG_INFINITY };
                    assert_eq!(policy.scores[row].to_bits(), expected.to_bits(), "row {row}");
                }
                let sum: Vec<f32> = policy.sum.iter().map(|&sum| unfix(sum)).collect();
                assert_eq!(common(&weights, &sum).to_bits(), full.common[0].to_bits());
                let nodes = policy.best(1);
                assert_eq!(nodes, crate::learned::select::best(&comm, &batch.samples[0], &full.own, 1).unwrap());
                pick(&mut *environment, ranks, &nodes, |environment| policy.note(environment.touched())).unwrap();
                policy.update(&*environment);
            }
        }
    }
}
