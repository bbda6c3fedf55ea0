//! Measurements as JSON lines: one a step, one a validation.

use crate::Figures;
use serde_json::{Map, Value};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What a line tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A step of training.
    Train,
    /// A validation.
    Validate,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validate => "validate",
        }
    }
}

/// A file of measurements that is appended to.
pub struct Metrics {
    path: PathBuf,
    /// Lines not yet on disk.
    pending: Vec<u8>,
}

impl Metrics {
    /// Opens a file, and cuts off what lies after the first `steps` steps: an interrupted run does them again.
    pub fn open(path: PathBuf, steps: u64) -> std::io::Result<Self> {
        let kept: String = match std::fs::read_to_string(&path) {
            Ok(text) => text.split_inclusive('\n').filter(|line| step_of(line).is_some_and(|s| s <= steps)).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        labrys_nn::checkpoint::write_atomically(&path, kept.as_bytes())?;
        Ok(Self { path, pending: vec![] })
    }

    /// Adds a line, to be written with the next [`flush`](Self::flush).
    pub fn push(&mut self, kind: Kind, steps: u64, figures: &Figures) {
        let mut line = Map::from_iter([("kind".to_string(), kind.name().into()), ("step".to_string(), steps.into())]);
        line.extend(figures.iter().map(|(name, value)| ((*name).to_string(), Value::from(*value))));
        self.pending.extend(Value::Object(line).to_string().into_bytes());
        self.pending.push(b'\n');
    }

    /// Writes what is pending.
    pub fn flush(&mut self) -> std::io::Result<()> {
        std::fs::OpenOptions::new().append(true).open(&self.path)?.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Every (step, value) of a figure.
    pub fn read(path: &Path, kind: Kind, figure: &str) -> std::io::Result<Vec<(f64, f64)>> {
        let text = std::fs::read_to_string(path)?;
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lines = lines.filter(|line| line["kind"] == kind.name());
        Ok(lines.filter_map(|line| Some((line["step"].as_f64()?, line[figure].as_f64()?))).collect())
    }
}

/// The step of a complete line.
fn step_of(line: &str) -> Option<u64> {
    serde_json::from_str::<Value>(line.strip_suffix('\n')?).ok()?["step"].as_u64()
}
