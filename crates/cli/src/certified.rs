//! Optimised `.ks` programs and their certificates: `labrys check` and `labrys explain`.

use crate::error::CliError;
use crate::{ks, output};
use clap::Args;
use labrys_compiler::cost::Table as CostTable;
use labrys_compiler::rewrite::certificate::Certificate;
use labrys_compiler::rewrite::explain::{Line, by_rule, explain};
use labrys_compiler::rewrite::replay::replay;
use labrys_compiler::rewrite::verify::{Refused, Report, verify};
use labrys_compiler::{Sources, Span};
use labrys_report::table::{Align, Cell, Table};
use labrys_search::Seed;

/// Random arguments that each function is called with.
const SAMPLES: u64 = 50;

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The .ks program
    program: String,
    /// The optimised program with its certificate, or the certificate alone, as `labrys optimize` wrote it
    certificate: String,
    /// Print the steps as JSON on stdout
    #[arg(long)]
    json: bool,
}

/// An optimised program as a file has it.
struct Optimised {
    certificate: Certificate,
    /// None if the file holds the certificate alone.
    program: Option<String>,
}

/// What `labrys optimize --json` writes.
#[derive(serde::Deserialize)]
struct Written {
    solution: Solution,
}

#[derive(serde::Deserialize)]
struct Solution {
    program: String,
    certificate: String,
}

impl Optimised {
    fn read(path: &str) -> Result<Self, CliError> {
        let mut text = ks::text(path)?;
        if text.trim_start().starts_with('{') {
            let result: Written =
                serde_json::from_str(&text).map_err(|error| CliError::input(format!("{path}: {error}")))?;
            text = format!("{}\n{}", result.solution.program, result.solution.certificate);
        }
        let certificate = Certificate::read(&text).map_err(|error| CliError::input(format!("{path}: {error}")))?;
        let Some(certificate) = certificate else {
            let hint = "labrys optimize writes one below the program, in lines that start with ';! '";
            return Err(CliError::input(format!("{path}: there is no certificate")).with_hint(Some(hint)));
        };
        let has_forms = text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with(';'));
        Ok(Self { certificate, program: has_forms.then_some(text) })
    }
}

/// Whether a file is a program, and not a model or a graph.
pub(crate) fn is_program(path: &str) -> bool {
    path.ends_with(".ks")
}

/// Checks an optimised program: what is wrong in words, or what was found right.
pub(crate) fn check(program: &str, optimised: &str) -> Result<Result<String, String>, CliError> {
    let (_, mut program) = ks::load(&[program.to_owned()])?;
    let found = Optimised::read(optimised)?;
    match verify(&mut program, &found.certificate, found.program.as_deref(), (SAMPLES, Seed(0))) {
        Ok(report) => Ok(Ok(summary(&report, found.program.is_some()))),
        Err(refused) if refused.is_our_fault() => Err(CliError::bug(format!("{optimised}: {refused}"))),
        Err(Refused::Source(error)) => Err(CliError::input(error)),
        Err(refused) => Ok(Err(refused.to_string())),
    }
}

fn summary(report: &Report, has_program: bool) -> String {
    let Report { functions, steps, calls, unknown } = report;
    let lead = if has_program { ", which lead to the program" } else { "" };
    let open = if *unknown > 0 { format!(", of {unknown} nothing can be said") } else { String::new() };
    format!(
        "valid: {steps} rewrites of {functions} functions done again{lead}; {calls} random calls give the same{open}"
    )
}

/// `labrys explain`: what each step of a certificate brought, and where.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), CliError> {
    let (sources, mut program) = ks::load(std::slice::from_ref(&args.program))?;
    let found = Optimised::read(&args.certificate)?;
    let functions = replay(&mut program, &found.certificate)
        .map_err(|error| CliError::infeasible(format!("{}: {error}", args.certificate)))?;
    let lines = explain(&mut program, &functions, &mut CostTable::default());
    if args.json {
        let rows: Vec<serde_json::Value> = lines.iter().map(|line| row(&sources, line)).collect();
        let value = serde_json::json!({ "schema": "labrys-explanation", "version": 1, "rows": rows });
        return output::to_stdout(|out| writeln!(out, "{value}"));
    }
    let functions = lines.chunk_by(|a, b| a.function == b.function);
    let steps: String = functions.map(|lines| steps(&sources, lines) + "\n").collect();
    let shown = steps + &totals(&lines);
    output::to_stdout(|out| out.write_all(shown.as_bytes()))
}

/// File, line and column.
fn place(sources: &Sources, span: Option<Span>) -> String {
    let Some(span) = span else { return String::new() };
    let (line, column) = sources.position(span);
    format!("{}:{line}:{column}", sources.file(span.file).name)
}

fn row(sources: &Sources, line: &Line) -> serde_json::Value {
    serde_json::json!({
        "function": line.function, "step": line.step, "rule": line.rule, "place": place(sources, line.place),
        "before": line.before, "after": line.after,
    })
}

/// The first line of what stands at a place, at most so many characters.
fn excerpt(sources: &Sources, span: Option<Span>) -> String {
    const LONGEST: usize = 40;
    let text = span.map_or("", |span| sources.text(span));
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST - 1).chain(['…']).collect() }
}

/// The steps of one function.
fn steps(sources: &Sources, lines: &[Line]) -> String {
    let columns = [
        ("step", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("at", Align::Left),
        ("what stands there", Align::Left),
    ];
    let function = lines.first().map_or("", |line| &line.function);
    let mut table = Table::new(function, &columns);
    for line in lines {
        table.push([
            Cell::Text(line.step.clone()),
            Cell::Number(line.before, 4),
            Cell::Number(line.after, 4),
            Cell::Text(place(sources, line.place)),
            Cell::Text(excerpt(sources, line.place)),
        ]);
    }
    table.to_text()
}

fn totals(lines: &[Line]) -> String {
    let mut table = Table::new("rules", &[("rule", Align::Left), ("used", Align::Right), ("saved", Align::Right)]);
    for (rule, used, saved) in by_rule(lines) {
        table.push([Cell::Text(rule.to_owned()), Cell::Text(used.to_string()), Cell::Number(saved, 4)]);
    }
    table.to_text()
}
