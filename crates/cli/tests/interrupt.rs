//! Ctrl-C and SIGTERM: the best plan so far, written and checked.
#![cfg(unix)]

mod common;

use common::{labrys, scratch};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A search that would not end by itself: the bound on the peak of synthetic graphs is not tight.
fn start(model: &str, plan: &str) -> Child {
    let binary = labrys().get_program().to_owned();
    let args = ["place", model, "--objective", "peak-memory", "--devices", "2", "--preset", "quality", "-o", plan];
    Command::new(binary).args(args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_signal_gives_the_best_plan_so_far() {
    for name in ["-INT", "-TERM"] {
        let folder = scratch();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        labrys().args(["generate", "synthetic-ops", "--unfiltered", "-o", &path("")]).assert().success();
        let (model, plan) = (path("synthetic-0.pb"), path("plan.json"));
        let child = start(&model, &plan);
        std::thread::sleep(Duration::from_millis(1500));
        signal(&child, name);
        let stopped = Instant::now();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        assert!(stderr.contains("stopped: interrupted"), "{stderr}");
        assert!(stopped.elapsed() < Duration::from_secs(20));
        labrys().args(["check", &model, &plan]).assert().success();
    }
}

#[test]
fn a_signal_leaves_the_table_of_what_is_done() {
    let binary = labrys().get_program().to_owned();
    let args = ["bench", "placement", "--short", "--unfiltered", "--portfolio", "300ms", "--graphs", "60"];
    let child = Command::new(binary).args(args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("interrupted after"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("BRKGA 5K"));
}
