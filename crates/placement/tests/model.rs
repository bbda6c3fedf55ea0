//! The performance model: the paper's own example, and the simulator against the independent checker.

mod common;

use common::problems;
use labrys_dataflow::{GraphBuilder, OpId, TensorId, TimeSource};
use labrys_placement::{
    Cost, DeviceId, Objective, Observer, Plan, Problem, Simulator, Step, Violation, baselines, check, synthetic,
};
use labrys_search::Seed;
use proptest::prelude::*;
use std::sync::Arc;

/// Figure 10: op 1 makes A and B, op 2 turns A into C, op 3 turns B into D, op 4 turns C into E, op 5 takes D and E.
fn figure_10() -> (Problem, Plan) {
    let mut b = GraphBuilder::new("figure 10");
    let ops: Vec<OpId> = (1..=5).map(|i| b.op(&i.to_string(), "op")).collect();
    for &op in &ops {
        b.set_time(op, 10, TimeSource::Measured);
    }
    // Powers of two, so that a sum tells which tensors are held.
    let a = b.output(ops[0], "A", 1);
    let bb = b.output(ops[0], "B", 2);
    let c = b.output(ops[1], "C", 4);
    let d = b.output(ops[2], "D", 8);
    let e = b.output(ops[3], "E", 16);
    for (op, tensor) in [(1, a), (2, bb), (3, c), (4, d), (4, e)] {
        b.input(ops[op], tensor);
    }
    let problem = Problem::new(Arc::new(b.build().unwrap()), 2, Objective::PeakMemory);
    let device = [0, 0, 1, 0, 0].map(DeviceId).to_vec();
    let steps = vec![
        Step::Run(ops[0]),
        Step::Transfer { tensor: bb, to: DeviceId(1) },
        Step::Run(ops[1]),
        Step::Run(ops[2]),
        Step::Run(ops[3]),
        Step::Transfer { tensor: d, to: DeviceId(0) },
        Step::Run(ops[4]),
    ];
    (problem, Plan { device, steps })
}

#[derive(Default)]
struct Memory(Vec<(String, u64)>);

impl Observer for Memory {
    fn ran(&mut self, op: OpId, device: DeviceId, _: u64, _: u64, memory: u64) {
        self.0.push((format!("run {} on {}", op.0 + 1, device.0 + 1), memory));
    }
    fn transferred(&mut self, tensor: TensorId, _: [DeviceId; 2], _: u64, _: u64, memory: [u64; 2]) {
        self.0.push((format!("transfer {} from", tensor.0), memory[0]));
        self.0.push((format!("transfer {} to", tensor.0), memory[1]));
    }
}

#[test]
fn figure_10_memory_step_by_step() {
    let (problem, plan) = figure_10();
    let mut memory = Memory::default();
    let cost = Simulator::new(&problem).observe(&plan, &mut memory);
    let (a, b, c, d, e) = (1, 2, 4, 8, 16);
    let expected = [
        ("run 1 on 1", a + b),
        ("transfer 1 from", a + b),
        ("transfer 1 to", b),
        ("run 2 on 1", a + c),
        ("run 3 on 2", b + d),
        ("run 4 on 1", c + e),
        ("transfer 3 from", d),
        ("transfer 3 to", e + d),
        ("run 5 on 1", d + e),
    ];
    assert_eq!(memory.0, expected.map(|(step, sum)| (step.to_owned(), sum)));
    assert_eq!(cost, Cost { makespan: 40, peaks: vec![d + e, b + d] });
    assert_eq!(check(&problem, &plan), Ok(cost));
}

#[test]
fn memory_is_a_hard_limit() {
    let (problem, plan) = figure_10();
    assert!(check(&problem.clone().with_memory(24), &plan).is_ok());
    let violation = Violation::OutOfMemory { device: "device0".into(), peak: 24, memory: 23 };
    assert_eq!(check(&problem.with_memory(23), &plan), Err(violation));
}

#[test]
fn the_checker_refuses_what_is_wrong() {
    let (problem, plan) = figure_10();
    let broken = |edit: fn(&mut Plan)| {
        let mut plan = plan.clone();
        edit(&mut plan);
        check(&problem, &plan).unwrap_err().to_string()
    };
    type Edit = fn(&mut Plan);
    let cases: [(Edit, &str); 8] = [
        (|p| p.steps.swap(0, 2), "step 0: op '2' needs tensor 'A', which is not on device0 yet"),
        (|p| p.steps.swap(0, 1), "step 0: tensor 'B' is transferred before it is produced"),
        (|p| _ = p.steps.remove(1), "step 2: op '3' needs tensor 'B', which is not on device1 yet"),
        (|p| _ = p.steps.pop(), "op '5' never runs"),
        (|p| p.steps.insert(3, p.steps[2]), "step 3: op '2' has run before"),
        (|p| p.steps.insert(2, p.steps[1]), "step 2: the transfer of tensor 'B' to device1 serves no op"),
        (|p| p.device[0] = DeviceId(9), "op '1' is on device 9, but there are only 2"),
        (|p| _ = p.device.pop(), "the plan places 4 ops, the model has 5"),
    ];
    for (edit, message) in cases {
        let found = broken(edit);
        assert_eq!(found, message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn simulator_and_checker_agree((problem, seed) in problems()) {
        let mut simulator = Simulator::new(&problem);
        for number in 0..3 {
            let plan = baselines::random::plan(&problem, &mut Seed(seed).stream("plan", number));
            prop_assert_eq!(Ok(simulator.simulate(&plan)), check(&problem, &plan));
        }
    }

    #[test]
    fn lazy_transfers_are_valid((problem, seed) in problems()) {
        let random = baselines::random::plan(&problem, &mut Seed(seed).stream("plan", 0));
        let order: Vec<OpId> = random.order().collect();
        let plan = Plan::with_lazy_transfers(&problem.graph, random.device, &order, problem.device_count());
        prop_assert_eq!(Ok(Simulator::new(&problem).simulate(&plan)), check(&problem, &plan));
    }
}

#[test]
fn the_simulator_walks_synthetic_graphs() {
    for number in 0..20 {
        let problem = Problem::new(Arc::new(synthetic::graph(Seed(0), number)), 2, Objective::Makespan);
        let plan = baselines::random::plan(&problem, &mut Seed(0).stream("plan", number));
        assert_eq!(Ok(Simulator::new(&problem).simulate(&plan)), check(&problem, &plan));
    }
}
