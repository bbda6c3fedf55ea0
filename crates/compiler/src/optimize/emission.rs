//! `labrys compile -O`: rewrites between two rounds of simplification, kept only if they pay.

use super::programs::{Budget, Improved, Refused, certificate, confirm, improve};
use super::{Method, Settings};
use crate::cost::{AbstractInterpreter, Weights};
use crate::emit::{self, Options};
use crate::error::Error;
use crate::ir::{FunId, Program};
use crate::rewrite::certificate::Certificate;
use crate::rewrite::{self, Mode, RuleSet};

/// A program, ready to be emitted.
pub struct Prepared {
    /// It computes what the program computes, as far as the mode says.
    pub program: Program,
    /// What was done to the simplified program; empty if nothing paid.
    pub certificate: Certificate,
    /// What an abstract run costs, simplified and as it is now.
    pub costs: (f64, f64),
}

/// Why a program is not prepared.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The program is at fault.
    #[error("the program cannot be emitted")]
    Program(Box<Error>),
    /// A bug: the rewrites do not pass their check.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Program(error.into())
    }
}

/// States that are looked at for each function, if nobody says otherwise.
pub const WORK: u64 = 2000;
const SETTINGS: Settings =
    Settings { method: Method::Hybrid, horizon: 10, has_two_phases: true, has_portfolio: true, width: 16 };

/// Simplifies a program, rewrites it, and simplifies it again. The result costs no more than the simplified program does, or it is that program.
///
/// # Errors
/// If the program has nothing to start from, or rules that cannot be used.
pub fn prepare(program: &Program, options: &Options, mode: Mode, budget: &Budget) -> Result<Prepared, Failed> {
    let plain = emit::simplified(program, options)?;
    let mut rewritten = plain.clone();
    let settings = rewrite::Settings { mode, width: options.width, checks_bounds: options.debug_bounds };
    let rules = RuleSet::with_rules_of(&mut rewritten, settings)?;
    // What was written out where it was called may be exported, too.
    let mut cost = AbstractInterpreter::new(&rewritten, Weights::table()).with_calls_of(program);
    let improved = improve(&mut rewritten, &rules, &mut cost, None, SETTINGS, budget);
    confirm(&plain, &rewritten, &rules, &improved, budget.seed)?;
    let mut certificate = certificate(&rewritten, &rules, &improved);
    let again = emit::simplified(&rewritten, options)?;
    let (before, after) = (total(&plain, &improved), total(&again, &improved));
    if after < before {
        return Ok(Prepared { program: again, certificate, costs: (before, after) });
    }
    certificate.functions.clear();
    Ok(Prepared { program: plain, certificate, costs: (before, before) })
}

/// What a run of `main` costs; without one, what the functions cost together.
fn total(program: &Program, improved: &[Improved]) -> f64 {
    let mut model = AbstractInterpreter::new(program, Weights::table());
    let all = || improved.iter().map(|function| function.fun).collect();
    // A function that nobody calls any more has no sizes to compare.
    let functions: Vec<FunId> = program.main().map_or_else(all, |main| vec![main]);
    functions.iter().map(|fun| model.function(program, *fun)).sum()
}
