//! Running the binary, and finding the data.
#![allow(dead_code, clippy::print_stderr, missing_docs)] // each test file uses its part

use assert_cmd::Command;
use std::path::{Path, PathBuf};

/// The binary.
pub fn labrys() -> Command {
    let mut command = Command::cargo_bin("labrys").expect("cargo builds it for its tests");
    command.env("NO_COLOR", "1").env_remove("LABRYS_INSTANCES");
    command
}

/// A committed model.
pub fn squeezenet() -> String {
    root().join("examples/squeezenet1_1.onnx").to_string_lossy().into_owned()
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of larger inputs: `LABRYS_INSTANCES`, else `../shared/data` beside the repository.
pub fn instances() -> Option<PathBuf> {
    let folder = std::env::var_os("LABRYS_INSTANCES").map_or_else(|| root().join("../shared/data"), PathBuf::from);
    if !folder.is_dir() {
        skip(&format!("{} is not there; set LABRYS_INSTANCES to the folder of instances", folder.display()));
        return None;
    }
    Some(folder)
}

/// Says that a test could not run.
pub fn skip(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// All files of some folders of the instances.
pub fn models(folders: &[&str]) -> Vec<PathBuf> {
    let Some(root) = instances() else { return vec![] };
    let files = |folder: &&str| std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = folders.iter().flat_map(files).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A folder that is removed in the end.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}
