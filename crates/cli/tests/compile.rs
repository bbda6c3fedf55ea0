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

/// What rounds and wraps around in another way in 32 bits; and a gradient.
const NARROW: &str = "(def f Float (v : Vec Float) (sumbuild (size v) (lam (i : Integer) (mul (index i v) (exp (index i v))))))
(def main Integer ()
  (let (v (Vec_init 0.1 0.2 16777216.0))
    (print (add 2147483647 1) \" \" (mul 65536 65536) \" \" (eq (add (index 2 v) 1.0) (index 2 v)) \" \"
           (lt (sub (sum (Vec_init 0.1 0.2)) 0.3) 0.000000001) \" \" (f (Vec_init 0.1 2.0)) ([rev f] (Vec_init 0.1 2.0) 1.0))))";

#[test]
fn numbers_of_32_bits_are_those_of_the_interpreter() {
    if !there_is("c++") {
        return;
    }
    let folder = scratch();
    let source = file(folder.path(), "narrow.ks", NARROW);
    let mut outputs = vec![];
    for bits in ["32", "64"] {
        let interpreted = labrys().args(["run", &source, "--float", bits]).output().unwrap();
        labrys().args(["compile", &source, "--float", bits]).assert().success();
        let compiled = run(&mut Command::new(folder.path().join("narrow"))).1;
        assert_eq!(compiled, String::from_utf8(interpreted.stdout).unwrap());
        outputs.push(compiled);
    }
    assert!(
        outputs[0].starts_with("-2147483648 0 1 ") && outputs[1].starts_with("2147483648 4294967296 0 "),
        "{outputs:?}"
    );
}

const ENVIRONMENT: &str = r#"
#include <cstddef>
#include <cstdio>
#include <cstdlib>
extern "C" void ks_write(const char* text, std::size_t length) { std::fwrite(text, 1, length, stdout); }
extern "C" [[noreturn]] void ks_fail(const char* place, const char* what) { std::printf("%s: %s", place, what); std::exit(3); }
"#;

/// Names that a program without heap, threads and exceptions does not mention.
const FORBIDDEN: [&str; 8] = ["malloc", "calloc", "free", "mmap", "pthread", "_Znwm", "_Znwj", "__cxa"];

#[test]
fn an_embedded_program_has_no_heap() {
    if !there_is("c++") || !there_is("nm") {
        return;
    }
    let folder = scratch();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let source = file(folder.path(), "squares.ks", SQUARES);
    let (program, object, environment) = (path("p.cpp"), path("p.o"), file(folder.path(), "e.cpp", ENVIRONMENT));
    let flags = ["--target", "embedded", "--emit", "c++", "--export", "rev_f", "-o", &program, "--arena"];
    let freestanding =
        ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-exceptions", "-fno-rtti"];
    for (bytes, expected) in [("4096", (0, "14\n")), ("16", (3, "memory: the program needs more memory than there is"))]
    {
        labrys().args(["compile", &source]).args(flags).arg(bytes).assert().success();
        let (code, _, message) = run(Command::new("c++").args(freestanding).args(["-c", &program, "-o", &object]));
        assert_eq!(code, 0, "{message}");
        let needed = run(Command::new("nm").args(["-u", &object])).1;
        assert!(FORBIDDEN.iter().all(|name| !needed.contains(name)), "{needed}");
        assert_eq!(run(Command::new("c++").args([&environment, &object, "-o", &path("p")])).0, 0);
        let (code, stdout, _) = run(&mut Command::new(path("p")));
        assert_eq!((code, stdout.as_str()), expected);
    }
}

/// The second program fails at many indices, the first of which is at the end of the first of three stretches.
const LOOPS: &str =
    "(def row Float (i : Integer) (sumbuild 20 (lam (j : Integer) (div (to_float j) (to_float (add i 1))))))
(def main Integer ()
  (let (all (build (tuple 9 11) (lam (ij : Tuple Integer Integer) (let ((i j) ij) (mul (row i) (row j))))))
    (print all (sum (build 3 (lam (i : Integer) (sum (build 50 (lam (j : Integer) (mul (row i) (row j)))))))))))";
const FAILING_LOOPS: &str = "(def check Float (i : Integer) (if (lt i 3) (sumbuild i (lam (j : Integer) 1.0)) (assert (lt i 5) 1.0)))
(def main Integer () (print (build 16 (lam (i : Integer) (add (check i) (sumbuild 9 (lam (j : Integer) (to_float j))))))))";

#[test]
fn threads_do_not_change_what_a_program_does() {
    if !there_is("c++") {
        return;
    }
    let folder = scratch();
    for (name, text) in [("loops.ks", LOOPS), ("failing_loops.ks", FAILING_LOOPS)] {
        let source = file(folder.path(), name, text);
        let made = folder.path().join("made").to_str().unwrap().to_owned();
        let mut outputs = vec![];
        for threads in [&[][..], &["--threads", "1"], &["--threads", "3"], &["--threads", "0"]] {
            labrys().args(["compile", &source, "-o", &made]).args(threads).assert().success();
            outputs.push(run(&mut Command::new(&made)));
        }
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{outputs:?}");
        let cpp = labrys().args(["compile", &source, "--emit", "c++", "--threads", "3"]).output().unwrap();
        assert!(String::from_utf8(cpp.stdout).unwrap().contains("ks::parallel(memory, "));
    }
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
