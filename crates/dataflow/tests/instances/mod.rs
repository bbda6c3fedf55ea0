//! Files of the shared data folder: `LABRYS_INSTANCES`, else `../shared/data` beside the workspace.

use std::path::{Path, PathBuf};

/// All files of a folder, sorted; none, with a word on standard error, where the folder is missing.
pub(crate) fn files(name: &str) -> Vec<PathBuf> {
    let instances = std::env::var_os("LABRYS_INSTANCES").map(PathBuf::from);
    let instances = instances.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let folder = instances.join(name);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        #[allow(clippy::print_stderr)]
        {
            eprintln!("skipped: {} is not there", folder.display());
        }
        return vec![];
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
