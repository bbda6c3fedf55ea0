//! Files of the shared data folder: `LABRYS_INSTANCES`, else `../shared/data` beside the workspace.

use std::io::Read;
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

/// The file's content, unpacked.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    let packed = std::fs::read(path).unwrap();
    if path.extension().is_none_or(|extension| extension != "gz") {
        return packed;
    }
    let mut bytes = vec![];
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}
