//! `labrys check-grad`: derivatives against finite differences, and against each other.

use crate::error::CliError;
use crate::ks::{self, Bits};
use crate::output;
use clap::Args;
use labrys_compiler::check::State;
use labrys_compiler::check_grad::{Sample, Settings, check, tolerances};
use labrys_compiler::interpret::{Interpreter, Options, Value};
use labrys_compiler::ir::FunId;
use labrys_compiler::{Error, Sources, Span, derive, syntax};
use labrys_report::table::{Align, Cell, Table};
use labrys_search::Seed;

#[derive(Args, Debug)]
pub(crate) struct CheckGradArgs {
    /// Files that make one program, in order; - for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The function: f, or [f (Tuple Float Float)] where there are several of the name
    #[arg(value_name = "FUNCTION")]
    function: String,
    /// The argument to check at, an expression: "(tuple 1.0 2.0)" [default: random ones]
    #[arg(long, value_name = "EXPR")]
    at: Option<String>,
    /// How many random arguments, or random directions at the argument that is given
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    samples: u64,
    /// Sizes of random tensors in each dimension; random Integers are below it
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    size: u16,
    /// Random Floats are between these
    #[arg(long, value_name = "LOW:HIGH", default_value = "-1:1", value_parser = range, allow_hyphen_values = true)]
    range: (f64, f64),
    /// Seed of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How far finite differences may be from forward mode, relative to derivatives above 1 [default: 1e-6, with --float 32 1e-2]
    #[arg(long, value_name = "X")]
    tolerance: Option<f64>,
    /// Bits of Float and Integer
    #[arg(long, value_enum, default_value = "64")]
    float: Bits,
    /// Print the result as JSON on stdout
    #[arg(long)]
    json: bool,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let parts = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    parts
        .filter(|(low, high): &(f64, f64)| low <= high && low.is_finite() && high.is_finite())
        .ok_or_else(|| format!("expected two numbers such as 0.5:2, found '{text}'"))
}

pub(crate) fn run(args: &CheckGradArgs) -> Result<(), CliError> {
    let (mut sources, mut state) = ks::state(&args.files)?;
    let (fun, span) = function(&mut sources, &mut state, &args.function)?;
    let at = args.at.as_ref().map(|text| argument(args, &mut sources, &mut state, fun, text)).transpose()?;
    let settings = Settings {
        samples: args.samples,
        size: usize::from(args.size),
        range: args.range,
        seed: Seed(args.seed),
        width: args.float.into(),
    };
    let samples = check(&mut state.program, fun, at.as_ref(), &settings, span);
    let samples = samples.map_err(|error| failed(&error, &sources))?;
    let name = state.program.store.show_fun(fun);
    let (between, from_differences) = worst(&samples);
    let (modes, differences) = tolerances(settings.width);
    let agrees = between <= modes && from_differences <= args.tolerance.unwrap_or(differences);
    if args.json {
        json(args, &name, &samples, agrees)?;
    } else {
        output::to_stdout(|out| out.write_all(table(&name, &samples).as_bytes()))?;
    }
    if agrees {
        return Ok(());
    }
    let hint = match (between <= modes, from_differences.is_nan()) {
        (_, true) => "some are not finite: choose where to check with --range or --at",
        (true, false) => {
            "are random arguments close to where it is not smooth? --seed gives others; a (def [rev ...]) may be meant to differ"
        }
        (false, _) => "if the program defines no derivative of its own, this is a bug in labrys",
    };
    Err(CliError::infeasible(format!(
        "derivatives of {name} disagree: modes by {between:.1e}, finite differences by {from_differences:.1e}"
    ))
    .with_hint(Some(hint)))
}

/// A mistake is bad input; what happens when the function runs is a failed check.
fn failed(error: &Error, sources: &Sources) -> CliError {
    match error.kind {
        labrys_compiler::ErrorKind::Run(_) => ks::failed(error, sources),
        _ => ks::wrong(std::slice::from_ref(error), sources),
    }
}

