use super::*;
use crate::{Link, Objective, Simulator, Transfers, baselines, synthetic};
use labrys_search::Seed;
use std::sync::Arc;

fn problems() -> impl Iterator<Item = (Problem, Plan)> {
    (0..40).map(|number| {
        let graph = Arc::new(synthetic::graph(Seed(6), number));
        let mut problem = Problem::new(graph, 1 + number as usize % 4, Objective::PeakMemory);
        if number % 2 == 1 {
            let link = Link { bandwidth: Some(1e6), latency: 1000 };
            problem = problem.with_transfers(Transfers::Asynchronous).with_link(link);
        }
        let plan = baselines::random::plan(&problem, &mut Seed(7).stream("plan", number));
        (problem, plan)
    })
}

#[test]
fn lifetimes_add_up_to_the_simulated_peak() {
    for (problem, schedule) in problems() {
        let arena = plan(&problem, &schedule, 0);
        let peaks: Vec<u64> = arena.devices.iter().map(|arena| arena.peak).collect();
        assert_eq!(peaks, Simulator::new(&problem).simulate(&schedule).peaks);
    }
}

#[test]
fn arenas_are_valid_and_search_only_lowers_them() {
    let (mut quick, mut searched) = (0.0, 0.0);
    for (problem, schedule) in problems() {
        let (first, better) = (plan(&problem, &schedule, 0), plan(&problem, &schedule, 2_000_000));
        assert_eq!((first.validate(), better.validate()), (Ok(()), Ok(())));
        for (first, better) in first.devices.iter().zip(&better.devices) {
            assert!(better.peak <= better.height && better.height <= first.height);
        }
        quick += first.fragmentation() / 40.0;
        searched += better.fragmentation() / 40.0;
    }
    assert!(searched < 1.03 && quick > 1.05, "{quick} {searched}");
}

#[test]
fn the_validator_sees_what_is_wrong() {
    let (problem, schedule) = problems().next().unwrap();
    let arena = plan(&problem, &schedule, 100_000);
    let meets = |a: &Buffer, b: &Buffer| a.first <= b.last && b.first <= a.last;
    let buffers = &arena.devices[0].buffers;
    for i in 1..buffers.len() {
        let Some(other) = buffers[..i].iter().find(|other| meets(other, &buffers[i])) else { continue };
        let mut broken = arena.clone();
        broken.devices[0].buffers[i].offset = other.offset;
        assert!(broken.validate().is_err());
    }
    let mut low = arena.clone();
    low.devices[0].height -= 1;
    assert!(low.validate().is_err());
}
