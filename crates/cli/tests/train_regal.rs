//! `labrys train` from end to end: a kill, or another number of threads, does not change a byte.

mod common;

use common::{labrys, scratch};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run of a few steps on two small graphs.
const CONFIG: &str = r#"
[data]
source = "synthetic"
seed = 3
graphs = 2
held-back = 1

[problem]
objective = "makespan"
devices = 2
evaluations = 450
validation-evaluations = 500
actions = { placement = 2, scheduling = 4, crossover = 3 }

[network]
kind = "graph"
hidden = 4
rounds = 2
aggregation = "sum"
update = "residual"

[reinforce]
rollouts = 2

[training]
steps = 8
minibatch = 2
learning-rate = 1e-2
validate-every = 3
save-every = 1
"#;

fn config(folder: &Path) -> PathBuf {
    let path = folder.join("config.toml");
    std::fs::write(&path, CONFIG).unwrap();
    path
}

fn arguments(config: &Path, output: &Path, threads: &str) -> Vec<String> {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    ["train", "placement", "--config", &path(config), "-o", &path(output), "--threads", threads]
        .map(str::to_owned)
        .to_vec()
}

/// Every file of a run with its bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, Vec<u8>)> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn neither_a_kill_nor_threads_change_a_byte() {
    let folder = scratch();
    let config = config(folder.path());
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    let result = labrys().args(arguments(&config, &whole, "2")).assert().success();
    let lines = String::from_utf8_lossy(&result.get_output().stdout).into_owned();
    // Validations after 3, 6 and 8 steps.
    assert_eq!(lines.lines().count(), 3);
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert!(last["step"] == 8 && last["score"].as_f64().unwrap() < 0.0);

    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("labrys"))
        .args(arguments(&config, &killed, "1"))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !killed.join("state.safetensors").exists() && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    labrys().args(arguments(&config, &killed, "1")).assert().success();
    assert_eq!(files(&whole), files(&killed));
}

#[test]
fn mistakes_in_the_settings_are_named() {
    let folder = scratch();
    let path = config(folder.path());
    std::fs::write(&path, CONFIG.replace("rollouts", "roll-outs")).unwrap();
    let result = labrys().args(arguments(&path, folder.path(), "1")).assert().code(2);
    let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    assert!(stderr.contains("roll-outs") && stderr.contains("config.toml"), "{stderr}");
}
