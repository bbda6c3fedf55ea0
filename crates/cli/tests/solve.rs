//! `labrys solve`: small inputs of every kind end at once with a proof, limits are kept, bad files are named.

mod common;

use common::{instances, labrys, scratch};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Exit code, JSON and stderr of a run with this input on stdin.
fn solve(problem: &str, input: &str, args: &[&str]) -> (i32, Value, String) {
    let mut command = labrys();
    command.args(["solve", problem, "-", "--json"]).args(args).write_stdin(input.as_bytes());
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null), stderr)
}

const K5: &str = "p edge 5 10\ne 1 2\ne 1 3\ne 1 4\ne 1 5\ne 2 3\ne 2 4\ne 2 5\ne 3 4\ne 3 5\ne 4 5\n";
/// A triangle, an edge apart from it and an isolated node; one self-loop, one duplicate. Numbered from 0.
const PARTS: &str = "# Nodes: 6 Edges: 6\n0 1\n1 2\n2 0\n3 4\n4 3\n1 1\n";

#[test]
fn small_problems_are_proven_at_once() {
    let cases = [
        ("vertex-cover", K5, 4),
        ("independent-set", K5, 1),
        ("max-clique", K5, 5),
        ("max-cut", K5, 6),
        ("vertex-cover", PARTS, 3),
        ("independent-set", PARTS, 3),
        ("max-clique", PARTS, 3),
        ("max-cut", PARTS, 3),
        ("vertex-cover", "p edge 0 0\n", 0),
        ("max-clique", "p edge 3 0\n", 1),
        ("max-cut", "2 1\n1 2 -7\n", 0),
        ("max-cut", "3 3\n1 2 5\n2 3 -2\n1 3 4\n", 9),
        ("tsp", "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 3 0\nEOF\n", 12),
        ("tsp", "DIMENSION: 1\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n", 0),
    ];
    for (problem, input, optimum) in cases {
        let started = Instant::now();
        let (code, json, stderr) = solve(problem, input, &[]);
        assert_eq!(code, 0, "{problem}: {stderr}");
        assert_eq!((&json["objective"], &json["bound"]), (&optimum.into(), &optimum.into()), "{problem} {input}");
        assert_eq!(
            (&json["status"], &json["stop_reason"]),
            (&"optimal".into(), &"optimal".into()),
            "{problem} {input}"
        );
        assert!(started.elapsed() < Duration::from_secs(5), "{problem} {input}");
    }
}

#[test]
fn nodes_are_numbered_as_in_the_file() {
    let (_, json, stderr) = solve("vertex-cover", "7 100\n100 9\n", &[]);
    assert_eq!(json["solution"]["nodes"], serde_json::json!([100]));
    assert!(!stderr.contains("warning"), "{stderr}");
    let (_, _, stderr) = solve("vertex-cover", PARTS, &[]);
    assert!(stderr.contains("1 self-loops and 1 duplicate edges are left out"), "{stderr}");
}

