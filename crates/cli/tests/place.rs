//! `labrys place` and `labrys check` from end to end.

mod common;

use common::{labrys, scratch, squeezenet};
use serde_json::Value;

fn place(args: &[&str]) -> Value {
    let output = labrys().args(["place", &squeezenet(), "--json"]).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_output_is_written_and_the_plan_passes_its_check() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let outputs = [
        ("-o", "plan.json"),
        ("--trace", "trace.json"),
        ("--report", "r.html"),
        ("--onnx", "m.onnx"),
        ("--dot", "g.dot"),
    ];
    let mut command = labrys();
    command.args(["place", &squeezenet(), "--devices", "2", "--work-limit", "2000", "-v"]);
    for (flag, name) in outputs {
        command.args([flag, &path(name)]);
    }
    let result = command.assert().success();
    let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    for part in ["66 ops", "device0", "device1", "transfers", "gap", "checked", "66 estimated", "bytes an op", "arena"]
    {
        assert!(stderr.contains(part), "'{part}' is missing in\n{stderr}");
    }
    assert!(result.get_output().stdout.is_empty(), "stdout is data only");
    for (_, name) in outputs {
        assert!(folder.path().join(name).metadata().unwrap().len() > 100, "{name}");
    }
    labrys().args(["check", &squeezenet(), &path("plan.json")]).assert().success();
    // The reordered model is the same model: it can be placed again.
    labrys().args(["place", &path("m.onnx"), "-q", "--preset", "fast"]).assert().success();
}

#[test]
fn the_result_follows_the_shared_conventions() {
    let result = place(&["--objective", "peak-memory", "--devices", "2", "--work-limit", "5000"]);
    assert_eq!(result["schema"], "labrys-result");
    assert_eq!(result["command"], "place");
    let [objective, bound] = ["objective", "bound"].map(|key| result[key].as_u64().unwrap());
    assert!(bound <= objective);
    assert_eq!(result["solution"]["objective"], objective);
    assert_eq!(result["solution"]["bound"], bound);
    let trace = result["trace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap()["objective"], objective);
    assert!(trace.windows(2).all(|w| w[0]["objective"].as_u64() > w[1]["objective"].as_u64()));
}

#[test]
fn the_plan_follows_its_schema() {
    let schema: Value =
        serde_json::from_slice(&std::fs::read(common::root().join("docs/plan.schema.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for args in
        [&["--devices", "1"][..], &["--devices", "3", "--memory", "1GiB", "--link", "bandwidth=1GB/s,latency=5us"]]
    {
        let plan = place(&[args, &["--work-limit", "500"]].concat())["solution"].take();
        let errors: Vec<String> = validator.iter_errors(&plan).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    for objective in ["makespan", "peak-memory"] {
        for transfers in ["sync", "async"] {
            let run = |threads: &str| {
                let args =
                    ["--objective", objective, "--transfers", transfers, "--work-limit", "3000", "--threads", threads];
                place(&args)["solution"].take()
            };
            assert_eq!(run("1"), run("2"), "{objective} {transfers}");
        }
    }
}

#[test]
fn no_method_and_no_setting_escapes_the_checker() {
    let methods = ["portfolio", "brkga", "tuned-brkga", "local-search", "gp-dfs", "list", "heft", "random"];
    let settings: [&[&str]; 4] = [
        &["--devices", "2"],
        &["--devices", "4", "--link", "bandwidth=10GB/s,latency=2us", "--transfers", "async"],
        &["--devices", "2", "--objective", "peak-memory", "--weights", "ignored"],
        &["--device-profile", "cpu,a100,mcu", "--link", "0-1:bandwidth=1GB/s"],
    ];
    for method in methods {
        for setting in settings {
            let result = place(&[setting, &["--method", method, "--work-limit", "300"]].concat());
            assert!(result["objective"].as_u64() >= result["bound"].as_u64(), "{method} {setting:?}");
        }
    }
}

#[test]
fn a_start_is_never_made_worse_and_is_checked() {
    let folder = scratch();
    let plan = folder.path().join("plan.json");
    let plan = plan.to_str().unwrap();
    let first = place(&["--objective", "peak-memory", "--work-limit", "20000", "-o", plan]);
    let next = place(&["--objective", "peak-memory", "--work-limit", "1", "--start", plan, "--seed", "9"]);
    assert!(next["objective"].as_u64() <= first["objective"].as_u64());
}

#[test]
fn presets_order_by_effort() {
    let objective = |preset: &str| {
        let args = ["--preset", preset, "--objective", "peak-memory", "--time-limit", "300ms"];
        place(&args)["objective"].as_u64().unwrap()
    };
    assert!(objective("default") <= objective("fast"));
    assert!(objective("quality") <= objective("fast"));
}

#[test]
fn measured_times_are_used_and_counted() {
    let folder = scratch();
    let times = folder.path().join("times.csv");
    std::fs::write(&times, "name,us\n/features/0/Conv,1000\nnobody,3\n").unwrap();
    let result = labrys().args(["place", &squeezenet(), "-v", "--times", times.to_str().unwrap()]).assert().success();
    let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    assert!(stderr.contains("measured") && stderr.contains("names are no ops of the model"), "{stderr}");
}

#[test]
fn a_changed_plan_fails_its_check() {
    let folder = scratch();
    let path = folder.path().join("plan.json");
    place(&["--devices", "2", "--work-limit", "100", "-o", path.to_str().unwrap()]);
    let good: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let verdict = |edit: fn(&mut Value)| {
        let mut plan = good.clone();
        edit(&mut plan);
        std::fs::write(&path, plan.to_string()).unwrap();
        let output = labrys().args(["check", &squeezenet(), path.to_str().unwrap()]).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    type Edit = fn(&mut Value);
    let cases: [(&str, Edit, i32, &str); 13] = [
        ("moved buffer", |p| p["memory"][9]["offset"] = 0.into(), 1, "overlap"),
        ("missing buffer", |p| drop(p["memory"].as_array_mut().unwrap().pop()), 1, "no place"),
        ("claimed arena", |p| p["devices"][0]["arena_bytes"] = 1.into(), 1, "claims the arena of device0 1"),
        ("device name", |p| p["devices"][1]["name"] = "gpu".into(), 1, "device 1 is called 'gpu', but in"),
        ("claimed bound", |p| p["bound"] = 1_000_000_000.into(), 1, "claims the bound"),
        ("claimed busy time", |p| p["devices"][1]["busy_ns"] = 1.into(), 1, "claims the busy time of device1 1"),
        ("changed time", |p| p["steps"][3]["end_ns"] = 1.into(), 1, "step 3"),
        ("swapped steps", |p| p["steps"].as_array_mut().unwrap().swap(1, 5), 1, "not on device"),
        ("missing step", |p| drop(p["steps"].as_array_mut().unwrap().pop()), 1, "never runs"),
        ("claimed objective", |p| p["objective"] = 1.into(), 1, "claims the objective 1"),
        ("other device", |p| p["placement"][3] = 7.into(), 1, "on device 7"),
        ("other model", |p| p["model"]["fingerprint"] = "0".into(), 2, "another model"),
        ("other schema", |p| p["schema"] = "x".into(), 2, "expected 'labrys-plan'"),
    ];
    for (name, edit, code, message) in cases {
        let (found, stderr) = verdict(edit);
        assert_eq!(found, code, "{name}: {stderr}");
        assert!(stderr.contains(message), "{name}: {stderr}");
    }
}
