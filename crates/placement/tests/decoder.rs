//! The fast decoder against its oracle, and plans encoded back into chromosomes.

use labrys_placement::decode::{PaperDecoder, encode, heap::HeapDecoder};
use labrys_placement::{Objective, Plan, Problem, Simulator, Transfers, check, synthetic};
use labrys_search::brkga::Decoder as _;
use labrys_search::{Score, Seed};
use rand::RngExt as _;
use std::sync::Arc;

fn problem(number: u64, devices: usize, objective: Objective) -> Problem {
    Problem::new(Arc::new(synthetic::graph(Seed(9), number)), devices, objective)
}

#[test]
fn fast_and_textbook_decoders_agree() {
    for number in 0..40 {
        for (devices, objective) in
            [(1, Objective::Makespan), (2, Objective::Makespan), (3, Objective::PeakMemory), (70, Objective::Makespan)]
        {
            let problem = problem(number, devices, objective).with_transfers(if number % 2 == 0 {
                Transfers::Synchronous
            } else {
                Transfers::Asynchronous
            });
            let decoder = PaperDecoder::new(&problem);
            let mut textbook = HeapDecoder::new(&problem);
            let mut rng = Seed(number).stream("keys", 0);
            // Few distinct keys make ties, which must break alike.
            let levels = [4.0f32, 1e9][number as usize % 2];
            let keys: Vec<f32> =
                (0..decoder.genes()).map(|_| (rng.random::<f32>() * levels).floor() / levels).collect();
            let plan = decoder.plan(&keys);
            assert_eq!(&plan, textbook.decode(&keys));
            let cost = Simulator::new(&problem).simulate(&plan);
            assert_eq!(check(&problem, &plan), Ok(cost.clone()));
            assert_eq!(decoder.evaluate(&keys, &mut decoder.scratch()), problem.score(&cost));
        }
    }
}

#[test]
fn hostile_keys_decode_to_valid_plans() {
    let problem = problem(1, 2, Objective::Makespan);
    let decoder = PaperDecoder::new(&problem);
    for key in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 2.0, 1.0, f32::MIN_POSITIVE] {
        let keys = vec![key; decoder.genes()];
        assert!(check(&problem, &decoder.plan(&keys)).is_ok(), "{key}");
    }
}

#[test]
fn an_encoded_plan_decodes_to_itself() {
    for number in 0..20 {
        let problem = problem(number, 2, Objective::PeakMemory);
        let random = labrys_placement::baselines::random::plan(&problem, &mut Seed(number).stream("plan", 0));
        let decoded: Plan = PaperDecoder::new(&problem).plan(&encode(&problem, &random));
        assert_eq!(decoded, random);
        assert_ne!(problem.score(&Simulator::new(&problem).simulate(&decoded)), Score::WORST);
    }
}
