//! Every model of the data folder loads, is placed for both objectives on 1, 2 and 4 devices, and passes its check.

mod common;

use common::{labrys, models, scratch};

fn place_all(folder: &str) {
    let directory = scratch();
    let plan = directory.path().join("plan.json");
    for path in models(&[folder]) {
        let model = path.to_str().unwrap();
        for objective in ["makespan", "peak-memory"] {
            for devices in ["1", "2", "4"] {
                let args = ["--objective", objective, "--devices", devices, "--preset", "fast", "-q"];
                labrys().args(["place", model, "-o", plan.to_str().unwrap()]).args(args).assert().success();
                labrys().args(["check", "-q", model, plan.to_str().unwrap()]).assert().success();
            }
        }
    }
}

#[test]
fn onnx_models() {
    place_all("onnx");
}

#[test]
fn hlo_modules() {
    place_all("hlo");
}

#[test]
fn production_hlo_modules() {
    place_all("hlo-production");
}

#[test]
fn onnx_runtime_profiles_give_measured_times() {
    for profile in models(&["profiles"]) {
        let model = profile.to_str().unwrap().replace("profiles", "onnx").replace(".json", ".onnx");
        let args = ["place", &model, "--times", profile.to_str().unwrap(), "--preset", "fast", "-v"];
        let result = labrys().args(args).assert().success();
        let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert!(!stderr.contains("run times 0 measured"), "{stderr}");
    }
}
