//! The verbs on `.ks` programs.

mod common;

use common::{labrys, scratch};

/// Exit code, stdout and stderr of a run with this input on stdin.
fn output(args: &[&str], stdin: &str) -> (i32, String, String) {
    let output = labrys().args(args).write_stdin(stdin).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const HELLO: &str = "(def main Integer () (print \"1/3 = \" (div 1.0 3.0) \"\\n\"))";

#[test]
fn run_prints_what_the_program_prints() {
    assert_eq!(output(&["run", "-"], HELLO), (0, "1/3 = 0.333333\n".to_owned(), String::new()));
    let sum = "(def main Integer () (print (eq (add 0.1 0.2) 0.3) (mul 65536 65536)))";
    assert_eq!(output(&["run", "-", "--float", "32"], sum).1, "10");
    assert_eq!(output(&["run", "-"], sum).1, "04294967296");
}

#[test]
fn several_files_are_one_program() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a.ks"), "(def f Integer (x : Integer) (mul x x))").unwrap();
    std::fs::write(path("b.ks"), "(def main Integer () (print (f 7)))").unwrap();
    assert_eq!(output(&["run", &path("a.ks"), &path("b.ks")], "").1, "49");
    let (code, stdout, stderr) = output(&["run", &path("b.ks"), &path("a.ks")], "");
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("unknown function 'f'") && stderr.contains("b.ks:1:30"), "{stderr}");
}

#[test]
fn mistakes_have_a_place_and_failures_a_code_of_their_own() {
    let (code, stdout, stderr) = output(&["run", "-"], "(def main Integer () (add 1 2.0))\n(def f Float () 1)");
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert_eq!(stderr.matches("error: ").count(), 2, "{stderr}");
    assert!(stderr.contains("--> stdin:1:23") && stderr.contains("hint: "), "{stderr}");
    let (code, stdout, stderr) =
        output(&["run", "-"], "(def main Integer () (let (n (print \"before\")) (index 2 (Vec_init n))))");
    assert_eq!((code, stdout.as_str()), (1, "before"));
    assert!(stderr.starts_with("error: index 2 is out of range"), "{stderr}");
    assert_eq!(output(&["run", "-"], "").0, 1, "there is no main");
    assert_eq!(output(&["run", "nowhere.ks"], "").0, 2);
}

#[test]
fn fmt_formats_in_place_and_checks() {
    let folder = scratch();
    let path = folder.path().join("a.ks").to_str().unwrap().to_owned();
    std::fs::write(&path, "(def  f Float (x:Float) x) ; x: is a name\n").unwrap();
    assert_eq!(output(&["fmt", "--check", &path], "").0, 1);
    assert_eq!(output(&["fmt", &path], "").0, 0);
    assert_eq!(output(&["fmt", "--check", &path], "").0, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "(def f Float (x:Float) x) ; x: is a name\n");
    assert_eq!(output(&["fmt", "-"], "(a   b)").1, "(a b)\n");
    assert_eq!(output(&["fmt", "-"], "(a   b").0, 2);
}

#[test]
fn the_ir_is_a_program() {
    let (code, ir, _) = output(&["compile", "-", "--emit", "ir"], HELLO);
    assert_eq!(code, 0);
    assert_eq!(output(&["run", "-"], &ir).1, "1/3 = 0.333333\n");
}

#[test]
fn the_repl_evaluates_and_goes_on_after_mistakes() {
    let input = "(def f Float (x : Float)\n  (mul x 2.0))\n(f 3.0)\n(f 1)\n:type f\n:type (f 1.0)\n(def f Float (x : Float) x)\n(f 3.0) (print \"a\" 1)\n:quit\n(f 9.0)\n";
    let (code, stdout, stderr) = output(&["repl"], input);
    assert_eq!((code, stdout.as_str()), (0, "6\nFloat\n3\na12\n"));
    assert_eq!(stderr.matches("error: ").count(), 2, "{stderr}");
    assert_eq!(output(&["repl"], "(f ").0, 2, "the input ends too early");
    let derived = "(def f Float (x : Float) (mul x x))\n([rev f] 3.0 1.0)\n(def f Float (x : Float) (mul 5.0 x))\n([rev f] 3.0 1.0)\n";
    assert_eq!(output(&["repl"], derived).1, "6\n5\n");
}

