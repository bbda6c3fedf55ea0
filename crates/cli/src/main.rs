//! The `labrys` command.
fn main() {}
