//! `labrys train` and `--guide` from end to end.

mod common;

use common::{labrys, scratch, squeezenet};
use std::path::Path;

const CONFIG: &str = "
[data]
graphs = 4
held-back = 2
work = 2_000
[network]
hidden = 8
rounds = 2
[training]
steps = STEPS
validate-every = 2
";

fn train(folder: &Path, steps: u32, threads: u32) {
    let config = folder.with_extension("toml");
    std::fs::write(&config, CONFIG.replace("STEPS", &steps.to_string())).unwrap();
    let run = ["train", "placement-order", "--threads", &threads.to_string(), "--config"].map(str::to_owned);
    labrys().args(run).arg(&config).arg("-o").arg(folder).assert().success();
}

#[test]
fn a_run_in_two_parts_on_two_threads_gives_the_same_policy() {
    let folder = scratch();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    train(&whole, 6, 1);
    train(&parts, 3, 2);
    train(&parts, 6, 2);
    let policy = |run: &Path| std::fs::read(run.join("best.safetensors")).unwrap();
    assert!(policy(&whole) == policy(&parts));
    assert_eq!(std::fs::read_to_string(whole.join("experts.jsonl")).unwrap().lines().count(), 7);
    let guide = whole.join("best.safetensors").to_string_lossy().into_owned();
    let args = ["place", &squeezenet(), "--objective", "peak-memory", "--guide", &guide, "--work-limit", "500"];
    labrys().args(args).assert().success();
}

#[test]
fn every_guide_gives_a_checked_plan_and_its_time_is_told() {
    for guide in ["none", "random", "greedy", "model"] {
        let args =
            ["place", &squeezenet(), "--objective", "peak-memory", "--guide", guide, "--work-limit", "500", "-v"];
        let result = labrys().args(args).assert().success();
        let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert!(stderr.contains("· guide "), "{stderr}");
    }
}

#[test]
fn a_guide_that_is_no_model_is_named() {
    let model = squeezenet();
    for (guide, expected) in [("no-such-file", "no-such-file"), (model.as_str(), "not a checkpoint")] {
        let result = labrys().args(["place", &model, "--guide", guide]).assert().code(2);
        let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert!(stderr.contains(expected) && stderr.contains("none, random, greedy"), "{stderr}");
    }
}
