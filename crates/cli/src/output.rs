//! Where results go: files that are either complete or not there, and stdout.

use crate::error::CliError;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::NamedTempFile;

/// Writes a file beside its place and renames it when it is complete. `-` is stdout; devices and pipes are written as they are.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        return to_stdout(fill);
    }
    let target = resolve(path);
    let failed = |error: std::io::Error| cannot_write(path, &error);
    if is_special(&target) {
        let mut out = BufWriter::new(std::fs::OpenOptions::new().write(true).open(&target).map_err(failed)?);
        return fill(&mut out).and_then(|()| out.flush()).map_err(failed);
    }
    let mut file = beside(&target).map_err(failed)?;
    let mut buffer = BufWriter::new(file.as_file_mut());
    fill(&mut buffer).and_then(|()| buffer.flush()).map_err(failed)?;
    drop(buffer);
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Fails if `path` cannot be written, before hours of work are spent on what should go there.
pub(crate) fn probe(path: &Path) -> Result<(), CliError> {
    let target = resolve(path);
    if path.as_os_str() == "-" || is_special(&target) {
        return Ok(());
    }
    beside(&target).map(drop).map_err(|error| cannot_write(path, &error))
}

/// Puts a file that is complete in its place, with its permissions.
pub(crate) fn install(made: &Path, path: &Path) -> Result<(), CliError> {
    let failed = |error: std::io::Error| cannot_write(path, &error);
    let target = resolve(path);
    if is_special(&target) {
        return Err(CliError::input(format!("{} is no file", path.display())));
    }
    let file = beside(&target).map_err(failed)?;
    std::fs::copy(made, file.path()).map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> CliError {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => CliError::ClosedPipe,
        kind => CliError::input(format!("cannot write {}: {kind}", path.display())),
    }
}

/// The file behind a symbolic link.
fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Whether a path is there and is no regular file: a device, a pipe, a folder.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file())
}

/// A temporary file in the same folder, as readable as any file that the user makes.
fn beside(target: &Path) -> std::io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = target.metadata().map_or(0o666, |metadata| metadata.permissions().mode());
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    builder.tempfile_in(folder)
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

/// Whether `-q` was given: then only errors are said.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences [`say`] and [`warn`].
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// A line for a person, on stderr.
pub(crate) fn say(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        // Nobody is left to tell when stderr is closed.
        _ = writeln!(anstream::stderr().lock(), "{}", printable(text));
    }
}

/// A warning, on stderr.
pub(crate) fn warn(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Yellow.into()));
        _ = writeln!(anstream::stderr().lock(), "{style}warning:{style:#} {}", printable(text));
    }
}

/// Text without control characters: names in a model file must not drive the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
