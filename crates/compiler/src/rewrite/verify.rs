//! Is an optimised program what its certificate says, and does it do the same? Every step is done again by two appliers of rules, and the
//! interpreter compares the functions on random arguments.

use super::certificate::{Certificate, CertificateError};
use super::compare::{Compared, Outcome, Verdict, calls};
use super::replay::{Function, ReplayError, Why, replay};
use super::rule::Settings;
use crate::check::check;
use crate::ir::{Body, Def, FunId, Program};
use crate::source::{SourceError, Sources};
use labrys_search::Seed;
use std::collections::BTreeMap;

/// Why an optimised program is not accepted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Refused {
    /// The certificate cannot be read.
    #[error("the certificate, {0}")]
    Certificate(CertificateError),
    /// A step cannot be done.
    #[error("{0}")]
    Replay(ReplayError),
    /// The text is no program.
    #[error("the optimised program: {0}")]
    Program(String),
    /// The text is too large.
    #[error("{0}")]
    Source(SourceError),
    /// A function that the certificate does not lead to.
    #[error("{function} is not what the certificate leads to, which is\n{expected}")]
    Body {
        /// Its name.
        function: String,
        /// What it should be.
        expected: String,
    },
    /// A function that does something else.
    #[error("{function} of {argument} gives {after}, and gave {before}")]
    Result {
        /// Its name.
        function: String,
        /// For what.
        argument: String,
        /// What the program does.
        before: String,
        /// What the optimised one does.
        after: String,
    },
}

impl Refused {
    /// Whether it is the checker that is wrong.
    pub fn is_our_fault(&self) -> bool {
        matches!(self, Self::Replay(ReplayError::Step(step)) if matches!(step.why, Why::Disagree { .. }))
    }
}

/// What was checked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// Functions that the certificate changes.
    pub functions: usize,
    /// Steps that were done again.
    pub steps: usize,
    /// Calls that gave the same.
    pub calls: usize,
    /// Calls of which nothing can be said, since the mode allows them to differ or they take too long.
    pub unknown: usize,
}

/// Checks a certificate of a program, and the optimised program if its text is there. Each function is called with so many random arguments.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify(
    program: &mut Program,
    certificate: &Certificate,
    optimised: Option<&str>,
    (samples, seed): (u64, Seed),
) -> Result<Report, Refused> {
    let functions = replay(program, certificate).map_err(Refused::Replay)?;
    if let Some(text) = optimised {
        compare_texts(program, &functions, text)?;
    }
    let steps = functions.iter().map(|function| function.steps.len()).sum();
    let mut report = Report { functions: functions.len(), steps, ..Report::default() };
    for function in &functions {
        call(program, function, certificate.settings, (samples, seed), &mut report)?;
    }
    Ok(report)
}

/// Whether the functions of a text are those that the certificate leads to. Both go through text, so that they differ in nothing that text
/// does not say. Functions may be missing where nobody calls them.
fn compare_texts(program: &Program, functions: &[Function], text: &str) -> Result<(), Refused> {
    let mut expected = program.clone();
    for function in functions {
        if let Some(def) = expected.def(function.fun).copied() {
            expected.replace(Def { body: Body::Expr(function.param, function.result()), ..def });
        }
    }
    let expected = definitions(&expected.show())?;
    for (function, found) in definitions(text)? {
        match expected.get(&function) {
            Some(expected) if *expected == found => {}
            Some(expected) => return Err(Refused::Body { function, expected: expected.clone() }),
            None => return Err(Refused::Body { function, expected: "not there".to_owned() }),
        }
    }
    Ok(())
}

/// The definitions of a program by name, each in canonical form, as text.
fn definitions(text: &str) -> Result<BTreeMap<String, String>, Refused> {
    let sources = Sources::with("optimised", text).map_err(Refused::Source)?;
    let wrong = |errors: Vec<crate::Error>| {
        let first = errors.first().map(|error| crate::render::message(error, &sources));
        Refused::Program(first.unwrap_or_default())
    };
    let mut program = check(&sources).map_err(wrong)?;
    let defs: Vec<Def> = program.defs().filter(|def| def.span.file != Sources::PRELUDE).copied().collect();
    let mut shown = BTreeMap::new();
    for def in defs {
        let name = program.store.show_fun(def.fun);
        let body = match def.body {
            Body::Expr(param, body) => {
                let lam = program.store.lam(param, body);
                let lam = program.store.canonical(lam);
                program.store.show(lam)
            }
            Body::External | Body::LinearMap { .. } => program.show_def(&def),
        };
        shown.insert(name, body);
    }
    Ok(shown)
}

/// Calls a function before and after on random arguments.
fn call(
    program: &Program,
    function: &Function,
    settings: Settings,
    (samples, seed): (u64, Seed),
    report: &mut Report,
) -> Result<(), Refused> {
    let mut changed = program.clone();
    if let Some(def) = changed.def(function.fun).copied() {
        changed.replace(Def { body: Body::Expr(function.param, function.result()), ..def });
    }
    for call in calls((program, &changed), function.fun, settings, (samples, seed)) {
        match call.verdict {
            Verdict::Same => report.calls += 1,
            Verdict::Unknown => report.unknown += 1,
            Verdict::Different => return Err(different(program, function.fun, &call)),
        }
    }
    Ok(())
}

fn different(program: &Program, fun: FunId, Compared { argument, before, after, .. }: &Compared) -> Refused {
    let show = |outcome: &Outcome| match &outcome.result {
        Ok(value) => format!("{value}{}", printed(&outcome.output)),
        Err(error) => format!("an error ({error}){}", printed(&outcome.output)),
    };
    let function = program.store.show_fun(fun);
    Refused::Result { function, argument: argument.to_string(), before: show(before), after: show(after) }
}

fn printed(output: &[u8]) -> String {
    if output.is_empty() { String::new() } else { format!(" and printed {:?}", String::from_utf8_lossy(output)) }
}