#[test]
fn bad_input_is_named_with_its_place() {
    let cases = [
        ("vertex-cover", "", "the file is empty"),
        ("vertex-cover", "what is this?", "line 1: unknown graph format"),
        ("max-cut", "p edge 3 1\ne 1 9\n", "line 2: node 9 is not between 1 and 3"),
        ("max-clique", "p edge 3 4\ne 1 2\n", "line 2: the file ends after 1 edges"),
        ("max-cut", "3 2\n1 2 x\n2 3 1\n", "line 2: expected an edge weight, found 'x'"),
        ("tsp", K5, "line 1: unknown keyword"),
        (
            "tsp",
            "DIMENSION: 9\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n",
            "the file ends after 1 of 9 cities",
        ),
    ];
    for (problem, input, message) in cases {
        let (code, json, stderr) = solve(problem, input, &[]);
        assert_eq!((code, json), (2, Value::Null), "{problem} {input}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(message), "{stderr}");
    }
}

/// A graph that no reduction makes smaller.
fn hard(nodes: u32) -> String {
    let edges = labrys_graph::generate::random_regular(nodes, 9, &mut labrys_search::Seed(1).stream("test", 0));
    labrys_graph::formats::write(&labrys_graph::Graph::from_edges(nodes, edges), labrys_graph::formats::Format::Dimacs)
}

#[test]
fn limits_are_kept_and_work_is_reproducible() {
    let graph = hard(2_000);
    for problem in ["vertex-cover", "max-clique", "max-cut"] {
        let (code, json, stderr) = solve(problem, &graph, &["--time-limit", "500ms"]);
        assert_eq!(code, 0, "{stderr}");
        // A debug build on a busy machine may be late, but not by the length of a phase.
        assert!(json["time_s"].as_f64().unwrap() < 2.0, "{problem}: {json}");
        let once = || {
            let mut json = solve(problem, &graph, &["--work-limit", "20000", "--seed", "7"]).1;
            json["time_s"] = Value::Null;
            json["trace"] = Value::Null;
            json
        };
        assert_eq!(once(), once(), "{problem}");
    }
}

#[test]
fn every_guide_gives_a_checked_answer() {
    let graph = hard(60);
    for problem in ["vertex-cover", "independent-set", "max-clique"] {
        for guide in ["none", "random", "greedy", "model"] {
            let (code, json, stderr) = solve(problem, &graph, &["--guide", guide, "--work-limit", "2000"]);
            assert!(code == 0 && json["objective"].is_u64(), "{problem} {guide}: {stderr}");
        }
    }
    let cities = "DIMENSION: 1\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n";
    for (problem, input) in [("max-cut", &graph[..]), ("tsp", cities)] {
        let (code, _, stderr) = solve(problem, input, &["--guide", "model"]);
        assert!(code == 2 && stderr.contains("no policy guides"), "{problem}: {stderr}");
    }
    let (code, _, stderr) = solve("max-cut", &graph, &["--guide", "no-such-file"]);
    assert!(code == 2 && stderr.contains("no-such-file") && stderr.contains("labrys train max-cut"), "{stderr}");
}

#[test]
fn solutions_are_written_and_checked() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("g.txt"), PARTS).unwrap();
    for (problem, wrong) in [("vertex-cover", "is not covered"), ("max-clique", "it says 3"), ("max-cut", "it says 3")]
    {
        let (graph, solution) = (path("g.txt"), path("s.json"));
        assert!(labrys().args(["solve", problem, &graph, "-o", &solution]).output().unwrap().status.success());
        let check = || labrys().args(["check", &graph, &solution]).output().unwrap();
        let output = check();
        assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("valid"), "{output:?}");
        let mut file: Value = serde_json::from_slice(&std::fs::read(&solution).unwrap()).unwrap();
        file["nodes"].as_array_mut().unwrap().pop();
        std::fs::write(&solution, file.to_string()).unwrap();
        let output = check();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(wrong), "{output:?}");
    }
}

#[test]
fn published_optima_are_found() {
    let Some(folder) = instances() else { return };
    let cases = [
        ("vertex-cover", "dimacs/hamming8-4.mis.gz", 240),
        ("vertex-cover", "dimacs/C125.9.mis.gz", 91),
        ("vertex-cover", "snap/as-Caida20071105.txt.gz", 3683),
        ("tsp", "tsplib/burma14.tsp.gz", 3323),
        ("tsp", "tsplib/ulysses22.tsp.gz", 7013),
        ("tsp", "tsplib/berlin52.tsp.gz", 7542),
    ];
    for (problem, file, optimum) in cases {
        let path = folder.join("graphs").join(file);
        let mut command = labrys();
        let output = command.args(["solve", problem, "--json", "--work-limit", "300000"]).arg(&path).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["objective"], optimum, "{file}");
    }
}
