//! What the compiler does not check: the arrows between crates, and the rooms that every crate must have.

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use std::error::Error;
use std::path::Path;

/// Floor of each crate, lowest first (ARCHITECTURE.md). A crate may depend on lower floors only, and never on its own.
const FLOORS: [&[&str]; 5] = [
    &["labrys-graph", "labrys-nn", "labrys-search", "labrys-comm", "labrys-report"],
    &["labrys-dataflow", "labrys-rl"],
    &["labrys-placement", "labrys-combopt", "labrys-compiler"],
    &["labrys-front"],
    &["labrys"],
];
/// Files that a newcomer looks for.
const MUST_EXIST: [&str; 10] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    ".ci/run",
    "docs/combopt.md",
    "docs/dependencies.md",
    "docs/learning.md",
    "docs/placement.md",
];
/// Longest source file; generated code is exempt.
const MOST_LINES: usize = 500;
const GENERATED: &str = "crates/dataflow/src/onnx/proto.rs";

/// Lists everything that is out of order.
pub fn run(root: &Path) -> Result<(), Box<dyn Error>> {
    let mut faults = vec![];
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    for package in &metadata.packages {
        faults.extend(arrows(package));
    }
    faults.extend(undocumented_dependencies(root)?);
    faults.extend(MUST_EXIST.iter().filter(|file| !root.join(file).exists()).map(|file| format!("{file} is missing")));
    long_files(root, &root.join("crates"), &mut faults)?;
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

fn arrows(package: &Package) -> Vec<String> {
    if package.name.as_str() == "xtask" {
        return vec![];
    }
    let Some(own) = floor(&package.name) else {
        return vec![format!(
            "crate {} stands on no floor: name it in xtask/src/tidy.rs and ARCHITECTURE.md",
            package.name
        )];
    };
    let is_ours = |name: &str| name == "labrys" || name.starts_with("labrys-");
    let normal = package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development && is_ours(&d.name));
    let upward = normal.filter(|dependency| floor(&dependency.name).is_none_or(|other| other >= own));
    upward.map(|dependency| format!("{} must not depend on {}", package.name, dependency.name)).collect()
}

/// Every dependency of the workspace has its line in docs/dependencies.md.
fn undocumented_dependencies(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let manifest: toml::Table = std::fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let documented = std::fs::read_to_string(root.join("docs/dependencies.md")).unwrap_or_default();
    let dependencies = manifest["workspace"].get("dependencies").and_then(|d| d.as_table()).ok_or("no dependencies")?;
    let foreign = dependencies.keys().filter(|name| !name.starts_with("labrys-"));
    Ok(foreign
        .filter(|name| !documented.contains(&format!("`{name}`")))
        .map(|name| format!("docs/dependencies.md does not say why `{name}` is there"))
        .collect())
}

fn long_files(root: &Path, folder: &Path, faults: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let shown = path.strip_prefix(root)?.display().to_string();
        if path.is_dir() {
            long_files(root, &path, faults)?;
        } else if path.extension().is_some_and(|e| e == "rs") && shown != GENERATED {
            let lines = std::fs::read_to_string(&path)?.lines().count();
            if lines > MOST_LINES {
                faults.push(format!("{shown} has {lines} lines, more than {MOST_LINES}"));
            }
        }
    }
    Ok(())
}
