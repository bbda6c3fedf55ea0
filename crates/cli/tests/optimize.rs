//! `labrys optimize`, `labrys bench rewrite` and `labrys compile -O`: what is printed is checked, and the same each time.

mod common;

use common::{labrys, root, scratch};
use serde_json::Value;

const PROGRAM: &str =
    "(def f Float ((x : Float) (y : Float)) (div (mul (add x y) (add x y)) (add (mul x y) (mul 1.0 (mul x y)))))
(def main Integer () (print (f 1.5 2.5) \"\\n\"))
";

fn program() -> (tempfile::TempDir, String) {
    let folder = scratch();
    let path = folder.path().join("f.ks");
    std::fs::write(&path, PROGRAM).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

fn json(args: &[&str]) -> Value {
    let output = labrys().args(args).arg("--json").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_method_lowers_the_cost_and_says_how() {
    let (_folder, path) = program();
    for method in ["astar", "greedy", "beam", "mcts", "random", "cse", "hybrid"] {
        let args = ["optimize", &path, "--method", method, "--fp", "real", "--work-limit", "500", "-q"];
        let found = json(&args);
        let (start, objective) = (found["start"].as_f64().unwrap(), found["objective"].as_f64().unwrap());
        assert!(objective < start, "{method}: {found}");
        let certificate = found["solution"]["certificate"].as_str().unwrap();
        assert!(certificate.starts_with(";! labrys certificate 1\n;! fp real"), "{certificate}");
        assert_eq!(json(&args)["solution"], found["solution"], "{method}: the same again");
    }
}

#[test]
fn the_optimised_program_carries_its_certificate_and_prints_the_same() {
    let (folder, path) = program();
    let made = folder.path().join("optimised.ks");
    let output = labrys().args(["optimize", &path, "-o"]).arg(&made).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("rewrites of 2 functions") && message.contains("checked"), "{message}");
    let text = std::fs::read_to_string(&made).unwrap();
    assert!(text.contains(";! def [f (Tuple Float Float)]\n") && text.contains("new_bind@"), "{text}");
    let run = |path: &std::path::Path| labrys().arg("run").arg(path).output().unwrap().stdout;
    assert_eq!(run(&made), run(path.as_ref()));
}

#[test]
fn costs_by_sizes_and_by_measured_weights() {
    let (folder, path) = program();
    json(&["optimize", &path, "--cost", "abstract"]);
    let missing =
        labrys().args(["optimize", &path, "--cost", "measured", "--weights", "nowhere.toml"]).output().unwrap();
    let message = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(missing.status.code() == Some(2) && message.contains("labrys calibrate"), "{message}");
    let weights = folder.path().join("weights.toml");
    std::fs::write(&weights, "# by hand\nbind = 0.5\n\"prim.exp\" = 12.5\n").unwrap();
    let weights = weights.to_string_lossy().into_owned();
    json(&["optimize", &path, "--cost", "measured", "--weights", &weights]);
    std::fs::write(&weights, "bind: 0.5\n").unwrap();
    let wrong = labrys().args(["optimize", &path, "--cost", "measured", "--weights", &weights]).output().unwrap();
    assert!(wrong.status.code() == Some(2) && String::from_utf8_lossy(&wrong.stderr).contains("line 1"));
}

#[test]
fn long_sums_go_in_lanes_where_rounding_may_change() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (source, real, strict, made) = (path("f.ks"), path("real.ks"), path("strict.ks"), path("made"));
    let text =
        "(def length Float (v : Vec Float) (sumbuild (size v) (lam (i : Integer) (mul (index i v) (index i v)))))
(def main Integer () (print (length (build 100 (lam (i : Integer) (to_float i)))) \"\\n\"))\n";
    std::fs::write(&source, text).unwrap();
    let run = |args: &[&str]| {
        let output = labrys().args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for (fp, made, has_lanes) in [("real", &real, true), ("strict", &strict, false)] {
        run(&["optimize", &source, "--fp", fp, "--cost", "abstract", "-o", made]);
        let text = std::fs::read_to_string(made).unwrap();
        assert_eq!(
            (text.contains("(sumbuild$"), text.contains(";! sumbuild_in_lanes")),
            (has_lanes, has_lanes),
            "{text}"
        );
        run(&["check", &source, made]);
        assert_eq!(run(&["run", made]), "328350\n");
    }
    run(&["compile", "-O", "--fp", "real", &source, "-o", &made]);
    assert_eq!(std::process::Command::new(&made).output().unwrap().stdout, b"328350\n");
}

#[test]
fn the_bench_has_a_row_for_each_method() {
    let found = json(&["bench", "rewrite", "--set", "combined", "--work-limit", "100", "--seeds", "2"]);
    let rows = found["rows"].as_array().unwrap();
    let total = |method: &str| {
        let row = rows.iter().find(|row| row["method"] == method).unwrap_or_else(|| panic!("{method}: {rows:?}"));
        row["total"].as_f64().unwrap()
    };
    assert_eq!(total("as written"), 64.0);
    for method in ["hash-consing CSE", "e-graph, trees", "e-graph, shared, CSE", "greedy", "random", "mcts", "hybrid"] {
        assert!(total(method) < 64.0, "{method}");
    }
    assert!(total("greedy + portfolio") <= total("hash-consing CSE") + 1e-9);
    assert!(total("greedy + portfolio") <= total("e-graph, shared, CSE") + 1e-9);
    let wrong = labrys().args(["bench", "rewrite", "--set", "none"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn compiled_with_optimisation_it_prints_what_the_interpreter_prints() {
    for example in ["activations", "lstm"] {
        let folder = scratch();
        let source = root().join(format!("examples/{example}.ks"));
        let made = folder.path().join("made");
        let output = labrys().args(["compile", "-O"]).arg(&source).arg("-o").arg(&made).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && message.contains("checked"), "{example}: {message}");
        let compiled = std::process::Command::new(&made).output().unwrap();
        let interpreted = labrys().arg("run").arg(&source).output().unwrap();
        assert_eq!(compiled.stdout, interpreted.stdout, "{example}");
    }
}
