//! `labrys train rewrite` from end to end.

mod common;

use common::{labrys, scratch};
use std::path::Path;

/// A run of two epochs on the smallest set.
const CONFIG: &str = r#"
[data]
training = ["combined"]
held-back = ["combined"]

[search]
queries = 40

[network]
hidden = 4
rounds = 1
readout = 4
horizon = 3

[learning]
expressions = 2
states = 2

[training]
steps = 4
minibatch = 2
validate-every = 2
save-every = 1
"#;

fn train(folder: &Path, config: &str) -> assert_cmd::assert::Assert {
    let path = folder.join("config.toml");
    std::fs::write(&path, config).unwrap();
    labrys().args(["train", "rewrite", "--config"]).arg(&path).arg("-o").arg(folder.join("run")).assert()
}

#[test]
fn a_run_leaves_a_model_with_its_card() {
    let folder = scratch();
    let result = train(folder.path(), CONFIG).success();
    let lines = String::from_utf8_lossy(&result.get_output().stdout).into_owned();
    assert_eq!(lines.lines().count(), 2, "one line a validation: {lines}");
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert!(last["step"] == 4 && last["cost"].as_f64().unwrap() > 0.0 && last["queries"].as_f64().unwrap() <= 41.0);
    let bytes = std::fs::read(folder.path().join("run/best.safetensors")).unwrap();
    let card = String::from_utf8_lossy(&bytes).into_owned();
    assert!(card.contains("rewrite/value") && card.contains("8 expressions of combined"));
}

#[test]
fn mistakes_in_the_settings_are_named() {
    for (from, to, expected) in [
        ("\"combined\"]\nheld", "\"combine\"]\nheld", "there are combined"),
        ("hidden = 4", "hidden = 0", "hidden is 0"),
        ("queries", "querys", "querys"),
        ("expressions = 2", "expressions = 0", "at least 1"),
    ] {
        let folder = scratch();
        let result = train(folder.path(), &CONFIG.replace(from, to)).code(2);
        let stderr = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert!(stderr.contains(expected), "{expected}: {stderr}");
    }
}