/// The only expression of a text of the command line.
fn parsed(sources: &mut Sources, name: &str, text: &str) -> Result<(syntax::Tree, syntax::SexpId), CliError> {
    let file = sources.add(name, text).map_err(CliError::input)?;
    let tree = syntax::parse(file, text).map_err(|error| ks::wrong(&[error], sources))?;
    match tree.roots[..] {
        [root] => Ok((tree, root)),
        _ => Err(CliError::input(format!("{name}: expected one expression, found '{text}'"))),
    }
}

fn function(sources: &mut Sources, state: &mut State, text: &str) -> Result<(FunId, Span), CliError> {
    let (tree, root) = parsed(sources, "FUNCTION", text)?;
    let fun = state.function(sources, &tree, root).map_err(|error| ks::wrong(&[error], sources))?;
    Ok((fun, tree.get(root).span))
}

/// The argument to check at.
fn argument(
    args: &CheckGradArgs,
    sources: &mut Sources,
    state: &mut State,
    fun: FunId,
    text: &str,
) -> Result<Value, CliError> {
    let (tree, root) = parsed(sources, "--at", text)?;
    let made = state.expression(sources, &tree, root);
    let expr = made.map_err(|error| ks::wrong(&[error], sources))?;
    let store = &state.program.store;
    let (found, expected) = (store.ty(expr), store.signature(fun).map(|(arg, _)| arg));
    if expected.is_some_and(|expected| expected != found) {
        let expected = expected.map(|ty| store.show_type(ty)).unwrap_or_default();
        return Err(CliError::input(format!("--at: expected {expected}, found {}", store.show_type(found))));
    }
    derive::complete_expression(&mut state.program, expr).map_err(|error| ks::wrong(&[error], sources))?;
    let options = Options { width: args.float.into(), ..Options::default() };
    let value = Interpreter::new(&state.program, options, &mut std::io::sink()).evaluate(expr);
    value.map_err(|error| ks::failed(&error, sources))
}

/// The largest differences between the modes, and of finite differences from them; NaN if any is.
fn worst(samples: &[Sample]) -> (f64, f64) {
    let most = |worst: f64, next: f64| if next.is_nan() || next > worst { next } else { worst };
    samples.iter().fold((0.0, 0.0), |(between, from), sample| {
        (most(between, sample.between_modes()), most(from, sample.from_differences()))
    })
}

fn table(name: &str, samples: &[Sample]) -> String {
    let columns = ["differences", "forward", "reverse", "split", "modes differ by", "differences differ by"];
    let columns: Vec<(&str, Align)> =
        [("sample", Align::Right)].into_iter().chain(columns.map(|name| (name, Align::Right))).collect();
    let mut table = Table::new(format!("{name}: directional derivatives"), &columns);
    for (number, sample) in (1u32..).zip(samples) {
        let values = [sample.differences, sample.forward, sample.reverse, sample.split];
        let mut cells = vec![Cell::Text(number.to_string())];
        cells.extend(values.map(|value| Cell::Text(format!("{value:.9}"))));
        let errors = [sample.between_modes(), sample.from_differences()];
        cells.extend(errors.map(|error| Cell::Text(format!("{error:.1e}"))));
        table.push(cells);
    }
    table.to_text()
}

fn json(args: &CheckGradArgs, name: &str, samples: &[Sample], agrees: bool) -> Result<(), CliError> {
    let rows: Vec<serde_json::Value> = samples
        .iter()
        .map(|sample| {
            serde_json::json!({
                "differences": sample.differences, "forward": sample.forward, "reverse": sample.reverse, "split": sample.split,
                "between_modes": sample.between_modes(), "from_differences": sample.from_differences(),
            })
        })
        .collect();
    let status = if agrees { "agrees" } else { "disagrees" };
    let value = serde_json::json!({
        "schema": "labrys-check-grad", "version": 1, "function": name, "seed": args.seed, "status": status, "rows": rows,
    });
    output::to_stdout(|out| writeln!(out, "{value}"))
}
