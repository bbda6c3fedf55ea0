//! What training learns from: states that searches have expanded, with the best reductions that were found from them.

use super::encode::ExprGraph;
use super::kinds;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A state with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The expression.
    pub graph: ExprGraph,
    /// What the network should say: V_t for t from 0 to the horizon, the best reduction of the cost that is known within t steps, divided by t; or
    /// the reduction, and the steps that it takes.
    pub values: Vec<f32>,
}

impl Sample {
    /// Takes over what is better: all of it is known to be possible.
    fn learn(&mut self, other: &Self, counts_steps: bool) {
        match (&mut self.values[..], &other.values[..]) {
            ([gain, steps], &[other_gain, other_steps]) if counts_steps => {
                if other_gain > *gain || (other_gain == *gain && other_steps < *steps) {
                    (*gain, *steps) = (other_gain, other_steps);
                }
            }
            (values, others) => values.iter_mut().zip(others).for_each(|(known, value)| *known = known.max(*value)),
        }
    }
}

/// One search of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which of the training expressions.
    pub expression: usize,
    /// The least cost that was found.
    pub best: f64,
    /// States that were expanded.
    pub samples: Vec<Sample>,
}

/// All searches of a run so far.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    samples: Vec<Sample>,
    places: FxHashMap<ExprGraph, usize>,
    /// Least cost of each search of each expression, in order.
    found: Vec<Vec<f64>>,
    /// Epochs that are complete.
    epochs: u64,
    /// States of the first epoch.
    first: usize,
    /// Whether samples are of a network that counts steps.
    counts_steps: bool,
}

impl Dataset {
    /// No searches of so many expressions, for a network that counts steps or does not.
    pub fn new(expressions: usize, counts_steps: bool) -> Self {
        Self { found: vec![vec![]; expressions], counts_steps, ..Self::default() }
    }

    /// Distinct states, in the order in which they were first seen.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Epochs whose searches are there.
    pub fn epochs(&self) -> u64 {
        self.epochs
    }

    /// How many of the states are of the first epoch: lessons, where there are any.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Adds the searches of the next epoch. Of a state that is there already the better values are kept: both are lower bounds.
    pub fn add(&mut self, records: Vec<Record>) {
        for record in records {
            self.found[record.expression].push(record.best);
            record.samples.into_iter().for_each(|sample| self.merge(sample));
        }
        if self.epochs == 0 {
            self.first = self.samples.len();
        }
        self.epochs += 1;
    }

    fn merge(&mut self, sample: Sample) {
        match self.places.get(&sample.graph) {
            Some(&place) => self.samples[place].learn(&sample, self.counts_steps),
            None => {
                self.places.insert(sample.graph.clone(), self.samples.len());
                self.samples.push(sample);
            }
        }
    }

    /// The share of the last searches of an expression that reached the least cost that is known of it; one success and one
    /// failure are counted in advance, so that an expression that was never tried is neither hopeless nor done.
    pub fn success_rate(&self, expression: usize) -> f64 {
        /// Searches that count: earlier ones were of a network that knew less.
        const RECENT: usize = 8;
        let found = &self.found[expression];
        let best = found.iter().copied().fold(f64::INFINITY, f64::min);
        let recent = &found[found.len().saturating_sub(RECENT)..];
        let reached = recent.iter().filter(|&&cost| cost <= best + 1e-9).count();
        (reached + 1) as f64 / (recent.len() + 2) as f64
    }

    /// The least cost that is known of an expression.
    pub fn best(&self, expression: usize) -> Option<f64> {
        self.found[expression].iter().copied().min_by(f64::total_cmp)
    }
}

/// The searches of a run on disk: a file for each epoch, a line for each search.
#[derive(Clone, Debug)]
pub struct SearchFiles {
    folder: PathBuf,
}

