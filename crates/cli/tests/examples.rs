//! The programs of `examples/` print what their `;> ` lines say, and their derivatives pass the checks of their `;= ` lines. The commands of
//! the tutorial give what it says.

mod common;

use common::{labrys, root, scratch};
use std::path::Path;

/// The words of a command line: quotes hold several together.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

fn lines<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(mark)).map(str::trim_end).collect()
}

/// Stdout of a command that must succeed.
fn stdout(folder: &Path, args: &[String]) -> String {
    let output = labrys().current_dir(folder).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn example(name: &str) {
    let (folder, file) = (root().join("examples"), format!("{name}.ks"));
    let text = std::fs::read_to_string(folder.join(&file)).unwrap();
    let printed = stdout(&folder, &["run".to_owned(), file.clone()]);
    let expected = lines(&text, ";> ");
    assert!(!expected.is_empty());
    assert_eq!(printed.lines().map(str::trim_end).collect::<Vec<_>>(), expected, "{name}");
    stdout(&folder, &["fmt".to_owned(), "--check".to_owned(), file.clone()]);
    let checks = lines(&text, ";= ");
    assert!(!checks.is_empty());
    for check in checks {
        let mut args = words(check);
        args.insert(1, file.clone());
        stdout(&folder, &args);
    }
}

#[test]
fn activations() {
    example("activations");
}

#[test]
fn lstm() {
    example("lstm");
}

#[test]
fn convolution() {
    example("conv");
}

#[test]
fn trees() {
    example("treenn");
}

#[test]
fn natural_gradient() {
    example("natural");
}

#[test]
fn adam() {
    example("adam");
}

/// Programs of the tutorial start with a comment that is their file's name; `$ labrys ...` is a command, and below it is what it prints.
#[test]
fn the_tutorial_is_true() {
    let (folder, tutorial) = (scratch(), std::fs::read_to_string(root().join("docs/tutorial.md")).unwrap());
    let mut commands = 0;
    for block in tutorial.split("```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').unwrap();
        if kind == "lisp" {
            let name = text.lines().next().and_then(|line| line.strip_prefix("; ")).unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
            continue;
        }
        if kind != "sh" {
            continue;
        }
        for command in text.split("$ labrys ").skip(1) {
            let (args, expected) = command.split_once('\n').unwrap();
            let printed = stdout(folder.path(), &words(args));
            // What would differ in the last digits between machines is not on the page.
            if !expected.trim().is_empty() {
                assert_eq!(printed.trim_end(), expected.trim_end(), "labrys {args}");
            }
            commands += 1;
        }
    }
    assert!(commands >= 5);
}
