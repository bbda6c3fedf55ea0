//! Bad input and usage: a typed message with a hint, the right exit code, nothing half-written, no panic.

mod common;

use common::{labrys, scratch, squeezenet};

/// Exit code and stderr of a run with this input on stdin.
fn fails(args: &[&str], stdin: &[u8]) -> (i32, String) {
    let output = labrys().args(args).write_stdin(stdin).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}");
    (output.status.code().unwrap(), stderr)
}

#[test]
fn bad_input_is_named_with_its_place() {
    let model = std::fs::read(squeezenet()).unwrap();
    let cycle = br#"{"schema":"labrys-graph","version":1,"name":"c","ops":[
        {"name":"a","kind":"x","control":["b"]},{"name":"b","kind":"x","control":["a"]}]}"#;
    let cases: [(&str, &[u8], &[&str], &str); 9] = [
        ("empty", b"", &[], "the file is empty"),
        ("truncated", &model[..model.len() / 2], &["--format", "onnx"], "not an ONNX model"),
        ("not UTF-8", b"HloModule x\n\xff\xfe", &[], "UTF-8"),
        ("cyclic", cycle, &[], "cycle"),
        ("no ops", br#"{"schema":"labrys-graph","version":1,"name":"e","ops":[]}"#, &[], "no ops"),
        ("no HLO", b"HloModule x\n\nENTRY e {\n  ROOT a = f32[4]{0} add(b, c)\n}\n", &[], "line 4"),
        ("huge", b"HloModule x\n\nENTRY e {\n  ROOT a = f32[9999999999,9999999999] iota()\n}\n", &[], "line 4"),
        ("broken gzip", b"\x1f\x8b\x08\x00garbage", &[], "gzip"),
        ("unknown", b"what is this?", &[], "format"),
    ];
    for (name, bytes, args, message) in cases {
        let (code, stderr) = fails(&[&["place", "-"], args].concat(), bytes);
        assert_eq!(code, 2, "{name}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(message), "{name}: {stderr}");
    }
}

#[test]
fn bad_usage_says_what_was_expected() {
    let model = squeezenet();
    let cases: [(&[&str], &str); 11] = [
        (&["--devices", "0"], "--devices"),
        (&["--device-profile", "abacus"], "built in are cpu, a100"),
        (&["--device-profile", "cpu,cpu,cpu", "--devices", "2"], "3 entries for 2 devices"),
        (&["--memory", "16XB"], "--memory"),
        (&["--link", "bandwidth"], "expected bandwidth=RATE"),
        (&["--link", "0-7:latency=1us"], "counted from 0"),
        (&["--dim", "batch"], "expected NAME=SIZE"),
        (&["--time-limit", "soon"], "--time-limit"),
        (&["--threads", "0"], "--threads"),
        (&["--threads", "9999"], "--threads"),
        (&["--start", "nowhere.json"], "nowhere.json"),
    ];
    for (args, message) in cases {
        let (code, stderr) = fails(&[&["place", &model], args].concat(), b"");
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
    assert_eq!(fails(&["place", "nowhere.onnx"], b"").0, 2);
    assert_eq!(fails(&["fly"], b"").0, 2);
}

#[test]
fn a_memory_limit_that_nothing_meets_says_what_does_not_fit() {
    let model = squeezenet();
    let (code, stderr) = fails(&["place", &model, "--devices", "2", "--memory", "1MiB"], b"");
    assert_eq!(code, 1);
    assert!(stderr.contains("alone needs") && stderr.contains("the largest memory is 1 MiB"), "{stderr}");
    let (code, stderr) = fails(&["place", &model, "--devices", "1", "--memory", "8.5MiB", "--preset", "fast"], b"");
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("no plan"), "{stderr}");
    assert!(stderr.contains("hint: "), "{stderr}");
}

#[test]
fn an_output_that_cannot_be_written_leaves_nothing_behind() {
    let folder = scratch();
    let target = folder.path().join("no/such/folder/plan.json");
    let (code, stderr) = fails(&["place", &squeezenet(), "-o", target.to_str().unwrap()], b"");
    assert_eq!(code, 2);
    assert!(stderr.contains("cannot write"), "{stderr}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn stdout_holds_one_output() {
    let (code, stderr) = fails(&["place", &squeezenet(), "--json", "--trace", "-"], b"");
    assert_eq!(code, 2);
    assert!(stderr.contains("2 outputs are to go to stdout"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn links_and_permissions_survive_a_write() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = scratch();
    let (file, link) = (folder.path().join("file.json"), folder.path().join("link.json"));
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&file, &link).unwrap();
    let args = ["place", &squeezenet(), "-q", "--preset", "fast", "-o", link.to_str().unwrap()];
    labrys().args(args).assert().success().stderr("");
    assert!(link.is_symlink() && std::fs::read_to_string(&file).unwrap().starts_with("{\"schema\""));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn times_that_cannot_be_added_up_are_refused() {
    let (code, stderr) = fails(&["place", &squeezenet(), "--link", "latency=999999h"], b"");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("too slow"), "{stderr}");
}

#[test]
fn help_and_version_go_to_stdout() {
    for args in [&["--help"][..], &["place", "--help"], &["--version"], &["completions", "bash"], &["man"]] {
        let output = labrys().args(args).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("labrys"), "{args:?}");
    }
}
