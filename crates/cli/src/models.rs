//! Trained policies: those in the binary, and others from files.

use crate::error::CliError;
use labrys_nn::Checkpoint;
use labrys_placement::Objective;
use labrys_placement::learned::Model;
use std::path::Path;
use std::sync::Arc;

/// What a policy is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A graph network.
    Regal,
    /// Graph as sequence.
    Gas,
}

/// A policy in the binary.
struct Shipped {
    kind: Kind,
    objective: Objective,
    /// Trained on real models instead of synthetic graphs.
    real: bool,
    bytes: &'static [u8],
}

const SHIPPED: &[Shipped] = &[
    Shipped {
        kind: Kind::Regal,
        objective: Objective::Makespan,
        real: false,
        bytes: include_bytes!("../../../models/regal-synthetic.safetensors"),
    },
    Shipped {
        kind: Kind::Gas,
        objective: Objective::Makespan,
        real: false,
        bytes: include_bytes!("../../../models/gas-synthetic.safetensors"),
    },
];

/// The policy in the binary for a kind of problem, if there is one.
pub(crate) fn shipped(kind: Kind, objective: Objective, real: bool) -> Result<Option<Arc<Model>>, CliError> {
    let found = SHIPPED.iter().find(|one| (one.kind, one.objective, one.real) == (kind, objective, real));
    let model = |one: &Shipped| {
        let checkpoint = Checkpoint::from_bytes(one.bytes).map_err(CliError::bug)?;
        Model::from_checkpoint(&checkpoint).map(Arc::new).map_err(CliError::bug)
    };
    found.map(model).transpose()
}

/// The policy in a file.
pub(crate) fn load(path: &Path) -> Result<Arc<Model>, CliError> {
    let failed = |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let checkpoint = Checkpoint::load(path).map_err(|error| failed(&error))?;
    Model::from_checkpoint(&checkpoint).map(Arc::new).map_err(|error| failed(&error))
}
