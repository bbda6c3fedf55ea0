//! `labrys bench`: rows that cannot run say so, and Ctrl-C leaves a table of what is done.

mod common;

use common::labrys;
use serde_json::Value;

const SHORT: [&str; 7] = ["bench", "placement", "--short", "--unfiltered", "--portfolio", "10ms", "--json"];

fn rows(args: &[&str], library: Option<&str>) -> Vec<Value> {
    let mut command = labrys();
    command.env_remove("LABRYS_ORTOOLS").envs(library.map(|path| ("LABRYS_ORTOOLS", path)));
    let output = command.args(SHORT).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table: Value = serde_json::from_slice(&output.stdout).unwrap();
    table["rows"].as_array().unwrap().clone()
}

fn row<'r>(rows: &'r [Value], method: &str) -> &'r Value {
    rows.iter().find(|row| row["method"] == method).unwrap_or_else(|| panic!("no row {method}: {rows:?}"))
}

#[test]
fn without_ortools_the_row_says_how_to_get_it() {
    let here = env!("CARGO_MANIFEST_DIR");
    for (library, why) in [(None, "LABRYS_ORTOOLS is not set"), (Some(here), "neither OR-Tools' library nor")] {
        let rows = rows(&["--graphs", "1", "--with", "cp-sat:1"], library);
        let row = row(&rows, "CP-SAT 1s");
        let note = row["note"].as_str().unwrap();
        assert!(note.contains(why) && note.contains("pip install ortools"), "{note}");
        assert!(row["gap_bound"].is_null() && row["feasible"] == 0.0, "{row}");
    }
}

#[test]
fn what_the_exact_baseline_does_not_model_is_said() {
    let rows = rows(&["--graphs", "1", "--memory", "1KiB", "--with", "cp-sat,cp-sat-warm"], None);
    assert!(row(&rows, "CP-SAT 20s")["note"].as_str().unwrap().contains("without memory limits"));
    assert!(row(&rows, "CP-SAT warm 20s")["note"].is_string());
}

#[test]
fn with_ortools_its_row_is_checked_and_its_start_is_never_lost() {
    let Some(library) = std::env::var_os("LABRYS_ORTOOLS") else { return common::skip("LABRYS_ORTOOLS is not set") };
    let rows = rows(&["--graphs", "1", "--with", "cp-sat-warm:4s"], library.to_str());
    let gap = |method: &str| row(&rows, method)["gap_best"]["mean"].as_f64().unwrap();
    assert!(gap("CP-SAT warm 4s") <= gap("default"), "{rows:?}");
    assert!(row(&rows, "CP-SAT warm 4s")["note"].as_str().unwrap().starts_with("proves "));
}

#[test]
fn wrong_rows_are_refused() {
    for with in ["cplex", "cp-sat:soon", "cp-sat-warm:"] {
        let output = labrys().args(SHORT).args(["--with", with]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{with}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--with"), "{with}");
    }
}

#[test]
fn figures_are_drawn_and_agree_with_themselves() {
    let folder = common::scratch();
    let policy = common::root().join("models/regal-synthetic.safetensors");
    let figures = folder.path().join("figures");
    let command = ["bench", "placement", "--unfiltered", "--graphs", "3", "--policies", policy.to_str().unwrap()];
    labrys().args(command).arg("--figures").arg(&figures).assert().success();
    for name in ["improvements.svg", "limits.svg", "entropy.svg", "policies.svg"] {
        assert!(std::fs::read_to_string(figures.join(name)).unwrap().starts_with("<svg"), "{name}");
    }
    let data: Value = serde_json::from_slice(&std::fs::read(figures.join("figures.json")).unwrap()).unwrap();
    let histogram = &data["improvements"];
    let counts = ["zeros", "below_zero", "above_zero"].map(|key| histogram[key].as_u64().unwrap());
    let bars = histogram["bars"].as_array().unwrap().iter().map(|bar| bar["count"].as_u64().unwrap());
    assert_eq!(counts.iter().sum::<u64>(), 3);
    assert_eq!(bars.sum::<u64>(), counts[1] + counts[2]);
    let limits = data["limits"].as_array().unwrap();
    let mean = |row: &Value, method: &str| row[method]["mean"].as_f64().unwrap();
    assert!(limits.windows(2).all(|pair| mean(&pair[0], "regal") <= mean(&pair[1], "regal")), "{limits:?}");
    let reference = limits.iter().find(|row| row["evaluations"] == 5_000).unwrap();
    assert_eq!(mean(reference, "brkga"), 0.0);
    // The same policy, seed and limit, but for the last evaluations, which do not fill a generation.
    assert!((mean(reference, "regal") - mean(&data["policies"][0], "improvement")).abs() < 1.0, "{data}");
}