#[test]
fn check_grad_compares_and_says_what_is_wrong() {
    let right = "(data Tree (Leaf Float) (Node Tree Tree))
        (def total Float (t : Tree) (match t ((Leaf x) (exp x)) ((Node l r) (mul (total l) (sin (total r))))))
        (def f Float ((x : Float) (v : Vec Float) (n : Integer)) (mul (sin x) (index n (mul v v))))
        (def f Float (x : Float) (log x))
        (def [rev [g Float]] Float ((x : Float) (d : Float)) (mul 3.0 d))
        (def g Float (x : Float) (mul 2.0 x))
        (def n Integer (x : Float) 1)";
    let check = |args: &[&str]| output(&[&["check-grad", "-"], args].concat(), right);
    let (code, stdout, _) = check(&["total"]);
    assert_eq!((code, stdout.lines().count()), (0, 7), "{stdout}");
    let (code, stdout, _) = check(&["[f (Tuple Float (Vec Float) Integer)]", "--json", "--size", "6", "--float", "32"]);
    assert_eq!(code, 0, "{stdout}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((json["status"].as_str(), json["rows"].as_array().map(Vec::len)), (Some("agrees"), Some(5)));
    assert_eq!(check(&["[rev total]", "--samples", "2"]).0, 0);
    assert_eq!(check(&["total", "--at", "(Node (Leaf 0.5) (Leaf 1.5))"]).0, 0);
    let (code, _, stderr) = check(&["f"]);
    assert!(code == 2 && stderr.contains("[f Float]"), "there are two: {stderr}");
    let (code, _, stderr) = check(&["[f Float]"]);
    assert!(code == 1 && stderr.contains("--range"), "log of what is negative: {stderr}");
    assert_eq!(check(&["[f Float]", "--range", "0.5:2"]).0, 0);
    let (code, stdout, stderr) = check(&["g"]);
    assert!(code == 1 && !stdout.is_empty() && stderr.contains("disagree"), "its gradient is wrong: {stderr}");
    assert!(check(&["n"]).2.contains("no Float in its result"));
    assert!(check(&["total", "--at", "1.0"]).2.contains("expected Tree, found Float"));
    assert_eq!(check(&["nothing"]).0, 2);
    assert_eq!(check(&["total", "--range", "2:1"]).0, 2);
}

const PYTHON: &str = "def f(v: list[float], i: int) -> float:\n    return v[i] ** 2\n\n\nprint(f([1.0, 3.0], 1))\n";

#[test]
fn python_and_fsharp_are_taken_as_they_are() {
    let folder = scratch();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (python, fsharp) = (file("f.py", PYTHON), file("f.fs", "let f x = exp x\nprintfn \"%f\" (f 0.0)\n"));
    assert_eq!(output(&["run", &python], ""), (0, "9\n".to_owned(), String::new()));
    assert_eq!(output(&["run", &fsharp], ""), (0, "1\n".to_owned(), String::new()));
    assert_eq!(output(&["check-grad", &python, "f", "--at", "(tuple (Vec_init 1.0 2.0) 1)"], "").0, 0);
    assert_eq!(output(&["check-grad", &fsharp, "f"], "").0, 0);
    let (code, shown, _) = output(&["convert", &python], "");
    assert!(
        code == 0 && shown.contains("(def f Float ((v : Vec Float) (i : Integer)) (pow (index i v) 2))"),
        "{shown}"
    );
    let translated = file("f.ks", &shown);
    assert_eq!(output(&["run", &translated], "").1, "9\n");
    assert_eq!(output(&["fmt", "--check", &translated], "").0, 0);
    let wrong = file("wrong.py", "def f(x: float) -> float:\n    while x > 0.0:\n        x -= 1.0\n    return x\n");
    let (code, stdout, stderr) = output(&["run", &wrong], "");
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("wrong.py:2:5") && stderr.contains("hint: "), "{stderr}");
    let failing = file("failing.py", &PYTHON.replace("3.0], 1", "3.0], 2"));
    let (code, _, stderr) = output(&["run", &failing], "");
    assert!(code == 1 && stderr.contains("failing.py:2:12") && stderr.contains("out of range"), "{stderr}");
    for args in [&["convert", &python, "--to", "dot"][..], &["convert", &translated, "--to", "ks"]] {
        assert_eq!(output(args, "").0, 2);
    }
}

#[test]
fn optimised_programs_are_checked_and_explained() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("f.ks"), "(def f Float ((x : Float) (y : Float)) (add (mul x 1.0) (mul x y)))").unwrap();
    let title = ";! labrys certificate 1\n;! fp strict, 64 bits, bounds checked\n;! def [f (Tuple Float Float)]\n";
    let good = format!("(def f Float ((x : Float) (y : Float)) (add x (mul x y)))\n{title};! mul_one@1.1.0\n");
    std::fs::write(path("good.ks"), &good).unwrap();
    let (code, stdout, stderr) = output(&["check", &path("f.ks"), &path("good.ks")], "");
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    assert!(stderr.contains("1 rewrites of 1 functions"), "{stderr}");
    let (code, stdout, _) = output(&["explain", &path("f.ks"), &path("good.ks")], "");
    assert!(code == 0 && stdout.contains("mul_one@1.1.0") && stdout.contains("f.ks:1:45"), "{stdout}");
    std::fs::write(path("bad.ks"), good.replace("mul_one@1.1.0", "mul_one@1.1.1")).unwrap();
    let (code, _, stderr) = output(&["check", &path("f.ks"), &path("bad.ks")], "");
    assert!(code == 1 && stderr.contains("does not apply there"), "{stderr}");
    std::fs::write(path("none.ks"), "(def f Float () 1.0)").unwrap();
    assert_eq!(output(&["check", &path("f.ks"), &path("none.ks")], "").0, 2);
    let json = serde_json::json!({ "solution": { "program": good, "certificate": "" } }).to_string();
    std::fs::write(path("good.json"), json).unwrap();
    let (code, stdout, _) = output(&["check", &path("f.ks"), &path("good.json"), "--json"], "");
    assert!(code == 0 && stdout.contains("\"valid\":true"), "{stdout}");
}
