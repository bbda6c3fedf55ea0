//! `labrys place`: from a model to a checked plan.

use crate::args::{Preset, RunFlags};
use crate::convert::draw;
use crate::error::CliError;
use crate::guide::Timed;
use crate::load::{self, ModelFlags};
use crate::output;
use crate::problem_flags::ProblemFlags;
use crate::progress::Progress;
use crate::{interrupt, place_report, summary};
use clap::Args;
use labrys_dataflow::{OpId, onnx, read::Source};
use labrys_placement::plan_file::PlanFile;
use labrys_placement::solve::{self, Effort, Method};
use labrys_placement::{self as placement, Cost, Plan, Problem, Settings, arena, explain, present};
use labrys_report::perfetto;
use labrys_search::{Limits, Outcome, Runner, Score};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Args, Debug)]
pub(crate) struct PlaceArgs {
    /// The model: ONNX, HLO text, CostGraphDef or JSON, gzipped or not; - is stdin
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) problem: ProblemFlags,
    #[command(flatten)]
    input: ModelFlags,
    #[command(flatten)]
    pub(crate) run: RunFlags,
    /// Start from this plan; the result is never worse
    #[arg(long, value_name = "PLAN")]
    start: Option<String>,
    /// Which method searches: portfolio, or one of the baselines brkga, tuned-brkga, local-search, gp-dfs, list, heft, random
    #[arg(long, value_parser = method, default_value = "portfolio")]
    method: Method,
    /// Write the ONNX model reordered, with the device of each node
    #[arg(long, value_name = "FILE")]
    onnx: Option<PathBuf>,
    /// Draw the placement with Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Most ops that the drawing shows
    #[arg(long, value_name = "N", default_value_t = 500)]
    dot_limit: usize,
}

fn method(name: &str) -> Result<Method, String> {
    let known = || Method::ALL.map(Method::name).join(", ");
    Method::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| format!("expected one of {}", known()))
}

/// A plan that has passed its check, with all that the outputs need.
pub(crate) struct Placed {
    pub(crate) problem: Problem,
    pub(crate) plan: Plan,
    pub(crate) cost: Cost,
    pub(crate) bound: u64,
    pub(crate) outcome: Outcome<Plan>,
    pub(crate) arena: arena::ArenaPlan,
    /// Wall-clock time of each stage.
    pub(crate) stages: Vec<(&'static str, Duration)>,
}

/// Times the stages of a run.
struct Stages {
    last: Instant,
    done: Vec<(&'static str, Duration)>,
}

impl Stages {
    fn new(started: Instant) -> Self {
        Self { last: started, done: vec![] }
    }

    /// The stage that began when the last one ended is over.
    fn end(&mut self, name: &'static str) {
        let now = Instant::now();
        self.done.push((name, now - std::mem::replace(&mut self.last, now)));
    }

