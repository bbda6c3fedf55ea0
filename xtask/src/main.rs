//! `cargo xtask TASK`: chores of the repository that need no other tool than cargo.

mod protos;
mod tidy;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask lies in the workspace")?;
    match std::env::args().nth(1).as_deref() {
        Some("protos") => protos::run(root),
        Some("tidy") => tidy::run(root),
        _ => Err("usage: cargo xtask protos | tidy".into()),
    }
}
