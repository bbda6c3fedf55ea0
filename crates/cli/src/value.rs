//! `--guide` of rewriting: what says how much cheaper an expression can become.

use crate::error::CliError;
use labrys_compiler::value::{LearnedValue, ValueError, ValueNet};
use labrys_nn::Checkpoint;
use std::path::{Path, PathBuf};

/// Which guide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ValueFlag {
    None,
    /// The network that comes with the program.
    Model,
    /// A network that `labrys train rewrite` wrote.
    File(PathBuf),
}

impl std::str::FromStr for ValueFlag {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "none" => Self::None,
            "model" => Self::Model,
            file => Self::File(file.into()),
        })
    }
}

impl ValueFlag {
    /// Rewrites at most where nothing else is said: the draft's, which is too few to bind what is needed four times. Without a guide more only lead astray.
    pub(crate) fn horizon(&self) -> u32 {
        if *self == Self::None { 10 } else { 40 }
    }

    /// The guide, for one program.
    pub(crate) fn load(&self) -> Result<Option<LearnedValue>, CliError> {
        let net = match self {
            Self::None => return Ok(None),
            Self::Model => ValueNet::released().map_err(CliError::bug)?,
            Self::File(path) => read(path)?,
        };
        Ok(Some(LearnedValue::new(net)))
    }
}

fn read(path: &Path) -> Result<ValueNet, CliError> {
    let in_file = |error: ValueError| {
        CliError::input(format!("{}: {error}", path.display()))
            .with_hint(Some("--guide takes none, model, or a file of `labrys train rewrite`"))
    };
    let checkpoint = Checkpoint::load(path).map_err(|error| in_file(error.into()))?;
    ValueNet::from_checkpoint(&checkpoint).map_err(in_file)
}
