//! CP-SAT, the exact baseline of the paper (section 5.2, A.10): OR-Tools' constraint solver, found at run time, not linked.
//!
//! Given time, it finds an optimal plan and proves it; within seconds that happens for some tens of ops only. Its plan is decoded
//! into a [`Plan`] and has to pass the checker as every other.
//!
//! Suggested reading order: [`makespan`] and [`peak`] (the two models), [`placing`] (what they share), [`library`].

mod library;
mod makespan;
mod messages;
mod model;
mod peak;
mod placing;
#[cfg(test)]
mod tests;

pub use library::Library;

use crate::problem::{Objective, Plan, Problem, Transfers};
use crate::simulate::Simulator;
use labrys_search::Runner;
use messages::{Assignment, CpModel, Parameters, Response, Status};
use model::constant;
use prost::Message as _;
use std::path::PathBuf;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path leads to no library.
    #[error("{} is neither OR-Tools' library nor a folder that holds it", path.display())]
    NotFound {
        /// As the user gave it.
        path: PathBuf,
    },
    /// The library cannot be used.
    #[error("{} is not OR-Tools with CP-SAT's C interface: {source}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the loader says.
        source: libloading::Error,
    },
    /// The problem is of another kind.
    #[error("CP-SAT models makespan over synchronous transfers and peak memory, both without memory limits")]
    Unsupported,
    /// The encoded model is longer than the interface takes.
    #[error("the model takes {bytes} bytes, more than CP-SAT can be given")]
    TooLarge {
        /// Length of the encoded model.
        bytes: usize,
    },
    /// CP-SAT rejects the model.
    #[error("CP-SAT rejects the model: {reason}")]
    Invalid {
        /// In its words.
        reason: String,
    },
    /// CP-SAT says that there is no plan, although there always is one.
    #[error("CP-SAT finds no plan possible")]
    Infeasible,
    /// The call returned nothing.
    #[error("CP-SAT gave no response")]
    NoResponse,
    /// The response is no `CpSolverResponse`.
    #[error("CP-SAT's response cannot be read: {0}")]
    Response(#[from] prost::DecodeError),
}

/// Whether there is a model of this kind of problem.
pub fn applies(problem: &Problem) -> bool {
    let modelled = match problem.objective {
        Objective::Makespan => problem.transfers == Transfers::Synchronous,
        // When an asynchronous transfer has ended, and its source with it, depends on times.
        Objective::PeakMemory => problem.transfers == Transfers::Synchronous || problem.device_count() == 1,
    };
    modelled && !problem.is_memory_limited() && problem.graph.op_count() > 0
}

/// Searches until the runner's limits, on all threads of the pool, from the runner's best plan if it has one, and offers what it
/// finds. Returns the bound that it has proven. Under a time limit the result may vary.
///
/// # Errors
/// The problem is not of a kind that it models, or the library fails.
pub fn search(problem: &Problem, library: &Library, run: &mut Runner<Plan>) -> Result<u64, Error> {
    if !applies(problem) {
        return Err(Error::Unsupported);
    }
    let start = run.best().map(|(_, plan)| plan.clone());
    let bound = run.bound().unwrap_or(0);
    let formulation: Box<dyn Formulation> = match problem.objective {
        Objective::Makespan => Box::new(makespan::Makespan::new(problem, bound, start.as_ref())),
        Objective::PeakMemory => Box::new(peak::Peak::new(problem, bound)),
    };
    let response = formulation.solve(library, start.as_ref(), run)?;
    if !response.solution.is_empty() {
        let plan = formulation.plan(&response.solution);
        let score = problem.score(&Simulator::new(problem).simulate(&plan));
        run.spend(1);
        run.offer(score, "CP-SAT", || plan);
    }
    Ok(bound.max(proven(&response, formulation.unit())))
}

/// One way to say a problem in constraints.
trait Formulation {
    fn model(&self) -> &CpModel;
    /// Nanoseconds or bytes in one unit of the objective.
    fn unit(&self) -> u64;
    /// The values of all variables in a plan that the model admits.
    fn assignment(&self, plan: &Plan) -> Vec<i64>;
    /// The plan that values of all variables amount to.
    fn plan(&self, values: &[i64]) -> Plan;

    fn solve(&self, library: &Library, start: Option<&Plan>, run: &Runner<Plan>) -> Result<Response, Error> {
        let mut model = self.model().clone();
        model.solution_hint = start.map(|plan| Assignment::complete(self.assignment(plan)));
        let parameters = Parameters {
            random_seed: Some((run.seed().0 & i32::MAX as u64) as i32),
            max_time_in_seconds: run.time_left().map(|time| time.as_secs_f64()),
            catch_sigint_signal: Some(false),
            num_workers: Some(rayon::current_num_threads() as i32),
        };
        let bytes = library.solve(&model.encode_to_vec(), &parameters.encode_to_vec(), &run.stopwatch())?;
        let response = Response::decode(bytes.as_slice())?;
        match response.status() {
            Status::ModelInvalid => Err(Error::Invalid { reason: response.solution_info }),
            Status::Infeasible => Err(Error::Infeasible),
            Status::Unknown | Status::Feasible | Status::Optimal => Ok(response),
        }
    }
}

/// Above this a bound as a floating-point number may be off by one.
const EXACT: f64 = (1u64 << 52) as f64;

/// The bound of a response, in nanoseconds or bytes. The objective is whole, so that a bound may be rounded up.
fn proven(response: &Response, unit: u64) -> u64 {
    let bound = (response.best_objective_bound - 1e-6).ceil();
    if (1.0..EXACT).contains(&bound) { bound as u64 * unit } else { 0 }
}

/// The greatest unit in which all of these are whole.
fn common_unit(values: impl Iterator<Item = u64>) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    values.fold(0, gcd).max(1)
}

/// Sums of times and of sizes stay below 2^60 (ARCHITECTURE.md).
fn units(value: u64, unit: u64) -> i64 {
    (value / unit) as i64
}
