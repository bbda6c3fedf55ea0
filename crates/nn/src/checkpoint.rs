//! Parameters on disk: a safetensors file whose metadata hold a model card.

use crate::{Matrix, Params};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Version of the card and of the layout of parameters.
pub const FORMAT: u32 = 1;
/// Under which key the card stands in the metadata.
const CARD: &str = "labrys.model-card";
/// Larger files are refused: our models are far below.
const MOST_BYTES: u64 = 1 << 30;

/// What a model is, and where it may be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCard {
    /// Version of this format.
    pub format: u32,
    /// What it solves, such as `placement/makespan`.
    pub problem: String,
    /// What it was trained on, in words.
    pub training_distribution: String,
    /// Least and most nodes of the graphs it was trained on.
    pub sizes: (usize, usize),
    /// Seed of the training run.
    pub seed: u64,
    /// Version of the program that trained it.
    pub code_version: String,
    /// Gain measured on held-back graphs, in words with figures.
    pub measured_gain: String,
    /// Sizes and variants that are needed to rebuild the network, and anything else, as JSON by name.
    pub details: BTreeMap<String, serde_json::Value>,
}

/// Why a checkpoint was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system failed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// Not a safetensors file, or a damaged one.
    #[error("not a checkpoint: {reason}; expected a safetensors file written by `labrys train`")]
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// The model card is missing or malformed.
    #[error("no usable model card: {reason}; expected a file written by `labrys train`")]
    Card {
        /// What is wrong.
        reason: String,
    },
    /// Written by another version.
    #[error("checkpoint format {found}, but this program reads format {FORMAT}; train the model anew")]
    Format {
        /// The file's format.
        found: u32,
    },
    /// A tensor is missing, superfluous, or has another shape than the network.
    #[error("parameter {name}: {reason}; the file holds another network than its card says")]
    Parameter {
        /// Name of the parameter.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

/// Named matrices with their card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// What the model is.
    pub card: ModelCard,
    /// Its parameters.
    pub params: Params,
}

impl Checkpoint {
    /// Bytes of a safetensors file; equal checkpoints give equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let damaged = |reason: String| CheckpointError::Damaged { reason };
        let blobs: Vec<_> = self.params.iter().map(|(name, value)| (name, value, little_endian(&value.data))).collect();
        let mut views = vec![];
        for (name, value, bytes) in &blobs {
            let view = TensorView::new(Dtype::F32, vec![value.rows, value.cols], bytes);
            views.push((*name, view.map_err(|error| damaged(error.to_string()))?));
        }
        let card = serde_json::to_string(&ModelCard { format: FORMAT, ..self.card.clone() });
        let card = card.map_err(|error| damaged(error.to_string()))?;
        let metadata = HashMap::from([(CARD.to_string(), card)]);
        safetensors::serialize(views, Some(metadata)).map_err(|error| damaged(error.to_string()))
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote. Parameters come in the order of their names.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let damaged = |error: safetensors::SafeTensorError| CheckpointError::Damaged { reason: error.to_string() };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let card = read_card(metadata.metadata().as_ref().and_then(|entries| entries.get(CARD)))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let mut named = tensors.tensors();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        let mut params = Params::new();
        for (name, view) in named {
            params.push(&name, read_matrix(&name, &view)?);
        }
        Ok(Self { card, params })
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, CheckpointError> {
        let file = |source| CheckpointError::File { path: path.to_path_buf(), source };
        let size = std::fs::metadata(path).map_err(file)?.len();
        if size > MOST_BYTES {
            return Err(CheckpointError::Damaged { reason: format!("{size} bytes are too many for a model") });
        }
        Self::from_bytes(&std::fs::read(path).map_err(file)?)
    }

    /// Writes a file, complete or not at all.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        write_atomically(path, &self.to_bytes()?)
            .map_err(|source| CheckpointError::File { path: path.to_path_buf(), source })
    }

    /// Sets the values of a network's parameters, which must be the same ones by name and shape.
    pub fn restore(&self, params: &mut Params) -> Result<(), CheckpointError> {
        let fault = |name: &str, reason: String| CheckpointError::Parameter { name: name.to_string(), reason };
        if let Some((extra, _)) = self.params.iter().find(|(name, _)| params.find(name).is_none()) {
            return Err(fault(extra, "not part of the network".into()));
        }
        for id in params.ids() {
            let name = params.name(id);
            let found = self.params.find(name).ok_or_else(|| fault(name, "missing".into()))?;
            let (value, expected) = (self.params.get(found), params.get(id).shape());
            if value.shape() != expected {
                return Err(fault(name, format!("shape {:?} instead of {expected:?}", value.shape())));
            }
            params.get_mut(id).clone_from(value);
        }
        Ok(())
    }
}

/// Writes a file beside its place, as `NAME.partial`, and renames it when it is complete.
///
/// The name is always the same, so that what a killed process left behind is overwritten by the next one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".partial");
    let write = || {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&beside)))
}

fn read_card(text: Option<&String>) -> Result<ModelCard, CheckpointError> {
    let text = text.ok_or_else(|| CheckpointError::Card { reason: format!("metadata lack {CARD}") })?;
    /// Read first, as another format may have other fields.
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let fault = |error: serde_json::Error| CheckpointError::Card { reason: error.to_string() };
    let Version { format } = serde_json::from_str(text).map_err(fault)?;
    if format != FORMAT {
        return Err(CheckpointError::Format { found: format });
    }
    serde_json::from_str(text).map_err(fault)
}

fn read_matrix(name: &str, view: &TensorView) -> Result<Matrix, CheckpointError> {
    let fault = |reason: String| CheckpointError::Parameter { name: name.to_string(), reason };
    let &[rows, cols] = view.shape() else {
        return Err(fault(format!("{} dimensions instead of 2", view.shape().len())));
    };
    if view.dtype() != Dtype::F32 {
        return Err(fault(format!("type {:?} instead of F32", view.dtype())));
    }
    let data: Vec<f32> = view.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    if let Some(value) = data.iter().find(|value| !value.is_finite()) {
        return Err(fault(format!("holds {value}")));
    }
    Ok(Matrix::new(rows, cols, data))
}

fn little_endian(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
