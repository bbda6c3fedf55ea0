use super::messages::{Expression, Kind};
use super::*;
use crate::check::check_order;
use crate::problem::{DeviceId, Link, Step, Weights};
use crate::random_graph::decorated;
use crate::{baselines, bounds};
use labrys_dataflow::{Graph, TensorId};
use labrys_search::{Limits, Seed};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A problem that the models know, of every kind.
fn problem(number: u64, most_ops: usize) -> Problem {
    let objective = if number.is_multiple_of(2) { Objective::Makespan } else { Objective::PeakMemory };
    let devices = 1 + (number / 2 % 3) as usize;
    let mut problem = Problem::new(decorated(number, most_ops), devices, objective);
    if number % 5 == 1 {
        problem = problem.with_link(Link { bandwidth: Some(1e6), latency: 1_000 });
    }
    if number % 7 == 1 {
        problem = problem.with_weights(Weights::Ignored);
    }
    if number % 11 < 4 {
        problem.times.push(problem.times[0].iter().map(|time| time * 3 / 2).collect());
        problem.devices.iter_mut().skip(1).for_each(|device| device.class = 1);
    }
    problem
}

fn formulation<'p>(problem: &'p Problem, start: &Plan) -> Box<dyn Formulation + 'p> {
    let bound = crate::solve::bound(problem);
    match problem.objective {
        Objective::Makespan => Box::new(makespan::Makespan::new(problem, bound, Some(start))),
        Objective::PeakMemory => Box::new(peak::Peak::new(problem, bound)),
    }
}

fn value(expression: Option<&Expression>, values: &[i64]) -> i64 {
    let expression = expression.expect("every expression in use is set");
    let terms = expression.vars.iter().zip(&expression.coeffs).map(|(&v, c)| values[v as usize] * c);
    terms.sum::<i64>() + expression.offset
}

/// What the values break: the constraints of the messages in use, said again and naively.
fn violations(model: &CpModel, values: &[i64]) -> Vec<usize> {
    let holds = |literals: &[i32]| literals.iter().filter(|&&l| values[l as usize] == 1).count();
    let is_active = |i: i32| {
        let enforced = &model.constraints[i as usize].enforcement_literal;
        holds(enforced) == enforced.len()
    };
    let span = |i: i32| {
        let Some(Kind::Interval(interval)) = &model.constraints[i as usize].kind else { panic!("{i} is no interval") };
        (value(interval.start.as_ref(), values), value(interval.end.as_ref(), values))
    };
    let in_order = |[a, b]: [(i64, i64); 2]| a.1 <= b.0 || b.1 <= a.0;
    let satisfied = |kind: &Kind| match kind {
        Kind::BoolOr(any) => holds(&any.literals) > 0,
        Kind::ExactlyOne(one) => holds(&one.literals) == 1,
        Kind::Linear(sum) => {
            let total: i64 = sum.vars.iter().zip(&sum.coeffs).map(|(&v, c)| values[v as usize] * c).sum();
            (sum.domain[0]..=sum.domain[1]).contains(&total)
        }
        Kind::Interval(i) => {
            let size = value(i.size.as_ref(), values);
            size >= 0 && value(i.start.as_ref(), values) + size == value(i.end.as_ref(), values)
        }
        Kind::NoOverlap(these) => {
            let active: Vec<_> = these.intervals.iter().copied().filter(|&i| is_active(i)).map(span).collect();
            active.iter().enumerate().all(|(i, &a)| active[..i].iter().all(|&b| in_order([a, b])))
        }
        Kind::Cumulative(c) => {
            let running: Vec<_> = c
                .intervals
                .iter()
                .zip(&c.demands)
                .filter(|(i, _)| is_active(**i))
                .map(|(&i, d)| (span(i), d))
                .collect();
            let load = |time| {
                let now = running.iter().filter(|((start, end), _)| (*start..*end).contains(&time));
                now.map(|(_, demand)| value(Some(demand), values)).sum::<i64>()
            };
            running.iter().all(|((start, _), _)| load(*start) <= value(c.capacity.as_ref(), values))
        }
    };
    let in_domain =
        |(v, variable): (&i64, &messages::IntegerVariable)| (variable.domain[0]..=variable.domain[1]).contains(v);
    assert!(values.iter().zip(&model.variables).all(in_domain), "a variable is out of its domain");
    let broken = |&i: &usize| {
        is_active(i as i32) && !satisfied(model.constraints[i].kind.as_ref().expect("every constraint has a kind"))
    };
    (0..model.constraints.len()).filter(broken).collect()
}

fn objective(model: &CpModel, values: &[i64]) -> u64 {
    values[model.objective.as_ref().expect("both models minimise").vars[0] as usize] as u64
}

#[test]
fn every_plan_is_a_solution_of_the_model_at_its_own_cost() {
    for number in 0..400 {
        let problem = problem(number, 24);
        let plan = baselines::random::plan(&problem, &mut Seed(number).stream("plan", 0));
        let formulation = formulation(&problem, &plan);
        let values = formulation.assignment(&plan);
        assert_eq!(violations(formulation.model(), &values), [0; 0], "problem {number}");
        let cost = problem.score(&check_order(&problem, &plan).unwrap()).value;
        assert_eq!(objective(formulation.model(), &values) * formulation.unit(), cost, "problem {number}");
        let again = formulation.plan(&values);
        let decoded = problem.score(&check_order(&problem, &again).unwrap()).value;
        assert!(decoded <= cost, "problem {number}: {decoded} after the round trip, {cost} before");
    }
}

