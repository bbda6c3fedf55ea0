//! Where results go: files that are either complete or not there, and stdout.

use crate::error::CliError;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes a file beside its place and renames it when it is complete. `-` is stdout.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        return to_stdout(fill);
    }
    let failed = |error: std::io::Error| CliError::input(format!("cannot write {}: {error}", path.display()));
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut buffer = BufWriter::new(file.as_file_mut());
    fill(&mut buffer).and_then(|()| buffer.flush()).map_err(failed)?;
    drop(buffer);
    make_readable(&file).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private; a result is as readable as any file that the user makes.
#[cfg(unix)]
fn make_readable(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &tempfile::NamedTempFile) -> std::io::Result<()> {
    Ok(())
}

/// Writes data to stdout.
pub(crate) fn to_stdout(fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    fill(&mut out)?;
    Ok(out.flush()?)
}

/// Writes one line of JSON.
pub(crate) fn json(out: &mut dyn Write, value: &impl serde::Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// A line for a person, on stderr.
pub(crate) fn say(text: &str) {
    // Nobody is left to tell when stderr is closed.
    _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// A warning, on stderr.
pub(crate) fn warn(text: &str) {
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Yellow.into()));
    _ = writeln!(anstream::stderr().lock(), "{style}warning:{style:#} {text}");
}