    /// Part of the stage that ended last is a stage of its own.
    fn move_out(&mut self, name: &'static str, time: Duration) {
        if let Some((_, last)) = self.done.last_mut() {
            *last = last.saturating_sub(time);
        }
        self.done.push((name, time));
    }
}

pub(crate) fn run(args: &PlaceArgs, started: Instant) -> Result<(), CliError> {
    output::be_quiet(args.run.quiet);
    check_outputs(args)?;
    let settings = args.problem.settings()?;
    let loaded = args.input.load(&args.model)?;
    if args.onnx.is_some() && !matches!(loaded.source, Source::Onnx { .. }) {
        return Err(
            CliError::input("--onnx needs an ONNX model").with_hint(Some("see labrys convert for other formats"))
        );
    }
    let problem = settings.problem(loaded.graph).map_err(CliError::input)?;
    let start = args.start.as_ref().map(|path| start_plan(path, &problem)).transpose()?;
    let placed = args.run.in_pool(|| place(args, problem, start, started))?;
    write_outputs(args, &placed, settings, &loaded.source)?;
    summary::print(args, &placed, started.elapsed());
    Ok(())
}

/// Finds out before the search whether every output can be written, and that stdout is not asked to hold two.
fn check_outputs(args: &PlaceArgs) -> Result<(), CliError> {
    let run = &args.run;
    let paths = [&run.output, &run.trace, &run.report, &args.onnx, &args.dot].into_iter().flatten();
    let to_stdout = paths.clone().filter(|path| path.as_os_str() == "-").count() + usize::from(run.json);
    if to_stdout > 1 {
        return Err(CliError::input(format!("{to_stdout} outputs are to go to stdout, which holds one"))
            .with_hint(Some("give the others a file; --json prints the plan, too")));
    }
    paths.into_iter().try_for_each(|path| output::probe(path))
}

/// A plan file to start from, checked for everything but the memory limit.
fn start_plan(path: &str, problem: &Problem) -> Result<Plan, CliError> {
    let bytes = load::bytes(path)?;
    let in_plan = |error: &dyn std::fmt::Display| CliError::input(format!("{path}: {error}"));
    let file: PlanFile<'_> = serde_json::from_slice(&bytes).map_err(|error| in_plan(&error))?;
    file.matches(&problem.graph).map_err(|error| in_plan(&error))?;
    let plan = file.plan();
    placement::check::check_order(problem, &plan).map_err(|violation| in_plan(&violation))?;
    Ok(plan)
}

/// What the check and the memory plan take for each op, roughly.
const AFTER_SEARCH_PER_OP: Duration = Duration::from_micros(4);

/// Limits of the presets where the user gives none. The default's work limit is what usually ends it, so that its result is
/// reproducible; its time limit keeps large models below a second.
///
/// What comes after the search, the check and the memory plan, has its time set aside.
fn limits(args: &PlaceArgs, ops: usize, started: Instant) -> Limits {
    let mut limits = args.run.limits(started);
    let given = args.run.time_limit.is_some() || args.run.work_limit.is_some();
    match args.run.preset {
        // A baseline has no constructive part of its own: the quick preset gives it the default's limits.
        Preset::Fast if !given && args.method == Method::Portfolio => {}
        Preset::Fast | Preset::Default if !given => {
            limits.time = Some(Duration::from_secs(1).saturating_sub(started.elapsed()));
            limits.work = Some(solve::DEFAULT_WORK);
        }
        Preset::Quality if !given => limits.time = Some(Duration::from_secs(60)),
        _ => {}
    }
    let afterwards = AFTER_SEARCH_PER_OP * u32::try_from(ops).unwrap_or(u32::MAX);
    limits.time = limits.time.map(|time| time.saturating_sub(afterwards).max(time / 2));
    limits
}

/// Effort of the memory plan: about 10 ns a unit for each device.
fn arena_budget(preset: Preset) -> u64 {
    match preset {
        Preset::Fast => arena::DEFAULT_BUDGET / 200,
        Preset::Default => arena::DEFAULT_BUDGET / 10,
        Preset::Quality => arena::DEFAULT_BUDGET,
    }
}

fn place(args: &PlaceArgs, problem: Problem, start: Option<Plan>, started: Instant) -> Result<Placed, CliError> {
    let mut stages = Stages::new(started);
    stages.end("read");
    let interrupt = interrupt::flag();
    let guide = Timed::new(args.run.guide.of_orders(args.run.seed())?);
    let bound = solve::bound(&problem);
    stages.end("bound");
    let run = Runner::new(limits(args, problem.graph.op_count(), started), args.run.seed())
        .with_bound(bound)
        .with_interrupt(interrupt);
    let mut outcome = search(args, &problem, start, &guide, run);
    stages.end("search");
    stages.move_out("guide", guide.time());
    let (score, plan) = feasible(&problem, outcome.best.take())?;
    let cost = verified(&problem, &plan, score, bound)?;
    stages.end("check");
    let arena = arena::plan(&problem, &plan, arena_budget(args.run.preset));
    arena.validate().map_err(CliError::bug)?;
    stages.end("arena");
    Ok(Placed { problem, plan, cost, bound, outcome, arena, stages: stages.done })
}

fn search(
    args: &PlaceArgs,
    problem: &Problem,
    start: Option<Plan>,
    guide: &Timed,
    mut run: Runner<Plan>,
) -> Outcome<Plan> {
    let progress = Progress::new(args.run.quiet);
    let unit = summary::unit(problem.objective);
    if let Some(listener) = progress.listener(move |value| unit.show(value as f64)) {
        run = run.with_listener(listener);
    }
    let effort = if args.run.preset == Preset::Fast { Effort::Constructive } else { Effort::Search };
    solve::solve_guided(problem, args.method, effort, start, guide.as_guide(), &mut run);
    run.finish()
}

/// The best plan, or why there is none within the memory limits.
fn feasible(problem: &Problem, best: Option<(Score, Plan)>) -> Result<(Score, Plan), CliError> {
    let (score, plan) = best.ok_or_else(|| CliError::infeasible("the search was stopped before it found a plan"))?;
    if score.is_feasible() {
        return Ok((score, plan));
    }
    let reason = explain::infeasible(problem, score.excess);
    Err(CliError::infeasible(reason.message).with_hint(Some(reason.hint)))
}

/// The cost of a plan by the independent checker, which must agree with the search and the bound.
fn verified(problem: &Problem, plan: &Plan, score: Score, bound: u64) -> Result<Cost, CliError> {
    let cost = placement::check(problem, plan).map_err(CliError::bug)?;
    let checked = problem.score(&cost);
    if checked != score || score.value < bound {
        let message = format!("the search says {}, the checker {}, the bound {bound}", score.value, checked.value);
        return Err(CliError::bug(message));
    }
    Ok(cost)
}

fn write_outputs(args: &PlaceArgs, placed: &Placed, settings: Settings, source: &Source) -> Result<(), CliError> {
    let Placed { problem, plan, .. } = placed;
    if args.run.output.is_some() || args.run.json {
        let file = PlanFile::new(problem, plan, &placed.arena, settings, args.input.record(), placed.bound);
        if let Some(path) = &args.run.output {
            output::write(path, |out| output::json(out, &file))?;
        }
        if args.run.json {
            let result = summary::result(args, placed, &file);
            output::to_stdout(|out| output::json(out, &result))?;
        }
    }
    if let Some(path) = &args.run.trace {
        let timeline = present::timeline(problem, plan);
        output::write(path, |out| perfetto::write_trace(&timeline, out))?;
    }
    if let Some(path) = &args.run.report {
        let page = place_report::page(args, placed);
        output::write(path, |out| out.write_all(page.as_bytes()))?;
    }
    if let (Some(path), Source::Onnx { bytes, node_of_op }) = (&args.onnx, source) {
        let annotated = annotated_onnx(placed, bytes, node_of_op).map_err(|e| CliError::in_file(&args.model, &e))?;
        output::write(path, |out| out.write_all(&annotated))?;
    }
    if let Some(path) = &args.dot {
        let text = draw(&problem.graph, Some(&device_numbers(plan)), args.dot_limit);
        output::write(path, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

fn device_numbers(plan: &Plan) -> Vec<usize> {
    plan.device.iter().map(|device| device.0 as usize).collect()
}

fn annotated_onnx(placed: &Placed, bytes: &[u8], node_of_op: &[Option<u32>]) -> labrys_dataflow::Result<Vec<u8>> {
    let Placed { problem, plan, .. } = placed;
    let model = onnx::OnnxModel { graph: problem.graph.as_ref().clone(), node_of_op: node_of_op.to_vec() };
    let order: Vec<OpId> = plan.order().collect();
    let names: Vec<String> = problem.devices.iter().map(|device| device.name.clone()).collect();
    onnx::write_annotated(bytes, &model, &order, &device_numbers(plan), &names)
}