#[test]
fn no_plan_is_cheaper_in_the_model_than_it_is() {
    let mut caught = 0;
    for number in 0..40 {
        let problem = problem(number, 12);
        let plan = baselines::random::plan(&problem, &mut Seed(number).stream("plan", 0));
        let formulation = formulation(&problem, &plan);
        let values = formulation.assignment(&plan);
        let objective = formulation.model().objective.as_ref().unwrap().vars[0] as usize;
        let mut better = values.clone();
        better[objective] -= 1;
        if better[objective] >= formulation.model().variables[objective].domain[0] {
            caught += 1;
            assert!(!violations(formulation.model(), &better).is_empty(), "problem {number} has a cheaper objective");
        }
    }
    assert!(caught > 10, "only {caught} problems have room below their plan");
}

#[test]
fn what_it_does_not_model_is_said() {
    let base = || Problem::new(decorated(3, 9), 2, Objective::Makespan);
    assert!(applies(&base()));
    assert!(!applies(&base().with_memory(1 << 20)));
    assert!(!applies(&base().with_transfers(Transfers::Asynchronous)));
}

/// The library that `LABRYS_ORTOOLS` names.
#[allow(clippy::print_stderr)] // a skipped test says so
fn library() -> Option<Library> {
    let Some(path) = std::env::var_os("LABRYS_ORTOOLS") else {
        eprintln!("SKIPPED: no OR-Tools; set LABRYS_ORTOOLS to its library or to the folder of its Python package");
        return None;
    };
    Some(Library::open(Path::new(&path)).unwrap())
}

/// The least score of all plans, by enumeration of placements and step sequences.
struct Enumeration<'p> {
    problem: &'p Problem,
    plan: Plan,
    best: u64,
}

impl<'p> Enumeration<'p> {
    fn optimum(problem: &'p Problem) -> u64 {
        let (ops, devices) = (problem.graph.op_count() as u32, problem.device_count() as u32);
        let mut search = Enumeration { problem, plan: Plan::default(), best: u64::MAX };
        for placement in 0..devices.pow(ops) {
            search.plan.device = (0..ops).map(|op| DeviceId(placement / devices.pow(op) % devices)).collect();
            search.extend();
        }
        search.best
    }

    fn extend(&mut self) {
        let graph: &Graph = &self.problem.graph;
        let done = |step: Step| self.plan.steps.contains(&step);
        let device = |op| self.plan.device[labrys_graph::Id::index(op)];
        let here = |tensor: TensorId, to: DeviceId| {
            let producer = graph.producer(tensor);
            if device(producer) == to { done(Step::Run(producer)) } else { done(Step::Transfer { tensor, to }) }
        };
        let ready = |op: &labrys_dataflow::OpId| {
            !done(Step::Run(*op))
                && graph.inputs(*op).iter().all(|&t| here(t, device(*op)))
                && graph.control(*op).iter().all(|&before| done(Step::Run(before)))
        };
        let mut next: Vec<Step> = graph.ops().filter(ready).map(Step::Run).collect();
        for tensor in graph.tensors().filter(|&t| done(Step::Run(graph.producer(t)))) {
            let needed = |to: &DeviceId| {
                let waiting = |&c: &labrys_dataflow::OpId| device(c) == *to && !done(Step::Run(c));
                !here(tensor, *to) && graph.consumers(tensor).iter().any(waiting)
            };
            next.extend(self.problem.device_ids().filter(needed).map(|to| Step::Transfer { tensor, to }));
        }
        if next.is_empty() {
            let cost = Simulator::new(self.problem).simulate(&self.plan);
            self.best = self.best.min(self.problem.score(&cost).value);
        }
        for step in next {
            self.plan.steps.push(step);
            self.extend();
            self.plan.steps.pop();
        }
    }
}

#[test]
fn its_optimum_is_that_of_enumeration() {
    let Some(library) = library() else { return };
    for number in 0..60 {
        let problem = problem(number, 5);
        if problem.graph.op_count() * problem.device_count() > 10 {
            continue;
        }
        let mut run = Runner::new(Limits { time: Some(Duration::from_secs(60)), work: None }, Seed(number));
        let bound = search(&problem, &library, &mut run).unwrap();
        let (score, plan) = run.finish().best.expect("a plan always exists");
        assert_eq!(check_order(&problem, &plan).map(|cost| problem.score(&cost)), Ok(score), "problem {number}");
        assert_eq!(score.value, Enumeration::optimum(&problem), "problem {number}");
        assert_eq!(bound, score.value, "problem {number} is proven optimal");
    }
}

#[test]
fn an_interrupt_ends_the_search_with_a_plan() {
    let Some(library) = library() else { return };
    let graph = Arc::new(crate::synthetic::graph(Seed(0), 3));
    let problem = Problem::new(graph, 2, Objective::PeakMemory);
    let flag = Arc::new(AtomicBool::new(false));
    let mut run = Runner::new(Limits { time: Some(Duration::from_secs(600)), work: None }, Seed(0))
        .with_interrupt(Arc::clone(&flag))
        .with_bound(bounds::memory(&problem, bounds::DEFAULT_BUDGET));
    let start = baselines::gp_dfs::plan(&problem);
    run.offer(problem.score(&Simulator::new(&problem).simulate(&start)), "start", || start);
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        search(&problem, &library, &mut run).unwrap();
    });
    assert!(started.elapsed() < Duration::from_secs(300), "the search ignored the interrupt");
    assert!(run.best().is_some());
}
