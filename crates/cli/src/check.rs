//! `labrys check`: is a plan or a solution valid, and are its numbers true? Is an optimised program what its certificate says?

use crate::error::CliError;
use crate::load::{self, ModelFlags};
use crate::{certified, output, solve};
use clap::Args;
use labrys_placement as placement;
use labrys_placement::plan_file::PlanFile;

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The model, the graph, or the .ks program
    model: String,
    /// The plan, as `labrys place` wrote it, the solution of `labrys solve`, or the optimised program of `labrys optimize`, with
    /// its certificate
    plan: String,
    #[command(flatten)]
    input: ModelFlags,
    /// Print the verdict as JSON on stdout
    #[arg(long)]
    json: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &CheckArgs) -> Result<(), CliError> {
    output::be_quiet(args.quiet);
    if certified::is_program(&args.model) {
        let verdict = certified::check(&args.model, &args.plan)?;
        return report(args, verdict);
    }
    let bytes = load::bytes(&args.plan)?;
    if is_solution(&bytes) {
        let verdict = solve::check_solution(&args.model, &args.plan, &bytes)?;
        return report(args, verdict);
    }
    let file: PlanFile<'_> =
        serde_json::from_slice(&bytes).map_err(|error| CliError::input(format!("{}: {error}", args.plan)))?;
    let graph = args.input.or_recorded(&file.input).load(&args.model)?.graph;
    let in_plan = |error: &dyn std::fmt::Display| format!("{}: {error}", args.plan);
    file.matches(&graph).map_err(|error| CliError::input(in_plan(&error)))?;
    let problem = file.settings.problem(graph).map_err(|error| CliError::input(in_plan(&error)))?;
    report(args, verdict(&problem, &file))
}

/// Which of the two files it is.
fn is_solution(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    serde_json::from_slice::<Head>(bytes).is_ok_and(|head| head.schema == solve::SCHEMA)
}

fn report(args: &CheckArgs, verdict: Result<String, String>) -> Result<(), CliError> {
    let in_plan = |error: &dyn std::fmt::Display| format!("{}: {error}", args.plan);
    if args.json {
        let value = serde_json::json!({
            "schema": "labrys-verdict", "version": 1,
            "valid": verdict.is_ok(), "violation": verdict.as_ref().err(),
        });
        output::to_stdout(|out| output::json(out, &value))?;
    }
    let summary = verdict.map_err(|violation| CliError::infeasible(in_plan(&violation)))?;
    output::say(&summary);
    Ok(())
}

/// Everything that can be wrong, in words; or what was found right.
fn verdict(problem: &placement::Problem, file: &PlanFile<'_>) -> Result<String, String> {
    let plan = file.plan();
    let cost = placement::check(problem, &plan).map_err(|violation| violation.to_string())?;
    file.confirm(problem, &cost).map_err(|error| error.to_string())?;
    let (ops, transfers) = (problem.graph.op_count(), plan.transfer_count());
    Ok(format!("valid: {ops} ops and {transfers} transfers in order, costs and memory as claimed"))
}
