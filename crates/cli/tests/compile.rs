//! `labrys compile`: executables, C entry points, other forms. What needs a C++ compiler says so and passes where there is none.
#![allow(clippy::print_stderr)] // a skipped test says so

mod common;

use common::{labrys, scratch};
use std::path::Path;
use std::process::Command;

fn there_is(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: there is no {program}");
    }
    found
}

fn run(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const SQUARES: &str =
    "(def f Float (v : Vec Float) (sumbuild (size v) (lam (i : Integer) (mul (index i v) (index i v)))))
(gdef rev [f (Vec Float)])
(def main Integer () (print (f (Vec_init 1.0 2.0 3.0)) \"\\n\"))";

#[test]
fn an_executable_prints_and_ends_with_0() {
    if !there_is("c++") {
        return;
    }
    let folder = scratch();
    let source = file(folder.path(), "squares.ks", SQUARES);
    labrys().args(["compile", &source]).assert().success();
    assert_eq!(run(&mut Command::new(folder.path().join("squares"))), (0, "14\n".to_owned(), String::new()));
    let failing = file(folder.path(), "failing.ks", "(def main Integer () (assert (gt (print \"a\") 1) 0))");
    labrys().args(["compile", &failing]).assert().success();
    let (code, stdout, stderr) = run(&mut Command::new(folder.path().join("failing")));
    assert_eq!((code, stdout.as_str()), (1, "a"));
    assert!(stderr.contains("assertion failed") && stderr.contains("failing.ks:1:"), "{stderr}");
}

#[test]
fn an_index_out_of_range_has_its_place() {
    if !there_is("c++") {
        return;
    }
    let folder = scratch();
    let source = file(
        folder.path(),
        "range.ks",
        "(def main Integer () (print (index 3 (build (print \"\") (lam (i : Integer) i)))))",
    );
    let made = folder.path().join("range");
    labrys().args(["compile", &source, "--debug-bounds", "-o", made.to_str().unwrap()]).assert().success();
    let (code, _, stderr) = run(&mut Command::new(made));
    assert_eq!(code, 1);
    assert!(stderr.contains("index 3 is out of range: the size is 1") && stderr.contains("range.ks:1:"), "{stderr}");
}

#[test]
fn external_functions_come_from_a_header() {
    if !there_is("c++") {
        return;
    }
    let folder = scratch();
    let source = file(folder.path(), "e.ks", "(edef twice Float Float)\n(def main Integer () (print (twice 4.0)))");
    let missing = labrys().args(["compile", &source]).assert().code(2);
    let message = String::from_utf8(missing.get_output().stderr.clone()).unwrap();
    assert!(message.contains("twice") && message.contains("--include"), "{message}");
    let header = file(folder.path(), "e.hpp", "inline ks::real twice(ks::arena&, ks::real x) { return 2 * x; }\n");
    labrys().args(["compile", &source, "--include", &header]).assert().success();
    assert_eq!(run(&mut Command::new(folder.path().join("e"))).1, "8");
}

#[test]
fn without_a_compiler_there_is_a_hint() {
    let folder = scratch();
    let source = file(folder.path(), "squares.ks", SQUARES);
    let failed = labrys().env("CXX", "/nowhere/c++").args(["compile", &source]).assert().code(2);
    let message = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
    assert!(message.contains("there is no C++ compiler") && message.contains("hint: install"), "{message}");
}

#[test]
fn other_forms() {
    for (form, part) in
        [("c++", "int main()"), ("ir", "(def [main (Tuple)]"), ("anf", "(def [main (Tuple)]"), ("dot", "digraph")]
    {
        let output = labrys().args(["compile", "-", "--emit", form]).write_stdin(SQUARES).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(part), "{form}: {text}");
    }
}

const CALLER: &str = r#"
#include <stdio.h>
#include "squares.h"

int main(void) {
  double data[] = {1, 2, 3};
  ks_tensor_1_double v = {data, {3}};
  ks_memory* memory = ks_memory_new();
  printf("%g", f(memory, v));
  ks_tensor_1_double dv = rev_f(memory, v, 0.5);
  for (int i = 0; i < dv.size[0]; ++i) printf(" %g", dv.data[i]);
  ks_memory_free(memory);
  return 0;
}
"#;

const CTYPES: &str = r#"
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
class Vec(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_double)), ("size", ctypes.c_int64 * 1)]
lib.ks_memory_new.restype = ctypes.c_void_p
lib.f.restype, lib.f.argtypes = ctypes.c_double, [ctypes.c_void_p, Vec]
lib.rev_f.restype, lib.rev_f.argtypes = Vec, [ctypes.c_void_p, Vec, ctypes.c_double]
memory = lib.ks_memory_new()
v = Vec((ctypes.c_double * 3)(1, 2, 3), (ctypes.c_int64 * 1)(3))
dv = lib.rev_f(memory, v, 0.5)
print("%g" % lib.f(memory, v), *["%g" % dv.data[i] for i in range(dv.size[0])], end="")
"#;

#[test]
fn c_and_python_call_what_is_exported() {
    if !there_is("c++") || !there_is("cc") {
        return;
    }
    let folder = scratch();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let source = file(folder.path(), "squares.ks", SQUARES);
    let (library, header) = (path("libsquares.so"), path("squares.h"));
    let flags = ["--export", "f", "--export", "rev_f", "--shared", "--header", &header, "-o", &library];
    labrys().args(["compile", &source]).args(flags).assert().success();
    let (caller, made) = (file(folder.path(), "caller.c", CALLER), path("caller"));
    let (code, _, message) = run(Command::new("cc").args([&caller, &library, "-o", &made]));
    assert_eq!(code, 0, "{message}");
    assert_eq!(run(&mut Command::new(&made)).1, "14 1 2 3");
    if there_is("python3") {
        assert_eq!(
            run(Command::new("python3").args(["-c", CTYPES, &library])),
            (0, "14 1 2 3".to_owned(), String::new())
        );
    }
    let unknown = labrys().args(["compile", &source, "--export", "g"]).assert().code(2);
    assert!(String::from_utf8(unknown.get_output().stderr.clone()).unwrap().contains("unknown function 'g'"));
}
