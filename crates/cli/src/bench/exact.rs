//! `--with cp-sat`: the exact baseline, if its library is there.

use super::measure::{Entry, Solver};
use crate::args::duration;
use labrys_placement::Problem;
use labrys_placement::baselines::cp_sat::{self, Library};
use labrys_search::Limits;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// Names OR-Tools' library, or the folder of its Python package.
const VARIABLE: &str = "LABRYS_ORTOOLS";
const HOW_TO_GET_IT: &str =
    "pip install ortools; export LABRYS_ORTOOLS=$(python3 -c 'import ortools; print(*ortools.__path__)')";
const DEFAULT_TIME: Duration = Duration::from_secs(20);

/// A row of CP-SAT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exact {
    warm: bool,
    time: Duration,
}

impl FromStr for Exact {
    type Err = String;

    /// `cp-sat`, `cp-sat:20s` or `cp-sat-warm:2min`; a bare number counts seconds.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, time) = text.split_once(':').map_or((text, None), |(name, time)| (name, Some(time)));
        let warm = match name {
            "cp-sat" => false,
            "cp-sat-warm" => true,
            _ => return Err("expected cp-sat or cp-sat-warm, with a time limit or without: cp-sat:20s".to_owned()),
        };
        let seconds = |time: &str| duration(&format!("{time}s"));
        let time = time.map(|time| seconds(time).or_else(|_| duration(time))).transpose()?;
        Ok(Self { warm, time: time.unwrap_or(DEFAULT_TIME) })
    }
}

impl Exact {
    pub(crate) fn name(self) -> String {
        format!("CP-SAT {}{:?}", if self.warm { "warm " } else { "" }, self.time)
    }

    /// The row, or why there is none and what to do about it.
    pub(crate) fn entry(self, problems: &[Problem]) -> Result<Entry, String> {
        if !problems.iter().all(cp_sat::applies) {
            return Err(format!("absent: {}", cp_sat::Error::Unsupported));
        }
        let advice = |what: String| format!("absent: {what}; {HOW_TO_GET_IT}");
        let path = std::env::var_os(VARIABLE).ok_or_else(|| advice(format!("{VARIABLE} is not set")))?;
        let library = Library::open(Path::new(&path)).map_err(|error| advice(error.to_string()))?;
        let limits = Limits { work: None, time: Some(self.time) };
        Ok(Entry { name: self.name(), solver: Solver::CpSat { library, warm: self.warm }, limits })
    }
}
