//! `labrys train vertex-cover|independent-set|max-cut|tsp` from end to end: the same policy from any number of ranks, and after a stop.

mod common;

use common::{labrys, scratch};
use std::path::Path;

const CONFIG: &str = "
[data]
families = [\"er\", \"ba\"]
nodes = [12, 20]
graphs = 3
held-back = 2
[dqn]
minibatch = 2
epsilon-steps = 10
[training]
steps = STEPS
validate-every = 6
save-every = 4
";

fn train(problem: &str, folder: &Path, steps: u32, more: &[&str]) {
    let config = folder.with_extension("toml");
    std::fs::write(&config, CONFIG.replace("STEPS", &steps.to_string())).unwrap();
    labrys().args(["train", problem, "--config"]).arg(&config).arg("-o").arg(folder).args(more).assert().success();
}

#[test]
fn ranks_and_stops_give_the_same_policy() {
    let folder = scratch();
    for problem in ["vertex-cover", "independent-set", "max-cut", "tsp"] {
        let run = |name: &str| folder.path().join(format!("{problem}-{name}"));
        train(problem, &run("one"), 12, &[]);
        train(problem, &run("three"), 12, &["--ranks", "3", "--exchange", "all-gather"]);
        train(problem, &run("parts"), 6, &[]);
        train(problem, &run("parts"), 12, &["--ranks", "2"]);
        let file = |name: &str, file: &str| std::fs::read(run(name).join(file)).unwrap();
        for name in ["best.safetensors", "metrics.jsonl"] {
            assert!(file("one", name) == file("three", name), "{problem} {name}: ranks");
            assert!(file("one", name) == file("parts", name), "{problem} {name}: stopped");
        }
    }
}

#[test]
fn settings_that_cannot_be_followed_are_named() {
    let folder = scratch();
    let config = folder.path().join("config.toml");
    for (text, said) in [("[model]\ndimension = 20\n", "multiple of 16"), ("[data]\nnodes = [9, 3]\n", "nodes is")] {
        std::fs::write(&config, text).unwrap();
        let mut command = labrys();
        command.args(["train", "vertex-cover", "--config"]).arg(&config).arg("-o").arg(folder.path().join("run"));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(said));
    }
}
