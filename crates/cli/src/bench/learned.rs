//! The rows of the learned methods of table 1: GAS, IDRS, REGAL.

use super::measure::{Entry, Solver};
use crate::error::CliError;
use crate::models;
use clap::Args;
use labrys_placement::Objective;
use labrys_placement::learned::{Engine, Model};
use labrys_search::Limits;
use std::path::PathBuf;
use std::sync::Arc;

/// Which policies to use.
#[derive(Args, Clone, Debug)]
pub(crate) struct LearnedFlags {
    /// Policy of the rows REGAL and IDRS [default: the one in the binary that fits]
    #[arg(long, value_name = "FILE")]
    regal: Option<PathBuf>,
    /// Policy of the row GAS [default: the one in the binary that fits]
    #[arg(long, value_name = "FILE")]
    gas: Option<PathBuf>,
}

/// Policies for one kind of problem.
pub(crate) struct Policies {
    regal: Option<Arc<Model>>,
    gas: Option<Arc<Model>>,
}

impl LearnedFlags {
    /// The policies that the flags name, and for others those in the binary.
    pub(crate) fn policies(&self, objective: Objective, real: bool) -> Result<Policies, CliError> {
        let find = |file: &Option<PathBuf>, kind| match file {
            Some(path) => models::load(path).map(Some),
            None => models::shipped(kind, objective, real),
        };
        Ok(Policies { regal: find(&self.regal, models::Kind::Regal)?, gas: find(&self.gas, models::Kind::Gas)? })
    }

    /// Whether a policy is named.
    pub(crate) fn any(&self) -> bool {
        self.regal.is_some() || self.gas.is_some()
    }
}

impl Policies {
    /// One row for each policy that is there.
    pub(crate) fn entries(&self, evaluations: u64) -> Vec<Entry> {
        let rows = [
            ("GAS", &self.gas, Engine::Brkga),
            ("IDRS", &self.regal, Engine::RandomSearch),
            ("REGAL", &self.regal, Engine::Brkga),
        ];
        let limits = Limits { work: Some(evaluations), time: None };
        let entry = |(name, model, engine): (&str, &Option<Arc<Model>>, Engine)| {
            let solver = Solver::Learned(Arc::clone(model.as_ref()?), engine);
            Some(Entry { name: format!("{name} {}K", evaluations / 1000), solver, limits })
        };
        rows.into_iter().filter_map(entry).collect()
    }

    /// The policy of the row REGAL.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn regal(&self) -> Result<&Arc<Model>, CliError> {
        let hint = "train one by `labrys train placement` and name it by --regal";
        let none = || CliError::input("no policy in the binary is for such problems").with_hint(Some(hint));
        self.regal.as_ref().ok_or_else(none)
    }

    /// Fingerprints of the topologies that a policy has been trained or validated on.
    pub(crate) fn seen(&self) -> Vec<String> {
        let models = [&self.regal, &self.gas].into_iter().flatten();
        models.flat_map(|model| model.recipe().seen_topologies.clone()).collect()
    }
}