/// Why a file of searches is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum SearchFileError {
    /// The file system failed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// A line is not what a run writes.
    #[error("{}:{line}: {reason}; expected searches written by `labrys train rewrite`; give another folder, or delete this one", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl SearchFiles {
    /// The searches in the folder of a run.
    pub fn new(run: &Path) -> Self {
        Self { folder: run.join("searches") }
    }

    fn path(&self, epoch: u64) -> PathBuf {
        self.folder.join(format!("{epoch:04}.jsonl"))
    }

    /// The searches of an epoch, if they are complete. They must be of so many expressions, and for a network of so many outputs.
    pub fn read(&self, epoch: u64, expressions: usize, outputs: usize) -> Result<Option<Vec<Record>>, SearchFileError> {
        let path = self.path(epoch);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SearchFileError::File { path, source }),
        };
        let kinds = kinds::names().len();
        let sound = |sample: &Sample| sample.graph.is_valid(kinds) && sample.values.len() == outputs;
        let mut records = vec![];
        for (number, line) in text.lines().enumerate() {
            let fault = |reason: String| SearchFileError::Line { path: path.clone(), line: number + 1, reason };
            let record: Record = serde_json::from_str(line).map_err(|error| fault(error.to_string()))?;
            if record.expression >= expressions || !record.samples.iter().all(sound) {
                return Err(fault("a search of other expressions, or for another network".to_owned()));
            }
            records.push(record);
        }
        Ok(Some(records))
    }

    /// Writes the searches of an epoch, all of them or none.
    pub fn write(&self, epoch: u64, records: &[Record]) -> Result<(), SearchFileError> {
        let path = self.path(epoch);
        let mut bytes = vec![];
        let lines = records.iter().try_for_each(|record| {
            serde_json::to_writer(&mut bytes, record)?;
            bytes.push(b'\n');
            Ok::<(), std::io::Error>(())
        });
        let written = lines
            .and_then(|()| std::fs::create_dir_all(&self.folder))
            .and_then(|()| labrys_nn::checkpoint::write_atomically(&path, &bytes));
        written.map_err(|source| SearchFileError::File { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Store;

    fn sample(value: f64, values: [f32; 3]) -> Sample {
        let mut store = Store::default();
        let expr = store.float(value);
        Sample { graph: ExprGraph::new(&store, expr).unwrap(), values: values.to_vec() }
    }

    fn record(expression: usize, best: f64, samples: Vec<Sample>) -> Record {
        Record { expression, best, samples }
    }

    #[test]
    fn a_state_keeps_the_best_that_is_known_of_it() {
        let mut data = Dataset::new(2, false);
        data.add(vec![record(0, 5.0, vec![sample(0.0, [0.0, 1.0, 0.5]), sample(1.0, [0.0; 3])])]);
        data.add(vec![record(1, 5.0, vec![sample(0.0, [0.0, 0.5, 2.0])])]);
        assert_eq!(data.samples().len(), 2);
        assert_eq!(data.samples()[0].values, [0.0, 1.0, 2.0]);
        assert_eq!(data.epochs(), 2);
    }

    #[test]
    fn steps_are_those_of_the_greater_gain() {
        let pair = |gain, steps| Sample { values: vec![gain, steps], ..sample(0.0, [0.0; 3]) };
        let mut known = pair(2.0, 5.0);
        for (gain, steps, expected) in [(1.0, 1.0, [2.0, 5.0]), (2.0, 4.0, [2.0, 4.0]), (3.0, 9.0, [3.0, 9.0])] {
            known.learn(&pair(gain, steps), true);
            assert_eq!(known.values, expected);
        }
    }

    #[test]
    fn success_is_to_reach_the_best_that_is_known() {
        let mut data = Dataset::new(1, false);
        assert_eq!(data.success_rate(0), 0.5);
        for best in [6.0, 5.0, 5.0] {
            data.add(vec![record(0, best, vec![])]);
        }
        assert_eq!(data.success_rate(0), 3.0 / 5.0);
        (0..20).for_each(|_| data.add(vec![record(0, 5.0, vec![])]));
        assert_eq!(data.success_rate(0), 9.0 / 10.0);
        data.add(vec![record(0, 4.0, vec![])]);
        assert_eq!(data.success_rate(0), 2.0 / 10.0);
        assert_eq!(data.best(0), Some(4.0));
    }

    #[test]
    fn files_come_back_and_strange_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = SearchFiles::new(folder.path());
        assert!(files.read(0, 1, 3).unwrap().is_none());
        let records = vec![record(0, 5.25, vec![sample(0.0, [0.0, 1.0, 0.1])]), record(0, 0.5, vec![])];
        files.write(3, &records).unwrap();
        assert_eq!(files.read(3, 1, 3).unwrap().unwrap(), records);
        for (expressions, outputs) in [(0, 3), (1, 4)] {
            let error = files.read(3, expressions, outputs).unwrap_err().to_string();
            assert!(error.contains("0003.jsonl:1: a search of other expressions"), "{error}");
        }
        std::fs::write(files.path(3), "{\"expression\": 0").unwrap();
        assert!(files.read(3, 1, 3).is_err());
    }
}
